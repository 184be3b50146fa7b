# Deutsch.

up = in Betrieb
degraded = beeinträchtigt
down = ausgefallen
unknown = unbekannt
no-data = keine Daten
maintenance = in Wartung

since = seit { $moment } ({ $duration })
until = bis { $moment }
list-end = { $first } und { $last }

stated = Status gesetzt von { $by }: { $status } { $period } („{ $reason }“)
paused = pausiert { since }, deshalb wird nichts gemessen
paused-by-plan = pausiert { since }, weil der Tarif weniger Dienste erlaubt, deshalb wird nichts gemessen
in-maintenance = in Wartung { $period } („{ $title }“)
decided = { $decision }; gemessen { $measured }
set-by-hand = in Betrieb: Dieser Dienst wird nicht geprüft; sein Status wird von Hand gesetzt
not-configured = unbekannt: Der Dienst hat noch keine Einstellungen und wird deshalb nicht geprüft
owner-away = unbekannt: Der Knoten, der den Dienst prüft, antwortet nicht
owner-away-since = unbekannt: Der Knoten, der den Dienst prüft, antwortet { since } nicht
recorded-last = zuletzt aufgezeichnet: { $status }
but-no-data = { $status }, aber keine Daten

unreachable-because = { $count ->
    [one] nicht erreichbar, weil { $names } ausgefallen ist
   *[other] nicht erreichbar, weil { $names } ausgefallen sind
}
unreachable-hidden = nicht erreichbar, weil ein Dienst ausgefallen ist, von dem er abhängt
unreachable-not-checked = nicht erreichbar und nicht geprüft, seit die Dienste, von denen er abhängt, wieder in Betrieb sind
flapping = { $changes ->
    [one] instabil (mehr als ein Wechsel in { $minutes } min)
   *[other] instabil (mehr als { $changes } Wechsel in { $minutes } min)
}

only-location = { $name }, der einzige Standort,
all-locations = { $count ->
    [2] beide Standorte
   *[other] alle { $count } Standorte
}
all-voting-locations = { $count ->
    [2] beide Standorte mit Stimme
   *[other] alle { $count } Standorte mit Stimme
}
some-locations = { $count } von { $all } Standorten
some-voting-locations = { $count } von { $all } Standorten mit Stimme
locations = { $count } Standorte
too-few = { $clause }, zu wenige Stimmen für einen anderen Status

reaches = { $count ->
    [one] erreicht ihn
   *[other] erreichen ihn
}
sees-as = { $count ->
    [one] sieht ihn als { $status }
   *[other] sehen ihn als { $status }
}
sees-because = { $count ->
    [one] sieht ihn als { $status } ({ $details })
   *[other] sehen ihn als { $status } ({ $details })
}
cannot-resolve = { $count ->
    [one] kann den Namen nicht auflösen ({ $details })
   *[other] können den Namen nicht auflösen ({ $details })
}
cannot-connect = { $count ->
    [one] kann keine Verbindung herstellen ({ $details })
   *[other] können keine Verbindung herstellen ({ $details })
}
cannot-secure = { $count ->
    [one] kann keine TLS-Verbindung herstellen ({ $details })
   *[other] können keine TLS-Verbindung herstellen ({ $details })
}
rejects-certificate = { $count ->
    [one] lehnt das Zertifikat ab ({ $details })
   *[other] lehnen das Zertifikat ab ({ $details })
}
gets-no-answer = { $count ->
    [one] erhält keine Antwort ({ $details })
   *[other] erhalten keine Antwort ({ $details })
}
gets-bad-answer = { $count ->
    [one] erhält eine falsche Antwort ({ $details })
   *[other] erhalten eine falsche Antwort ({ $details })
}
gets-answer-that-counts = { $count ->
    [one] erhält eine Antwort, die als { $status } zählt ({ $details })
   *[other] erhalten eine Antwort, die als { $status } zählt ({ $details })
}
gets-slow-answers = { $count ->
    [one] erhält die Antwort zu spät ({ $measured } ms, Grenze { $limit } ms)
   *[other] erhalten die Antwort zu spät (bis zu { $measured } ms, Grenze { $limit } ms)
}
reaches-partly = { $count ->
    [one] erreicht ihn nur teilweise ({ $details })
   *[other] erreichen ihn nur teilweise ({ $details })
}

condition-measured = { $condition }, gemessen { $measured }
error-dns-nxdomain = der Name existiert nicht
error-dns-servfail = Fehler des Nameservers
error-dns-timeout = der Nameserver antwortet nicht rechtzeitig
error-dns-no-records = kein Eintrag dieses Typs
error-connect-refused = Verbindung abgelehnt
error-connect-timeout = keine Antwort in der vorgegebenen Zeit
error-connect-reset = Verbindung abgebrochen
error-connect-unreachable = keine Route
error-tls-expired = abgelaufen oder noch nicht gültig
error-tls-untrusted = von einer unbekannten Stelle ausgestellt
error-tls-hostname = für einen anderen Namen ausgestellt
error-tls-handshake = der Handshake scheitert
error-tls-legacy = nur alte Versionen werden angeboten
error-http-timeout = keine vollständige Antwort in der vorgegebenen Zeit
error-http-protocol = kein gültiges HTTP
error-http-redirect-loop = zu viele Weiterleitungen
error-icmp-no-reply = keine Echo-Antwort
error-condition-failed = eine Bedingung ist erfüllt
error-target-blocked = die Adresse ist hier nicht erlaubt
error-dualstack-partial = eine Adressfamilie antwortet nicht
error-heartbeat-missed = verpasster Ping
error-heartbeat-fail = ein Ping hat einen Fehler gemeldet
error-internal = interner Fehler
error-body-truncated = der Inhalt ist zu lang für eine Bedingung

has-no-vote = { $count ->
    [one] { $names } hat keine Stimme ({ $reason })
   *[other] { $names } haben keine Stimme ({ $reason })
}
none-has-vote = { $count ->
    [2] keiner der beiden Standorte hat eine Stimme ({ $reason })
   *[other] keiner der { $count } Standorte hat eine Stimme ({ $reason })
}
absent-not-checked = noch nicht geprüft
absent-stale = letztes Ergebnis zu alt
absent-offline = offline
absent-impaired = gestört
absent-suspect = verdächtig
absent-outdated = nach einer Störung noch nicht geprüft
absent-withdrawn = prüft diesen Dienst nicht mehr
impaired-because = gestört: { $reason }
suspect-because = verdächtig: sieht Dienste als ausgefallen, die alle anderen erreichen
fault-no-descriptors = keine Dateideskriptoren frei
fault-no-ports = keine lokalen Ports frei
fault-no-memory = kein Speicher frei
fault-network-down = Netz ausgefallen
fault-resolver-unavailable = Nameserver antworten nicht
fault-not-permitted = Berechtigung fehlt
fault-overrun = Prüfungen dauern zu lange
fault-panicked = Prüfungen brechen mit einem Fehler ab
fault-queue-full = Warteschlange voll
fault-location-impaired = kein Referenzziel antwortet

no-check-since = es wurde keine Prüfung abgeschlossen
last-result = das letzte Ergebnis ist von { $moment } (vor { $duration })
checked-by-none = kein Standort prüft ihn
no-result-yet = es ist noch keine Prüfung abgeschlossen
no-result-since-pause = seit dem Ende der Pause ist noch keine Prüfung abgeschlossen
no-result-since-change = seit der Änderung der Einstellungen ist noch keine Prüfung abgeschlossen
recovering = { $good } von { $needed } guten Ergebnissen in Folge, die den Ausfall beenden
recovery-needs = der Ausfall endet nach { $needed } guten Ergebnissen in Folge
not-recorded-yet = nach den neuesten Stimmen ist er { $status }
retrying = { $name } wiederholt einen fehlgeschlagenen Versuch ({ $attempt } von { $attempts })
certificate-ends = das Zertifikat gilt bis { $moment } (noch { $duration })
certificate-ended = das Zertifikat galt bis { $moment } (vor { $duration })

no-ping-yet = es ist noch kein Ping gekommen
last-ping = der letzte Ping ist von { $moment } (vor { $duration })
next-ping = der nächste ist fällig bis { $moment }
ping-late = der nächste ist { $duration } verspätet und gilt ab { $moment } als verpasst
ping-failed = der Ping von { $moment } (vor { $duration }) hat einen Fehler gemeldet
ping-missed = es kam kein Ping zur rechten Zeit
ping-may-be-lost = ein Ping kann verloren gegangen sein, während Watchkeeper nicht empfangsbereit war
ping-counts-from = der nächste gilt ab { $moment } als verpasst
no-ping-since-change = seit dem Ende der Pause oder der Änderung ist kein Ping gekommen

quoted = „{ $text }“
votes = Stimmen:
no-vote = keine Stimme: { $reason }
checked = { $moment }, vor { $duration }
attempt = Versuch { $attempt }
rule = { $rule }: { $sum }
rule-any = jede (eine Stimme genügt)
rule-majority = Mehrheit (ausgefallen: mehr als die Hälfte der Stimmen; beeinträchtigt: mindestens die Hälfte)
rule-all = alle (jede Stimme ist nötig)
rule-number = { $needed ->
    [one] 1 Stimme ist nötig
   *[other] { $needed } Stimmen sind nötig, oder alle, wenn es weniger gibt
}
rule-heartbeat = ein Ping alle { $interval }; ein Ping, der mehr als { $grace } verspätet ist, gilt als verpasst
sum = { $down } von { $all } ausgefallen, { $degraded } beeinträchtigt, also { $verdict }
sum-empty = keine Stimme, also { $verdict }
rule-line = Regel: { $rule }
as-of = Stand: { $moment }
