# Texts of messages to subscribers, in English. A language is one file in this folder; every file has every text.

incident-investigating = Investigating
incident-identified = Identified
incident-monitoring = Monitoring
incident-resolved = Resolved
notice = Notice
maintenance-announced = Planned maintenance
maintenance-moved = Maintenance moved
maintenance-day-before = Maintenance in 24 hours
maintenance-hour-before = Maintenance in one hour
maintenance-started = Maintenance started
maintenance-completed = Maintenance completed
maintenance-cancelled = Maintenance cancelled

headline = { $state }: { $title }
affected = Affected
time = Time
window = { $start } to { $end } UTC
window-open = From { $start } UTC, open end
status-page = Status page
see-page = See the current status
why = You get this message because this address is subscribed to { $page }.
unsubscribe = Unsubscribe

confirm-subject = Confirm your subscription to { $page }
confirm-text = Somebody has subscribed this address to news of { $page }. Confirm the subscription with this link. It is valid for 24 hours.
confirm-button = Confirm the subscription
confirm-ignore = If it was not you, ignore this message: no further one will be sent.
test-title = Subscription to { $page }
test-text = News of { $page } will arrive here.
access-subject = Open { $page }
access-text = Somebody has asked to read the status page { $page } with this address. Open the page with this link. It is valid for 15 minutes and can be used once.
access-button = Open the status page
access-ignore = If it was not you, ignore this message: nobody can open the page with your address without the link.
