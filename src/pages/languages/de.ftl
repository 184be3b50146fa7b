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
away = Der Server ist zurzeit nicht erreichbar. Die Angaben hier sind möglicherweise veraltet.
copied = diese Kopie der Seite aktualisiert sich nicht selbst
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
legal = Rechtliches
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

access-needed = Diese Seite ist für Personen auf einer Liste.
access-intro = Geben Sie Ihre E-Mail-Adresse ein. Wenn sie auf der Liste steht, wird ein Link an sie geschickt, der die Seite öffnet.
access-address = E-Mail-Adresse
access-button = Link senden
access-wrong = Das ist keine gültige E-Mail-Adresse.
access-sent = Sehen Sie in Ihrem Postfach nach
access-sent-text = Wenn die Adresse auf der Liste steht, ist eine Nachricht mit einem Link unterwegs. Der Link gilt 15 Minuten und kann einmal benutzt werden.
access-open = Statusseite öffnen
access-open-text = Dieser Browser kann die Seite dann 30 Tage lang lesen.
access-over = Dieser Link gilt nicht mehr: Er wurde schon benutzt, ist älter als 15 Minuten, oder es wurde ein neuerer verschickt.
access-no-mail = Dieser Server kann zurzeit keine E-Mails versenden. Fragen Sie die Betreiber dieser Seite.

locations = Messstandorte
reached = Erreichbar
not-reached = Nicht erreichbar
agreements = Vereinbarte Verfügbarkeit
agreement-met = Eingehalten
agreement-missed = Verfehlt
this-month = Dieser Monat
this-quarter = Dieses Quartal
this-year = Dieses Jahr
reached-share = bisher { $share } % verfügbar
agreed = vereinbart { $share } %
agreed-in-hours = vereinbart { $share } % während der Geschäftszeiten
budget = { $used } von { $total } zulässiger Ausfallzeit verbraucht
