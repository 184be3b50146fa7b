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

imprint = Impressum
privacy = Datenschutz
skip = Zum Inhalt
appearance = Darstellung
appearance-system = System
appearance-light = Hell
appearance-dark = Dunkel
language = Sprache
