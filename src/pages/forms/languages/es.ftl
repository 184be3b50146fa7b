# Textos de los formularios de una página, en español.

back = Volver al estado actual
subscribe = Suscribirse
subscribe-intro = Recibirá avisos de incidentes y mantenimientos.
subscribe-listed = Solo las direcciones de la lista de esta página reciben noticias.
channel = Cómo
channel-email = Correo electrónico
channel-webhook = Webhook
channel-slack = Slack
channel-teams = Microsoft Teams
channel-discord = Discord
channel-telegram = Telegram
address = Dirección
address-hint-email = Su dirección de correo. Se le enviará un mensaje con un enlace.
address-hint-url = La dirección del webhook. Se le enviará un mensaje de prueba.
address-hint-telegram = El token de su bot, una barra y el chat, como en 123456:ABC/@channel.
components = Acerca de
components-all = Todos los sistemas
components-hint = No elija ninguno para recibir noticias de todos los sistemas.
language = Idioma
subscribe-button = Suscribirse
subscribe-sent = Casi listo
subscribe-sent-text = Si esta dirección puede suscribirse, se le ha enviado un mensaje. Un correo lleva un enlace para confirmar, válido durante 24 horas.
subscribe-wrong = No es posible suscribirse así. Compruebe la dirección y los sistemas elegidos, e inténtelo de nuevo.
subscribe-busy = Se han introducido demasiadas direcciones. Inténtelo más tarde.
confirm = Confirme su suscripción
confirm-text = { $named ->
    [yes] Pulse el botón para recibir noticias de { $page }.
   *[no] Pulse el botón para recibir las noticias.
}
confirm-button = Confirmar
confirmed = Está suscrito
confirmed-text = { $named ->
    [yes] Se le enviarán las noticias de { $page }. Cada mensaje lleva un enlace para cancelar.
   *[no] Se le enviarán las noticias. Cada mensaje lleva un enlace para cancelar.
}
confirm-over = Este enlace ya no es válido
confirm-over-text = Ya se ha usado, o tiene más de 24 horas. Suscríbase de nuevo para recibir otro.
unsubscribe = Cancelar la suscripción
unsubscribe-text = Pulse el botón para no recibir más mensajes.
unsubscribe-button = Cancelar
unsubscribed = Suscripción cancelada
unsubscribed-text = No se le enviarán más mensajes.
