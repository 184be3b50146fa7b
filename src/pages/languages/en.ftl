# English. A language is one file in this folder, named by its tag; every file has every text.

state-operational = Operational
state-degraded = Degraded
state-partial-outage = Partial outage
state-major-outage = Major outage
state-under-maintenance = Under maintenance
state-unknown = Unknown

overall-operational = All systems operational
overall-degraded = Some systems are degraded
overall-partial-outage = Some systems are partly down
overall-major-outage = Some systems are down
overall-maintenance = Maintenance in progress
overall-some-unknown = The status of some systems is unknown
overall-unknown = Status unknown

as-of = As of
outdated = later data cannot be read at the moment
systems = Systems
no-systems = Nothing is listed here yet.
incidents = Current incidents
maintenances = Maintenance
affected = Affected: { $names }
because-of = Cannot be reached because of { $names }.
because-of-another = Cannot be reached because of another system.
open-end = open end

incident-investigating = Investigating
incident-identified = Identified
incident-monitoring = Monitoring
incident-resolved = Resolved
maintenance-scheduled = Scheduled
maintenance-in-progress = In progress
maintenance-completed = Completed
maintenance-cancelled = Cancelled

imprint = Imprint
privacy = Privacy
skip = Skip to the content
appearance = Appearance
appearance-system = System
appearance-light = Light
appearance-dark = Dark
language = Language
