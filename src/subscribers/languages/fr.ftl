# Textes des messages aux abonnés, en français.

incident-investigating = Analyse en cours
incident-identified = Cause identifiée
incident-monitoring = Sous surveillance
incident-resolved = Résolu
notice = Avis
maintenance-announced = Maintenance prévue
maintenance-moved = Maintenance déplacée
maintenance-day-before = Maintenance dans 24 heures
maintenance-hour-before = Maintenance dans une heure
maintenance-started = Maintenance commencée
maintenance-completed = Maintenance terminée
maintenance-cancelled = Maintenance annulée

headline = { $state } : { $title }
affected = Concerné
time = Horaire
window = { $start } à { $end } UTC
window-open = À partir de { $start } UTC, fin ouverte
status-page = Page d’état
see-page = Voir l’état actuel
why = Vous recevez ce message parce que cette adresse est abonnée à { $page }.
unsubscribe = Se désabonner

confirm-subject = Confirmez votre abonnement à { $page }
confirm-text = Quelqu’un a abonné cette adresse aux nouvelles de { $page }. Confirmez l’abonnement avec ce lien, valable 24 heures.
confirm-button = Confirmer l’abonnement
confirm-ignore = Si ce n’était pas vous, ignorez ce message : aucun autre ne suivra.
test-title = Abonnement à { $page }
test-text = Les nouvelles de { $page } arriveront ici.
access-subject = Ouvrir { $page }
access-text = Quelqu’un a demandé à lire la page d’état { $page } avec cette adresse. Ouvrez la page avec ce lien. Il est valable 15 minutes et ne peut servir qu’une fois.
access-button = Ouvrir la page d’état
access-ignore = Si ce n’était pas vous, ignorez ce message : sans le lien, personne ne peut ouvrir la page avec votre adresse.
