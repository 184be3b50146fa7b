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
away = The server cannot be reached at present. What is shown here may be out of date.
copied = this copy of the page does not update itself
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

decimal-mark = .
feed-title = { $name } - Incident History
history = Past incidents and maintenance
history-of = { $month } { $year }
past-incidents = Incidents
no-incidents = No incidents or maintenance in this month.
earlier = Earlier
later = Later

bar-label = { $name }: the last { $days } days, day by day
uptime = { $percent } % uptime
uptime-with-coverage = { $percent } % uptime, { $coverage } % of the time measured
days-ago = { $days ->
    [one] { $days } day ago
   *[other] { $days } days ago
}
today = Today
day-by-day = Day by day
periods = Outages and gaps
still = now
date = Date
state = State
uptime-column = Uptime
down = Down
degraded = Degraded
maintenance = Maintenance
unmeasured = No data
duration-days = { $count } d
duration-hours = { $count } h
duration-minutes = { $count } min
duration-seconds = { $count } s

response-times = Response times
last-days = { $days ->
    [one] Last 24 hours
   *[other] Last { $days } days
}
response-summary = Half of the answers came within { $median }, 95 % within { $high }.

month-1 = January
month-2 = February
month-3 = March
month-4 = April
month-5 = May
month-6 = June
month-7 = July
month-8 = August
month-9 = September
month-10 = October
month-11 = November
month-12 = December

get-updates = Get updates
legal = Legal information
imprint = Imprint
privacy = Privacy
skip = Skip to the content
appearance = Appearance
appearance-system = System
appearance-light = Light
appearance-dark = Dark
language = Language

password = Password
password-needed = This page needs a password.
password-wrong = This password is wrong.
password-button = Open
too-many-tries = { $minutes ->
    [one] Too many attempts. Try again in { $minutes } minute.
   *[other] Too many attempts. Try again in { $minutes } minutes.
}

access-needed = This page is for people on a list.
access-intro = Enter your e-mail address. If it is on the list, a link that opens the page is sent to it.
access-address = E-mail address
access-button = Send the link
access-wrong = This is not a valid e-mail address.
access-sent = Check your inbox
access-sent-text = If the address is on the list, a message with a link is on its way to it. The link is valid for 15 minutes and can be used once.
access-open = Open the status page
access-open-text = This browser can then read the page for 30 days.
access-over = This link is no longer valid: it was used already, is older than 15 minutes, or a newer one was sent.
access-no-mail = This server cannot send e-mails at present. Ask those who run this page.

locations = Locations
reached = Reachable
not-reached = Not reachable
agreements = Agreed availability
agreement-met = Met
agreement-missed = Missed
this-month = This month
this-quarter = This quarter
this-year = This year
reached-share = { $share }% available so far
agreed = agreed { $share }%
agreed-in-hours = agreed { $share }% in business hours
budget = { $used } of { $total } of permitted downtime used
