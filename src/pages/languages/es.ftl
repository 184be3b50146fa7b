# Español.

state-operational = Operativo
state-degraded = Degradado
state-partial-outage = Interrupción parcial
state-major-outage = Interrupción grave
state-under-maintenance = En mantenimiento
state-unknown = Desconocido

overall-operational = Todos los sistemas están operativos
overall-degraded = Algunos sistemas están degradados
overall-partial-outage = Algunos sistemas están parcialmente caídos
overall-major-outage = Algunos sistemas están caídos
overall-maintenance = Mantenimiento en curso
overall-some-unknown = Se desconoce el estado de algunos sistemas
overall-unknown = Estado desconocido

as-of = Estado al
outdated = por el momento no se pueden leer datos más recientes
away = El servidor no está accesible en este momento. Puede que lo que se muestra aquí no esté al día.
copied = esta copia de la página no se actualiza por sí misma
systems = Sistemas
no-systems = Aquí todavía no hay nada.
incidents = Incidencias actuales
maintenances = Mantenimiento
affected = Afectado: { $names }
because-of = No se puede acceder a causa de { $names }.
because-of-another = No se puede acceder a causa de otro sistema.
open-end = sin fin previsto

incident-investigating = Investigando
incident-identified = Identificado
incident-monitoring = En observación
incident-resolved = Resuelto
maintenance-scheduled = Programado
maintenance-in-progress = En curso
maintenance-completed = Terminado
maintenance-cancelled = Cancelado

decimal-mark = ,
feed-title = { $name } - Incidentes y mantenimientos
history = Incidentes y mantenimientos anteriores
history-of = { $month } de { $year }
past-incidents = Incidentes
no-incidents = No hubo incidentes ni mantenimientos en este mes.
earlier = Antes
later = Después

bar-label = { $name }: los últimos { $days } días, día a día
uptime = { $percent } % de disponibilidad
uptime-with-coverage = { $percent } % de disponibilidad, { $coverage } % del tiempo medido
days-ago = { $days ->
    [one] hace { $days } día
   *[other] hace { $days } días
}
today = Hoy
day-by-day = Día a día
periods = Caídas y lagunas
still = ahora
date = Fecha
state = Estado
uptime-column = Disponibilidad
down = Caída
degraded = Degradado
maintenance = Mantenimiento
unmeasured = Sin datos
duration-days = { $count } d
duration-hours = { $count } h
duration-minutes = { $count } min
duration-seconds = { $count } s

response-times = Tiempos de respuesta
last-days = { $days ->
    [one] Últimas 24 horas
   *[other] Últimos { $days } días
}
response-summary = La mitad de las respuestas llegó en { $median }, el 95 % en { $high }.

month-1 = enero
month-2 = febrero
month-3 = marzo
month-4 = abril
month-5 = mayo
month-6 = junio
month-7 = julio
month-8 = agosto
month-9 = septiembre
month-10 = octubre
month-11 = noviembre
month-12 = diciembre

get-updates = Suscribirse
legal = Información legal
imprint = Aviso legal
privacy = Privacidad
skip = Ir al contenido
appearance = Apariencia
appearance-system = Sistema
appearance-light = Claro
appearance-dark = Oscuro
language = Idioma

password = Contraseña
password-needed = Esta página está protegida con una contraseña.
password-wrong = Esta contraseña es incorrecta.
password-button = Abrir
too-many-tries = { $minutes ->
    [one] Demasiados intentos. Inténtelo de nuevo en { $minutes } minuto.
   *[other] Demasiados intentos. Inténtelo de nuevo en { $minutes } minutos.
}

access-needed = Esta página es para las personas de una lista.
access-intro = Introduzca su dirección de correo. Si figura en la lista, se le envía un enlace que abre la página.
access-address = Dirección de correo
access-button = Enviar el enlace
access-wrong = Esta dirección de correo no es válida.
access-sent = Revise su correo
access-sent-text = Si la dirección figura en la lista, se le ha enviado un mensaje con un enlace. El enlace es válido durante 15 minutos y solo se puede usar una vez.
access-open = Abrir la página de estado
access-open-text = Este navegador podrá leer la página durante 30 días.
access-over = Este enlace ya no es válido: ya se ha usado, tiene más de 15 minutos o se ha enviado uno más reciente.
access-no-mail = Este servidor no puede enviar correos en este momento. Pregunte a los responsables de esta página.

locations = Ubicaciones de medición
reached = Accesible
not-reached = No accesible
agreements = Disponibilidad acordada
agreement-met = Cumplida
agreement-missed = Incumplida
this-month = Este mes
this-quarter = Este trimestre
this-year = Este año
reached-share = { $share } % disponible hasta ahora
agreed = acordado { $share } %
agreed-in-hours = acordado { $share } % en horario laboral
budget = { $used } de { $total } de interrupción permitida utilizados
