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

opened-down = { $service } antwortet nicht, wie es soll. Wir gehen dem nach.
opened-degraded = { $service } funktioniert, aber nicht, wie es soll. Wir gehen dem nach.
opened-unstable = { $service } fällt immer wieder aus und kommt zurück. Wir gehen dem nach.

joined = { $others ->
    [0] { $service } ist ebenfalls betroffen.
    [one] { $service } und ein weiterer Dienst sind ebenfalls betroffen.
   *[other] { $service } und { $others } weitere Dienste sind ebenfalls betroffen.
}
worsened = { $service } ist jetzt ausgefallen.
unstable = { $service } fällt immer wieder aus und kommt zurück.
relapsed = { $service } ist wieder betroffen.
recovered = { $left ->
    [one] { $service } funktioniert wieder. Ein Dienst ist noch betroffen.
   *[other] { $service } funktioniert wieder. { $left } Dienste sind noch betroffen.
}
monitoring = Alles funktioniert wieder. Wir beobachten die Lage weiter.
resolved = Alles funktioniert wieder.

acknowledged = Bestätigt von { $by }.
acknowledged-with-note = Bestätigt von { $by }: { $note }
