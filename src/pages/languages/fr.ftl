# Français.

state-operational = Opérationnel
state-degraded = Dégradé
state-partial-outage = Panne partielle
state-major-outage = Panne majeure
state-under-maintenance = En maintenance
state-unknown = Inconnu

overall-operational = Tous les systèmes sont opérationnels
overall-degraded = Certains systèmes sont dégradés
overall-partial-outage = Certains systèmes sont partiellement en panne
overall-major-outage = Certains systèmes sont en panne
overall-maintenance = Maintenance en cours
overall-some-unknown = L’état de certains systèmes est inconnu
overall-unknown = État inconnu

as-of = État au
outdated = des données plus récentes ne peuvent pas être lues pour le moment
systems = Systèmes
no-systems = Rien n’est encore listé ici.
incidents = Incidents en cours
maintenances = Maintenance
affected = Concerné : { $names }
because-of = Inaccessible à cause de { $names }.
because-of-another = Inaccessible à cause d’un autre système.
open-end = fin ouverte

incident-investigating = En cours d’analyse
incident-identified = Identifié
incident-monitoring = Sous surveillance
incident-resolved = Résolu
maintenance-scheduled = Prévue
maintenance-in-progress = En cours
maintenance-completed = Terminée
maintenance-cancelled = Annulée

imprint = Mentions légales
privacy = Confidentialité
skip = Aller au contenu
appearance = Apparence
appearance-system = Système
appearance-light = Clair
appearance-dark = Sombre
language = Langue
