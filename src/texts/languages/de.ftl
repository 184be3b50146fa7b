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

opened-down = Es kommt keine Antwort, wie sie sein soll. Wir gehen dem nach.
opened-degraded = Es funktioniert, aber nicht, wie es soll. Wir gehen dem nach.
opened-unstable = Immer wieder kommt es zu Ausfällen. Wir gehen dem nach.

joined = Weitere Dienste sind betroffen.
worsened = Was beeinträchtigt war, ist jetzt ausgefallen.
unstable = Ein Dienst fällt immer wieder aus und kommt zurück.
relapsed = Was wieder funktionierte, ist erneut betroffen.
monitoring = Alles funktioniert wieder. Wir beobachten die Lage weiter.
resolved = Alles funktioniert wieder.

acknowledged = Bestätigt von { $by }.
acknowledged-with-note = Bestätigt von { $by }: { $note }

on-duty = Bereitschaft: { $schedule }
