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

acknowledged = Acknowledged by { $by }.
acknowledged-with-note = Acknowledged by { $by }: { $note }

on-duty = On call: { $schedule }
