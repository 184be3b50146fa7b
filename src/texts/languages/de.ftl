# Deutsch.

incident-down = { $others ->
    [0] { $service } ist ausgefallen
    [one] { $service } und ein weiterer Dienst sind ausgefallen
   *[other] { $service } und { $others } weitere Dienste sind ausgefallen
}
incident-degraded = { $others ->
    [0] { $service } ist beeinträchtigt
    [one] { $service } und ein weiterer Dienst sind beeinträchtigt
   *[other] { $service } und { $others } weitere Dienste sind beeinträchtigt
}
incident-unstable = { $others ->
    [0] { $service } ist instabil
    [one] { $service } und ein weiterer Dienst sind instabil
   *[other] { $service } und { $others } weitere Dienste sind instabil
}
incident-unnamed = Einige Systeme sind betroffen

opened-down = Die erwartete Antwort bleibt aus. Wir gehen dem nach.
opened-degraded = Es funktioniert, aber nicht, wie es soll. Wir gehen dem nach.
opened-unstable = Immer wieder kommt es zu Ausfällen. Wir gehen dem nach.

joined = Weitere Dienste sind betroffen.
worsened = Ein Dienst, der beeinträchtigt war, ist jetzt ausgefallen.
unstable = Ein Dienst fällt immer wieder aus und kommt zurück.
relapsed = Ein Dienst, der wieder in Betrieb war, ist erneut betroffen.
monitoring = Alles funktioniert wieder. Wir beobachten die Lage weiter.
resolved = Alles funktioniert wieder.

reason-since = seit { $note }
reason-lasts = { $note } lang
reason-lasted = vorbei nach { $note }
reason-seen = gesehen von { $note }
reason-unseen = nicht von { $note }
reason-depends = hängt ab von { $note }
reason-more = { $others ->
    [one] und ein weiterer Dienst
   *[other] und { $others } weitere Dienste
}

acknowledged = Bestätigt von { $by }.
acknowledged-with-note = Bestätigt von { $by }: { $note }

on-duty = Bereitschaft: { $subject }

certificate-expiring = Das Zertifikat von { $service } läuft bald ab
certificate-ended = Das Zertifikat von { $service } ist abgelaufen
certificate-expiring-text = { $note }
certificate-renewed = Das Zertifikat von { $service } ist wieder in Ordnung
certificate-renewed-text = Es läuft nicht mehr bald ab.

heartbeat-missed = { $service } hat sich nicht gemeldet
heartbeat-missed-text = Es kam kein Ping zur rechten Zeit, oder einer hat einen Fehler gemeldet.
heartbeat-back = { $service } meldet sich wieder
heartbeat-back-text = Ein Ping ist gekommen.

location-impaired = Der Standort { $subject } hat sein Netz verloren
location-impaired-text = Keines seiner Referenzziele antwortet, oder er widerspricht allen anderen. Bis das vorbei ist, zählen seine Ergebnisse nicht.
location-blind = Der Standort { $subject } kann nicht prüfen
location-blind-text = Keine seiner Prüfungen war eine Minute lang möglich; der Grund liegt an seiner eigenen Maschine ({ $note }). Bis das vorbei ist, zählen seine Ergebnisse nicht.
location-silent = Der Standort { $subject } ist nicht zu hören
location-silent-text = Er hat sich seit mehr als einer Minute nicht gemeldet. Was nur er prüft, wird nicht geprüft.
location-back = Der Standort { $subject } ist wieder in Ordnung
location-back-text = Seine Ergebnisse zählen wieder.

monitor-history = { $subject } kann seine Messwerte nicht speichern
monitor-history-text = Ergebnisse warten im Speicher und auf der Platte, Zahlen lassen sich nicht lesen. Urteile und Nachrichten gehen weiter. Zu prüfen sind die Datenbank der Messwerte und ihre Platte.
monitor-backup = { $subject } hat keine frische Sicherung
monitor-backup-text = Die neueste geplante Sicherung ist älter als zwei Abstände, oder es ließ sich keine machen. /readyz und das Protokoll sagen, warum.
monitor-spool = Ergebnisse von { $subject } warten auf der Platte
monitor-spool-text = Die Datenbank der Messwerte nimmt sie langsamer auf, als sie kommen. Sie werden geschrieben, sobald sie nachkommt.
monitor-clock = { $subject } traut seiner Uhr nicht
monitor-clock-text = Die Uhr ist gesprungen oder ging beim Start falsch. Bis ihr wieder zu trauen ist, wird nichts wegen seines Alters gelöscht oder aufgegeben.
monitor-blind = { $subject } kann nicht prüfen
monitor-blind-text = An einem Standort war eine Minute lang keine Prüfung möglich; der Grund liegt an seiner eigenen Maschine ({ $note }). Was nur dieser Standort prüft, ist unbekannt. Zu prüfen sind Nameserver, Routen und Grenzen der Maschine; GET /readyz nennt den Standort.
pings-unheard = Pings von { $service } waren nicht zu beurteilen
pings-unheard-text = Zweimal nacheinander hat zeitweise niemand zugehört, während sie erwartet wurden: Watchkeeper stand, ein anderer Knoten hat übernommen, oder die Uhr war unglaubwürdig. Kommt bis zur nächsten Frist keiner, gilt er als verpasst.
pings-heard-text = Sie werden wieder beurteilt.
monitor-well = Vorbei: { $subject }
monitor-well-text = Es ist wieder, wie es sein soll.
template-broken = Die Vorlage von { $subject } lässt sich nicht ausfüllen
template-broken-text = Bis sie geändert wird, gehen seine Nachrichten als JSON hinaus, wie bei einem Webhook: { $note }.

budget-burns-fast = Das Fehlerbudget von { $subject } schwindet schnell
budget-burns = Das Fehlerbudget von { $subject } wird nicht reichen
budget-burns-text = { $hours ->
    [one] In der letzten Stunde wurde es { $note }-mal so schnell verbraucht, wie es sein darf.
   *[other] In den letzten { $hours } Stunden wurde es { $note }-mal so schnell verbraucht, wie es sein darf.
}
budget-lasts = Vorbei: { $subject }
budget-lasts-text = Es wird nicht mehr zu schnell verbraucht.

oncall-gap = Niemand hat Bereitschaft für { $subject }
oncall-gap-text = { $note }
oncall-covered = { $subject } hat wieder jemanden in Bereitschaft
oncall-covered-text = Vorbei oder besetzt: { $note }
schedule-gone = Vorbei: { $subject }
schedule-gone-text = Der Bereitschaftsplan wurde gelöscht.

service-gone = Vorbei: { $subject }
service-gone-text = Der Dienst wird nicht mehr überwacht.
target-gone-text = Das SLA-Ziel gibt es nicht mehr.
