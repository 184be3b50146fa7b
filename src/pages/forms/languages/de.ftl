# Texte der Formulare einer Seite, auf Deutsch.

back = Zurück zum aktuellen Status
subscribe = Benachrichtigungen abonnieren
subscribe-intro = Sie werden über Störungen und Wartungen benachrichtigt.
subscribe-listed = Nur Adressen auf der Liste dieser Seite erhalten Nachrichten.
channel = Wie
channel-email = E-Mail
channel-webhook = Webhook
channel-slack = Slack
channel-teams = Microsoft Teams
channel-discord = Discord
channel-telegram = Telegram
address = Adresse
address-hint-email = Ihre E-Mail-Adresse. Dorthin wird eine Nachricht mit einem Link gesendet.
address-hint-url = Die Adresse des Webhooks. Dorthin wird eine Testnachricht gesendet.
address-hint-telegram = Das Token Ihres Bots, ein Schrägstrich und der Chat, wie in 123456:ABC/@channel.
components = Worüber
components-all = Alle Systeme
components-hint = Wählen Sie keines, um Nachrichten über alle Systeme zu erhalten.
language = Sprache
subscribe-button = Abonnieren
subscribe-sent = Fast fertig
subscribe-sent-text = Wenn diese Adresse abonnieren kann, ist eine Nachricht an sie unterwegs. Eine E-Mail enthält einen Link zur Bestätigung, der 24 Stunden gilt.
subscribe-wrong = So ist kein Abonnement möglich. Prüfen Sie die Adresse und die gewählten Systeme, und versuchen Sie es noch einmal.
subscribe-busy = Es wurden zu viele Adressen eingegeben. Versuchen Sie es später noch einmal.
confirm = Bestätigen Sie Ihr Abonnement
confirm-text = { $named ->
    [yes] Drücken Sie auf den Knopf, um Nachrichten von { $page } zu erhalten.
   *[no] Drücken Sie auf den Knopf, um die Nachrichten zu erhalten.
}
confirm-button = Bestätigen
confirmed = Sie haben abonniert
confirmed-text = { $named ->
    [yes] Nachrichten von { $page } werden an Sie gesendet. Jede enthält einen Link zum Abbestellen.
   *[no] Die Nachrichten werden an Sie gesendet. Jede enthält einen Link zum Abbestellen.
}
confirm-over = Dieser Link gilt nicht mehr
confirm-over-text = Er wurde schon benutzt oder ist älter als 24 Stunden. Abonnieren Sie noch einmal, um einen neuen zu erhalten.
unsubscribe = Abbestellen
unsubscribe-text = Drücken Sie auf den Knopf, um keine Nachrichten mehr zu erhalten.
unsubscribe-button = Abbestellen
unsubscribed = Sie haben abbestellt
unsubscribed-text = Es werden keine Nachrichten mehr an Sie gesendet.
