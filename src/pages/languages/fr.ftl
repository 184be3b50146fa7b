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
away = Le serveur est injoignable pour le moment. Les informations affichées ne sont peut-être plus à jour.
copied = cette copie de la page ne se met pas à jour d’elle-même
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

decimal-mark = ,
feed-title = { $name } - Incidents et maintenances
history = Incidents et maintenances passés
history-of = { $month } { $year }
past-incidents = Incidents
no-incidents = Aucun incident et aucune maintenance ce mois-ci.
earlier = Avant
later = Après

bar-label = { $name } : les { $days } derniers jours, jour par jour
uptime = { $percent } % de disponibilité
uptime-with-coverage = { $percent } % de disponibilité, { $coverage } % du temps mesuré
days-ago = { $days ->
    [one] il y a { $days } jour
   *[other] il y a { $days } jours
}
today = Aujourd’hui
day-by-day = Jour par jour
periods = Pannes et lacunes
still = maintenant
date = Date
state = État
uptime-column = Disponibilité
down = Panne
degraded = Dégradé
maintenance = Maintenance
unmeasured = Pas de données
duration-days = { $count } j
duration-hours = { $count } h
duration-minutes = { $count } min
duration-seconds = { $count } s

response-times = Temps de réponse
last-days = { $days ->
    [one] Dernières 24 heures
   *[other] { $days } derniers jours
}
response-summary = La moitié des réponses est arrivée en moins de { $median }, 95 % en moins de { $high }.

month-1 = janvier
month-2 = février
month-3 = mars
month-4 = avril
month-5 = mai
month-6 = juin
month-7 = juillet
month-8 = août
month-9 = septembre
month-10 = octobre
month-11 = novembre
month-12 = décembre

get-updates = S’abonner
legal = Informations légales
imprint = Mentions légales
privacy = Confidentialité
skip = Aller au contenu
appearance = Apparence
appearance-system = Système
appearance-light = Clair
appearance-dark = Sombre
language = Langue

password = Mot de passe
password-needed = Cette page est protégée par un mot de passe.
password-wrong = Ce mot de passe est incorrect.
password-button = Ouvrir
too-many-tries = { $minutes ->
    [one] Trop de tentatives. Réessayez dans { $minutes } minute.
   *[other] Trop de tentatives. Réessayez dans { $minutes } minutes.
}

access-needed = Cette page est réservée aux personnes d’une liste.
access-intro = Saisissez votre adresse e-mail. Si elle figure dans la liste, un lien qui ouvre la page lui est envoyé.
access-address = Adresse e-mail
access-button = Envoyer le lien
access-wrong = Cette adresse e-mail n’est pas valable.
access-sent = Consultez votre boîte de réception
access-sent-text = Si l’adresse figure dans la liste, un message avec un lien lui est envoyé. Le lien est valable 15 minutes et ne peut servir qu’une fois.
access-open = Ouvrir la page d’état
access-open-text = Ce navigateur pourra ensuite lire la page pendant 30 jours.
access-over = Ce lien n’est plus valable : il a déjà servi, date de plus de 15 minutes, ou un plus récent a été envoyé.
access-no-mail = Ce serveur ne peut pas envoyer d’e-mails actuellement. Adressez-vous aux responsables de cette page.

locations = Sites de mesure
reached = Joignable
not-reached = Injoignable
agreements = Disponibilité convenue
agreement-met = Respectée
agreement-missed = Non respectée
this-month = Ce mois-ci
this-quarter = Ce trimestre
this-year = Cette année
reached-share = { $share } % disponible jusqu’ici
agreed = convenu { $share } %
agreed-in-hours = convenu { $share } % pendant les heures ouvrées
budget = { $used } sur { $total } d’interruption permise utilisées
