# Texte der Nachrichten an Abonnenten, auf Deutsch.

incident-investigating = Wird untersucht
incident-identified = Ursache gefunden
incident-monitoring = Wird beobachtet
incident-resolved = Behoben
notice = Hinweis
maintenance-announced = Geplante Wartung
maintenance-moved = Wartung verschoben
maintenance-day-before = Wartung in 24 Stunden
maintenance-hour-before = Wartung in einer Stunde
maintenance-started = Wartung begonnen
maintenance-completed = Wartung beendet
maintenance-cancelled = Wartung abgesagt

headline = { $state }: { $title }
affected = Betroffen
time = Zeit
window = { $start } bis { $end } UTC
window-open = Ab { $start } UTC, Ende offen
status-page = Statusseite
see-page = Aktuellen Status ansehen
why = Sie erhalten diese Nachricht, weil diese Adresse { $page } abonniert hat.
unsubscribe = Abbestellen

confirm-subject = Bestätigen Sie Ihr Abonnement von { $page }
confirm-text = Jemand hat für diese Adresse Nachrichten von { $page } abonniert. Bestätigen Sie das Abonnement mit diesem Link. Er gilt 24 Stunden.
confirm-button = Abonnement bestätigen
confirm-ignore = Wenn Sie es nicht waren, ignorieren Sie diese Nachricht: Es folgt keine weitere.
test-title = Abonnement von { $page }
test-text = Nachrichten von { $page } kommen hier an.
access-subject = { $page } öffnen
access-text = Jemand möchte mit dieser Adresse die Statusseite { $page } lesen. Öffnen Sie die Seite mit diesem Link. Er gilt 15 Minuten und kann einmal benutzt werden.
access-button = Statusseite öffnen
access-ignore = Wenn Sie das nicht waren, ignorieren Sie diese Nachricht: Ohne den Link kann niemand die Seite mit Ihrer Adresse öffnen.
