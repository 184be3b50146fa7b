//! The notice about a channel's template that cannot be filled: its subject and its text.
//!
//! The subject is the id of the channel. The courier opens the notice with the first message that is sent as JSON instead;
//! `notices` opens it at the start of a version that cannot parse a stored template, and closes it.

use crate::id::Id;
use crate::model::access::Organisation;
use crate::model::incident::Severity;
use crate::model::notice::{NoticeCondition, NoticeSubject, NoticeText};
use crate::model::notification::{NotificationChannel, NotificationEvent};
use crate::texts::GeneratedText;

/// The event of the notice.
pub const TEMPLATE_EVENT: NotificationEvent = NotificationEvent::MonitorTrouble;

/// The subject of the notice about a channel.
#[must_use]
pub fn template_subject(channel: &NotificationChannel) -> NoticeSubject {
    NoticeSubject { organisation: channel.organisation, event: TEMPLATE_EVENT, name: channel.id.to_string() }
}

/// Returns the channel of a notice; `None` for other notices of the same event.
#[must_use]
pub fn channel_of_subject(subject: &NoticeSubject) -> Option<Id> {
    (subject.event == TEMPLATE_EVENT).then(|| subject.name.parse().ok()).flatten()
}

/// Returns the notice data of a channel whose template cannot be filled.
#[must_use]
pub fn template_trouble(
    channel: &NotificationChannel,
    organisation: &Organisation,
    flaw: &str,
) -> NoticeCondition {
    let title = GeneratedText::about("template-broken", &channel.name);
    let text = GeneratedText::new("template-broken-text").with_note(flaw);
    NoticeCondition {
        subject: template_subject(channel),
        severity: Severity::Major,
        words: NoticeText { title: title.in_default(organisation), text: text.in_default(organisation) },
        service: None,
    }
}
