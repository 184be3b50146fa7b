# Textes des formulaires d’une page, en français.

back = Retour à l’état actuel
subscribe = S’abonner
subscribe-intro = Vous serez informé des incidents et des maintenances.
subscribe-listed = Seules les adresses de la liste de cette page reçoivent les nouvelles.
channel = Comment
channel-email = E-mail
channel-webhook = Webhook
channel-slack = Slack
channel-teams = Microsoft Teams
channel-discord = Discord
channel-telegram = Telegram
address = Adresse
address-hint-email = Votre adresse e-mail. Un message avec un lien y sera envoyé.
address-hint-url = L’adresse du webhook. Un message de test y sera envoyé.
address-hint-telegram = Le jeton de votre bot, une barre oblique et le chat, comme dans 123456:ABC/@channel.
components = À propos de
components-all = Tous les systèmes
components-hint = N’en choisissez aucun pour recevoir les nouvelles de tous les systèmes.
language = Langue
subscribe-button = S’abonner
subscribe-sent = Presque terminé
subscribe-sent-text = Si cette adresse peut être abonnée, un message lui est envoyé. Un e-mail contient un lien de confirmation, valable 24 heures.
subscribe-wrong = Cet abonnement est impossible. Vérifiez l’adresse et les systèmes choisis, puis réessayez.
subscribe-busy = Trop d’adresses ont été saisies. Réessayez plus tard.
confirm = Confirmez votre abonnement
confirm-text = { $named ->
    [yes] Appuyez sur le bouton pour recevoir les nouvelles de { $page }.
   *[no] Appuyez sur le bouton pour recevoir les nouvelles.
}
confirm-button = Confirmer
confirmed = Vous êtes abonné
confirmed-text = { $named ->
    [yes] Les nouvelles de { $page } vous seront envoyées. Chaque message contient un lien de désabonnement.
   *[no] Les nouvelles vous seront envoyées. Chaque message contient un lien de désabonnement.
}
confirm-over = Ce lien n’est plus valable
confirm-over-text = Il a déjà servi, ou il a plus de 24 heures. Abonnez-vous de nouveau pour en recevoir un autre.
unsubscribe = Se désabonner
unsubscribe-text = Appuyez sur le bouton pour ne plus recevoir de messages.
unsubscribe-button = Se désabonner
unsubscribed = Vous êtes désabonné
unsubscribed-text = Aucun autre message ne vous sera envoyé.
