# English. A language is one file in this folder, named by its tag; what it does not say is said in English.

up = up
degraded = degraded
down = down
unknown = unknown
no-data = no data
maintenance = maintenance

since = since { $moment } ({ $duration })
until = until { $moment }
list-end = { $first } and { $last }

stated = status set by { $by }: { $status } { $period } (“{ $reason }”)
paused = paused { since }, so nothing is measured
paused-by-plan = paused { since } because the plan allows fewer services, so nothing is measured
in-maintenance = in maintenance { $period } (“{ $title }”)
decided = { $decision }; measured { $measured }
set-by-hand = operational: this service is not checked; people set its status
not-configured = unknown: the service has no settings yet, so it is not checked
owner-away = unknown: the node that checks the service does not answer
owner-away-since = unknown: the node that checks the service has not answered { since }
recorded-last = recorded last: { $status }
but-no-data = { $status }, but no data

unreachable-because = { $count ->
    [one] unreachable because { $names } is down
   *[other] unreachable because { $names } are down
}
unreachable-hidden = unreachable because a service on which it depends is down
unreachable-not-checked = unreachable and not checked since the services on which it depends are up again
flapping = { $changes ->
    [one] flapping (more than one change in { $minutes } min)
   *[other] flapping (more than { $changes } changes in { $minutes } min)
}

only-location = { $name }, the only location,
all-locations = { $count ->
    [2] both locations
   *[other] all { $count } locations
}
all-voting-locations = { $count ->
    [2] both locations that have a vote
   *[other] all { $count } locations that have a vote
}
some-locations = { $count } of { $all } locations
some-voting-locations = { $count } of { $all } locations with a vote
locations = { $count } locations
too-few = { $clause }, too few votes for another status

reaches = { $count ->
    [one] reaches it
   *[other] reach it
}
sees-as = { $count ->
    [one] sees it { $status }
   *[other] see it { $status }
}
sees-because = { $count ->
    [one] sees it { $status } ({ $details })
   *[other] see it { $status } ({ $details })
}
cannot-resolve = cannot resolve the name ({ $details })
cannot-connect = cannot connect ({ $details })
cannot-secure = cannot establish TLS ({ $details })
rejects-certificate = { $count ->
    [one] rejects the certificate ({ $details })
   *[other] reject the certificate ({ $details })
}
gets-no-answer = { $count ->
    [one] gets no answer ({ $details })
   *[other] get no answer ({ $details })
}
gets-bad-answer = { $count ->
    [one] gets a wrong answer ({ $details })
   *[other] get a wrong answer ({ $details })
}
gets-answer-that-counts = { $count ->
    [one] gets an answer that counts as { $status } ({ $details })
   *[other] get an answer that counts as { $status } ({ $details })
}
gets-slow-answers = { $count ->
    [one] gets its answer too late ({ $measured } ms, limit { $limit } ms)
   *[other] get their answers too late (up to { $measured } ms, limit { $limit } ms)
}
reaches-partly = { $count ->
    [one] reaches it only in part ({ $details })
   *[other] reach it only in part ({ $details })
}

condition-measured = { $condition }, measured { $measured }
error-dns-nxdomain = the name does not exist
error-dns-servfail = the name server fails
error-dns-timeout = the name server does not answer in time
error-dns-no-records = no record of this type
error-connect-refused = connection refused
error-connect-timeout = no answer in time
error-connect-reset = connection reset
error-connect-unreachable = no route
error-tls-expired = expired or not valid yet
error-tls-untrusted = issued by an unknown authority
error-tls-hostname = issued for another name
error-tls-handshake = the handshake fails
error-tls-legacy = only old versions are offered
error-http-timeout = no complete response in time
error-http-protocol = not proper HTTP
error-http-redirect-loop = too many redirects
error-icmp-no-reply = no echo reply
error-condition-failed = a condition is met
error-target-blocked = the address is not allowed here
error-dualstack-partial = one address family does not answer
error-heartbeat-missed = missed ping
error-heartbeat-fail = a ping reported a failure
error-internal = internal error
error-body-truncated = the body is too long for a condition

has-no-vote = { $count ->
    [one] { $names } has no vote ({ $reason })
   *[other] { $names } have no vote ({ $reason })
}
none-has-vote = { $count ->
    [2] neither location has a vote ({ $reason })
   *[other] none of the { $count } locations has a vote ({ $reason })
}
absent-not-checked = not checked yet
absent-stale = the last result is too old
absent-offline = offline
absent-impaired = impaired
absent-suspect = suspect
absent-outdated = not checked since it was impaired
absent-withdrawn = no longer checks this service
impaired-because = impaired: { $reason }
suspect-because = suspect: it sees services down that all others see up
fault-no-descriptors = no file descriptors left
fault-no-ports = no local ports left
fault-no-memory = no memory left
fault-network-down = its network is down
fault-resolver-unavailable = its name servers do not answer
fault-not-permitted = it lacks a permission
fault-overrun = its checks take too long
fault-panicked = its checks end in an error
fault-queue-full = its queue is full
fault-location-impaired = no reference target answers

no-check-since = no check was finished
last-result = the last result is from { $moment } ({ $duration } ago)
checked-by-none = no location checks it
no-result-yet = no check is finished yet
no-result-since-pause = no check is finished since it was resumed
no-result-since-change = no check is finished since its settings were changed
recovering = { $good } of the { $needed } good results in a row that end the outage
recovery-needs = the outage ends after { $needed } good results in a row
not-recorded-yet = by the newest votes it is { $status }
retrying = { $name } repeats a failed attempt ({ $attempt } of { $attempts })
certificate-ends = the certificate is valid until { $moment } ({ $duration } left)
certificate-ended = the certificate was valid until { $moment } ({ $duration } ago)

no-ping-yet = no ping has come yet
last-ping = the last ping came at { $moment } ({ $duration } ago)
next-ping = the next is due by { $moment }
ping-late = the next is { $duration } late and counts as missed from { $moment } on
ping-failed = the ping of { $moment } ({ $duration } ago) reported a failure
ping-missed = no ping came in time
ping-may-be-lost = a ping may have been lost while Watchkeeper did not listen
ping-counts-from = the next counts as missed from { $moment } on
no-ping-since-change = no ping has come since the service was resumed or changed

quoted = “{ $text }”
votes = Votes:
no-vote = no vote: { $reason }
checked = { $moment }, { $duration } ago
attempt = attempt { $attempt }
rule = { $rule }: { $sum }
rule-any = any (one vote is enough)
rule-majority = majority (down: more than half of the votes; degraded: at least half)
rule-all = all (every vote is needed)
rule-number = { $needed ->
    [one] 1 vote is needed
   *[other] { $needed } votes are needed, or all if there are fewer
}
rule-heartbeat = a ping every { $interval }; a ping that is more than { $grace } late counts as missed
sum = { $down } of { $all } down, { $degraded } degraded, so { $verdict }
sum-empty = no vote, so { $verdict }
rule-line = Rule: { $rule }
as-of = As of { $moment }
