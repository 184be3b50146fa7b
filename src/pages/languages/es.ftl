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

imprint = Aviso legal
privacy = Privacidad
skip = Ir al contenido
appearance = Apariencia
appearance-system = Sistema
appearance-light = Claro
appearance-dark = Oscuro
language = Idioma
