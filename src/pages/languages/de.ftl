# Deutsch.

state-operational = In Betrieb
state-degraded = Beeinträchtigt
state-partial-outage = Teilausfall
state-major-outage = Ausfall
state-under-maintenance = In Wartung
state-unknown = Unbekannt

overall-operational = Alle Systeme in Betrieb
overall-degraded = Einige Systeme sind beeinträchtigt
overall-partial-outage = Einige Systeme sind teilweise ausgefallen
overall-major-outage = Einige Systeme sind ausgefallen
overall-maintenance = Wartungsarbeiten laufen
overall-some-unknown = Der Status einiger Systeme ist unbekannt
overall-unknown = Status unbekannt

as-of = Stand:
outdated = neuere Daten können gerade nicht gelesen werden
systems = Systeme
no-systems = Hier ist noch nichts aufgeführt.
incidents = Aktuelle Störungen
maintenances = Wartungsarbeiten
affected = Betroffen: { $names }
because-of = Nicht erreichbar wegen { $names }.
because-of-another = Nicht erreichbar wegen eines anderen Systems.
open-end = Ende offen

incident-investigating = In Untersuchung
incident-identified = Ursache gefunden
incident-monitoring = Unter Beobachtung
incident-resolved = Behoben
maintenance-scheduled = Geplant
maintenance-in-progress = Läuft
maintenance-completed = Abgeschlossen
maintenance-cancelled = Abgesagt

decimal-mark = ,
feed-title = { $name } - Störungen und Wartungen
history = Frühere Störungen und Wartungen
history-of = { $month } { $year }
past-incidents = Störungen
no-incidents = In diesem Monat gab es keine Störungen und keine Wartungsarbeiten.
earlier = Früher
later = Später

bar-label = { $name }: die letzten { $days } Tage, Tag für Tag
uptime = { $percent } % verfügbar
uptime-with-coverage = { $percent } % verfügbar, { $coverage } % der Zeit gemessen
days-ago = { $days ->
    [one] vor { $days } Tag
   *[other] vor { $days } Tagen
}
today = Heute
day-by-day = Tag für Tag
periods = Ausfälle und Lücken
still = jetzt
date = Datum
state = Zustand
uptime-column = Verfügbarkeit
down = Ausfall
degraded = Beeinträchtigt
maintenance = Wartung
unmeasured = Keine Daten
duration-days = { $count } T
duration-hours = { $count } Std.
duration-minutes = { $count } Min.
duration-seconds = { $count } s

response-times = Antwortzeiten
last-days = { $days ->
    [one] Letzte 24 Stunden
   *[other] Letzte { $days } Tage
}
response-summary = Die Hälfte der Antworten kam innerhalb von { $median }, 95 % innerhalb von { $high }.

month-1 = Januar
month-2 = Februar
month-3 = März
month-4 = April
month-5 = Mai
month-6 = Juni
month-7 = Juli
month-8 = August
month-9 = September
month-10 = Oktober
month-11 = November
month-12 = Dezember

get-updates = Benachrichtigungen abonnieren
imprint = Impressum
privacy = Datenschutz
skip = Zum Inhalt
appearance = Darstellung
appearance-system = System
appearance-light = Hell
appearance-dark = Dunkel
language = Sprache

password = Passwort
password-needed = Diese Seite ist durch ein Passwort geschützt.
password-wrong = Dieses Passwort ist falsch.
password-button = Öffnen
too-many-tries = { $minutes ->
    [one] Zu viele Versuche. Bitte in { $minutes } Minute erneut versuchen.
   *[other] Zu viele Versuche. Bitte in { $minutes } Minuten erneut versuchen.
}
