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

opened-down = It does not answer correctly. We are looking into it.
opened-degraded = It works, but not fully. We are looking into it.
opened-unstable = It changes repeatedly between working and not working. We are looking into it.

joined = More services are affected.
worsened = A degraded service is down now.
unstable = A service changes repeatedly between working and not working.
relapsed = A recovered service is affected again.
monitoring = Everything works again. We continue to monitor it.
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
certificate-renewed = The certificate of { $service } is valid again
certificate-renewed-text = It no longer expires soon.

heartbeat-missed = { $service } has not reported
heartbeat-missed-text = No ping arrived in time, or a ping reported a failure.
heartbeat-back = { $service } reports again
heartbeat-back-text = A ping has arrived.

location-impaired = Location { $subject } has lost its network
location-impaired-text = None of its reference targets answers, or it contradicts all others. Its results do not count until it has recovered.
location-blind = Location { $subject } cannot check
location-blind-text = It could make no check for a minute, because of its own machine ({ $note }). Its results do not count until a check succeeds.
location-silent = Location { $subject } does not report
location-silent-text = It has not reported for more than a minute. Services that only this location checks are not checked.
location-back = Location { $subject } works again
location-back-text = Its results count again.

monitor-history = { $subject } cannot write its history
monitor-history-text = Results wait in memory and on disk, and figures cannot be read. Checks and messages continue. Check the history database and its disk.
monitor-backup = { $subject } has no fresh backup
monitor-backup-text = The newest scheduled backup is older than two intervals, or none could be made. /readyz and the log show the reason.
monitor-spool = Results of { $subject } wait on disk
monitor-spool-text = The history database writes them more slowly than they arrive. They are written as soon as it keeps up.
monitor-clock = { $subject } does not trust its clock
monitor-clock-text = The wall clock has jumped, or was wrong at the start. Until it is trusted again, nothing expires by age.
monitor-blind = { $subject } cannot check
monitor-blind-text = One of its locations could make no check for a minute, because of its own machine ({ $note }). Services that only this location checks are unknown. Check its name servers, its routes and its limits; GET /readyz names the location.
pings-unheard = Pings of { $service } could not be received
pings-unheard-text = In two expected periods in a row, pings could not be received for a part of the time: Watchkeeper was stopped, another node took over, or the clock was not trusted. If no ping arrives before the next deadline, it counts as missed.
pings-heard-text = They are received again.
monitor-well = Over: { $subject }
monitor-well-text = It works normally again.
template-broken = The template of { $subject } cannot be rendered
template-broken-text = Its messages are sent as JSON, like those of a webhook, until the template is changed: { $note }.

budget-burns-fast = The error budget of { $subject } burns too fast
budget-burns = The error budget of { $subject } will not last
budget-burns-text = { $hours ->
    [one] In the last hour it was used up { $note } times as fast as allowed.
   *[other] In the last { $hours } hours it was used up { $note } times as fast as allowed.
}
budget-lasts = Over: { $subject }
budget-lasts-text = It is no longer used up too fast.

oncall-gap = Nobody is on duty for { $subject }
oncall-gap-text = { $note }
oncall-covered = Somebody is on duty for { $subject } again
oncall-covered-text = The period is over or covered: { $note }
schedule-gone = Over: { $subject }
schedule-gone-text = The schedule has been deleted.

service-gone = Over: { $subject }
service-gone-text = The service is no longer monitored.
target-gone-text = The SLA target was deleted.
