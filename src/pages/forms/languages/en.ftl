# Texts of the forms of a page, in English. A language is one file in this folder; every file has every text.

back = Back to the current status
subscribe = Get updates
subscribe-intro = You are notified of incidents and maintenances.
subscribe-listed = Only addresses on the list of this page get news.
channel = How
channel-email = E-mail
channel-webhook = Webhook
channel-slack = Slack
channel-teams = Microsoft Teams
channel-discord = Discord
channel-telegram = Telegram
address = Address
address-hint-email = Your e-mail address. A message with a link is sent to it.
address-hint-url = The address of the webhook. A test message is sent to it.
address-hint-telegram = The token of your bot, a slash and the chat, as in 123456:ABC/@channel.
components = What about
components-all = All systems
components-hint = Choose none to get news of all systems.
language = Language
subscribe-button = Subscribe
subscribe-sent = Nearly done
subscribe-sent-text = If this address can be subscribed, a message is on its way to it. An e-mail has a link to confirm, which is valid for 24 hours.
subscribe-wrong = You cannot subscribe with these entries. Check the address and the chosen systems, and try again.
subscribe-busy = Too many addresses were entered. Try again later.
confirm = Confirm your subscription
confirm-text = { $named ->
    [yes] Press the button to get news of { $page }.
   *[no] Press the button to get the news.
}
confirm-button = Confirm
confirmed = You are subscribed
confirmed-text = { $named ->
    [yes] News of { $page } will be sent to you. Each message has a link to unsubscribe.
   *[no] The news will be sent to you. Each message has a link to unsubscribe.
}
confirm-over = This link is no longer valid
confirm-over-text = It was used already, or it is older than 24 hours. Subscribe again to get a new one.
unsubscribe = Unsubscribe
unsubscribe-text = Press the button to get no more messages.
unsubscribe-button = Unsubscribe
unsubscribed = You are unsubscribed
unsubscribed-text = No more messages will be sent to you.
