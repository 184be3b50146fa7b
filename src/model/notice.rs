//! Notices: conditions that people should know of, although they are not incidents. Examples: a certificate that expires
//! soon, a location without network, an error budget that is used up too fast, trouble of the monitor itself.
//!
//! A notice has a start and an end. While it is open, the same condition starts no second notice; if the condition becomes
//! worse, the notice is sent again.

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::incident::Severity;
use crate::model::notification::NotificationEvent;
use crate::model::notification::message::{MessageSubject, NoticeFacts, NotificationMessage};
use crate::model::service::ServiceKey;

/// How long ended notices are kept, in milliseconds.
pub const RETENTION_MS: i64 = 90 * 24 * 60 * 60 * 1_000;

/// The subject of a notice. Each subject has at most one open notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoticeSubject {
    /// Database key of the organisation that is notified.
    pub organisation: i64,
    /// The event that notices of this subject report.
    pub event: NotificationEvent,
    /// The object of the event: the id of a service, the code of a location, and so on.
    pub name: String,
}

/// The text of a notice, in the language of the organisation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoticeText {
    /// Title of one line.
    pub title: String,
    /// Body of one or two sentences.
    pub text: String,
}

/// A condition that a notice reports while it lasts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoticeCondition {
    /// The subject, which identifies the notice while it is open.
    pub subject: NoticeSubject,
    /// Severity of the notice.
    pub severity: Severity,
    /// Title and body of the notice.
    pub words: NoticeText,
    /// The service concerned; `None` if no particular service is concerned.
    pub service: Option<ServiceKey>,
}

/// A notice as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Key of the row; 0 before it is stored.
    pub key: i64,
    /// The id that clients and receivers see.
    pub id: Id,
    /// The condition, with the text that was sent last.
    pub trouble: NoticeCondition,
    /// Start of the notice.
    pub began_at: Timestamp,
    /// End of the notice; `None` while the condition lasts.
    pub ended_at: Option<Timestamp>,
}

impl Notice {
    /// The message about this notice, with `at` as the time of the event.
    #[must_use]
    pub fn message(&self, organisation: String, at: Timestamp) -> NotificationMessage {
        let NoticeCondition { subject, severity, words, .. } = &self.trouble;
        let facts = NoticeFacts {
            id: self.id.to_string(),
            title: words.title.clone(),
            text: words.text.clone(),
            severity: *severity,
            is_over: self.ended_at.is_some(),
        };
        NotificationMessage {
            event: subject.event,
            at: at.ms(),
            organisation,
            subject: MessageSubject::Notice(facts),
        }
    }
}
