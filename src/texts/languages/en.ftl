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

opened-down = { $service } does not answer as it should. We are looking into it.
opened-degraded = { $service } works, but not as it should. We are looking into it.
opened-unstable = { $service } changes between working and not working again and again. We are looking into it.

joined = { $others ->
    [0] { $service } is affected as well.
    [one] { $service } and one other service are affected as well.
   *[other] { $service } and { $others } other services are affected as well.
}
worsened = { $service } is down now.
unstable = { $service } changes between working and not working again and again.
relapsed = { $service } is affected again.
recovered = { $left ->
    [one] { $service } works again. One service is still affected.
   *[other] { $service } works again. { $left } services are still affected.
}
monitoring = Everything works again. We keep watching.
resolved = Everything works again.

acknowledged = Acknowledged by { $by }.
acknowledged-with-note = Acknowledged by { $by }: { $note }
