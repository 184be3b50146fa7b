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

opened-down = We are not getting the expected response. We are looking into it.
opened-degraded = It works, but not as well as it should. We are looking into it.
opened-unstable = It keeps going down and coming back. We are looking into it.

joined = More services are affected.
worsened = A service that was degraded is now down.
unstable = A service keeps going down and coming back.
relapsed = A service that had recovered is affected again.
monitoring = Everything works again. We are monitoring the situation.
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

certificate-expiring = The certificate of { $service } expires soon
certificate-ended = The certificate of { $service } has expired
certificate-expiring-text = { $note }
certificate-renewed = The certificate of { $service } was renewed
certificate-renewed-text = It is no longer about to expire.

heartbeat-missed = { $service } has not reported
heartbeat-missed-text = No ping came in time, or one reported a failure.
heartbeat-back = { $service } reports again
heartbeat-back-text = A ping has arrived.

location-impaired = Location { $subject } has lost its network
location-impaired-text = None of its reference targets answers, or it contradicts all others. Its results do not count until that is over.
location-blind = Location { $subject } cannot check
location-blind-text = For a minute, none of its checks could run, because of a problem on its own machine ({ $note }). Its results do not count until a check runs again.
location-silent = Location { $subject } does not report
location-silent-text = It has not reported for more than a minute. Services that only this location checks are not checked.
location-back = Location { $subject } works again
location-back-text = Its results count again.

monitor-history = { $subject } cannot write its history
monitor-history-text = Results wait in memory and on disk, and figures cannot be read. Checks and messages continue. Look at the history database and its disk.
monitor-backup = { $subject } has no fresh backup
monitor-backup-text = The newest scheduled backup is older than two intervals, or none could be made. /readyz and the log say why.
monitor-spool = Results of { $subject } wait on disk
monitor-spool-text = The history database takes them more slowly than they arrive. They are written as soon as it catches up.
monitor-clock = { $subject } does not trust its clock
monitor-clock-text = The wall clock has jumped, or started with a wrong time. Until it is trusted again, nothing is deleted or given up because of its age.
monitor-blind = { $subject } cannot check
monitor-blind-text = For a minute, no check of one of its locations could run, because of a problem on its own machine ({ $note }). The status of services that only that location checks is unknown. Look at its name servers, its routes and its limits; GET /readyz names the location.
pings-unheard = Pings of { $service } could not be judged
pings-unheard-text = Twice in a row, Watchkeeper was not listening during a part of the time in which they were expected: it was stopped, another node took over, or the clock was not trusted. If no ping arrives before the next deadline, it counts as missed.
pings-heard-text = They are judged again.
monitor-well = Over: { $subject }
monitor-well-text = Everything is in order again.
template-broken = The template of { $subject } cannot be filled
template-broken-text = Its messages are sent as JSON, like those of a webhook, until the template is changed: { $note }.

budget-burns-fast = The error budget of { $subject } is being used up fast
budget-burns = The error budget of { $subject } will not last
budget-burns-text = { $hours ->
    [one] In the last hour it was used up { $note } times as fast as allowed.
   *[other] In the last { $hours } hours it was used up { $note } times as fast as allowed.
}
budget-lasts = Over: { $subject }
budget-lasts-text = It is no longer being used up too fast.

oncall-gap = Nobody is on duty for { $subject }
oncall-gap-text = { $note }
oncall-covered = { $subject } has somebody on duty again
oncall-covered-text = It is over or filled: { $note }
schedule-gone = Over: { $subject }
schedule-gone-text = The schedule has been deleted.

service-gone = Over: { $subject }
service-gone-text = The service is no longer monitored.
target-gone-text = The SLA target no longer exists.
