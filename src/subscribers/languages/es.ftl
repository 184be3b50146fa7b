# Textos de los mensajes a los suscriptores, en español.

incident-investigating = En investigación
incident-identified = Causa identificada
incident-monitoring = En observación
incident-resolved = Resuelto
notice = Aviso
maintenance-announced = Mantenimiento previsto
maintenance-moved = Mantenimiento aplazado
maintenance-day-before = Mantenimiento en 24 horas
maintenance-hour-before = Mantenimiento en una hora
maintenance-started = Mantenimiento iniciado
maintenance-completed = Mantenimiento terminado
maintenance-cancelled = Mantenimiento cancelado

headline = { $state }: { $title }
affected = Afectado
time = Horario
window = { $start } a { $end } UTC
window-open = Desde { $start } UTC, sin final fijado
status-page = Página de estado
see-page = Ver el estado actual
why = Recibe este mensaje porque esta dirección está suscrita a { $page }.
unsubscribe = Cancelar la suscripción

confirm-subject = Confirme su suscripción a { $page }
confirm-text = Alguien ha suscrito esta dirección a las noticias de { $page }. Confirme la suscripción con este enlace, válido durante 24 horas.
confirm-button = Confirmar la suscripción
confirm-ignore = Si no ha sido usted, ignore este mensaje: no se enviará ningún otro.
test-title = Suscripción a { $page }
test-text = Las noticias de { $page } llegarán aquí.
access-subject = Abrir { $page }
access-text = Alguien ha pedido leer la página de estado { $page } con esta dirección. Abra la página con este enlace. Es válido durante 15 minutos y solo se puede usar una vez.
access-button = Abrir la página de estado
access-ignore = Si no ha sido usted, ignore este mensaje: sin el enlace nadie puede abrir la página con su dirección.
