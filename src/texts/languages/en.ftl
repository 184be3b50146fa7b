# English. A language is one file in this folder, named by its tag; what it does not say is said in English.

incident-down = { $others ->
    [0] { $service } is down
    [one] { $service } and one other service are down
   *[other] { $service } and { $others } other services are down
}
incident-degraded = { $others ->
    [0] { $service } is degraded
    [one] { $service } and one other service are degraded
   *[other] { $service } and { $others } other services are degraded
}
incident-unstable = { $others ->
    [0] { $service } is unstable
    [one] { $service } and one other service are unstable
   *[other] { $service } and { $others } other services are unstable
}
incident-unnamed = Some systems are affected

opened-down = No answer comes as it should. We are looking into it.
opened-degraded = It works, but not as it should. We are looking into it.
opened-unstable = It changes between working and not working again and again. We are looking into it.

joined = More services are affected.
worsened = What was degraded is down now.
unstable = A service changes between working and not working again and again.
relapsed = What worked again is affected again.
monitoring = Everything works again. We keep watching.
resolved = Everything works again.

reason-since = since { $note }
reason-lasts = for { $note }
reason-lasted = over after { $note }
reason-seen = seen by { $note }
reason-unseen = not by { $note }
reason-depends = depends on { $note }
reason-more = { $others ->
    [one] and one more service
   *[other] and { $others } more services
}

acknowledged = Acknowledged by { $by }.
acknowledged-with-note = Acknowledged by { $by }: { $note }

on-duty = On call: { $subject }

certificate-expiring = The certificate of { $service } ends soon
certificate-ended = The certificate of { $service } has ended
certificate-expiring-text = { $note }
certificate-renewed = The certificate of { $service } is fine again
certificate-renewed-text = It is not near its end any more.

heartbeat-missed = { $service } has not reported
heartbeat-missed-text = No ping came in time, or one reported a failure.
heartbeat-back = { $service } reports again
heartbeat-back-text = A ping has come.

location-impaired = Location { $subject } has lost its network
location-impaired-text = None of its reference targets answers, or it contradicts all others. Its results do not count until that is over.
location-blind = Location { $subject } cannot look
location-blind-text = None of its checks could be made for a minute, for a reason of its own machine ({ $note }). Its results do not count until one can.
location-silent = Location { $subject } is not heard
location-silent-text = It has not reported for more than a minute. What only it looks at is not looked at.
location-back = Location { $subject } is well again
location-back-text = Its results count again.

monitor-history = { $subject } cannot write its history
monitor-history-text = Results wait in memory and on disk, and figures cannot be read. Verdicts and messages go on. Look at the history database and its disk.
monitor-backup = { $subject } has no fresh backup
monitor-backup-text = The newest scheduled backup is older than two intervals, or none could be made. /readyz and the log say why.
monitor-spool = Results of { $subject } wait on disk
monitor-spool-text = The history database takes them more slowly than they come. They are written as soon as it keeps up.
monitor-clock = { $subject } does not trust its clock
monitor-clock-text = The wall clock has jumped, or began with a wrong time. Until it is trusted again nothing is deleted or given up by its age.
monitor-blind = { $subject } cannot look
monitor-blind-text = No check of one of its locations could be made for a minute, for a reason of its own machine ({ $note }). What only that location looks at is unknown. Look at its name servers, its routes and its limits; GET /readyz names the location.
pings-unheard = Pings of { $service } could not be judged
pings-unheard-text = Twice in a row nobody listened for a part of the time in which they were expected: Watchkeeper was stopped, another node took over, or the clock was doubted. If none comes before the next deadline, it counts as missed.
pings-heard-text = They are judged again.
monitor-well = Over: { $subject }
monitor-well-text = It is as it should be again.
template-broken = The template of { $subject } cannot be filled
template-broken-text = Its messages go out as JSON, as a webhook has them, until the template is changed: { $note }.

budget-burns-fast = The error budget of { $subject } burns fast
budget-burns = The error budget of { $subject } will not last
budget-burns-text = { $hours ->
    [one] In the last hour it was used up { $note } times as fast as it may be.
   *[other] In the last { $hours } hours it was used up { $note } times as fast as it may be.
}
budget-lasts = Over: { $subject }
budget-lasts-text = It is not used up too fast any more.

oncall-gap = Nobody is on duty for { $subject }
oncall-gap-text = { $note }
oncall-covered = { $subject } has somebody on duty again
oncall-covered-text = It is over or filled: { $note }
schedule-gone = Over: { $subject }
schedule-gone-text = The schedule has been deleted.

service-gone = Over: { $subject }
service-gone-text = The service is not watched any more.
target-gone-text = The SLA target does not exist any more.
