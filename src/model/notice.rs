//! Notices: events that are not incidents, because no monitored service has failed: a certificate near its end, a
//! location without network, a budget that burns, trouble of the monitor itself.
//!
//! A notice has a start and an end. While it is open, the same trouble starts no second one; should it become worse,
//! it is sent again.

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::incident::Severity;
use crate::model::notification::NotificationEvent;
use crate::model::notification::message::{MessageSubject, NoticeFacts, NotificationMessage};
use crate::model::service::ServiceKey;

/// The time for which notices that are over are kept, in milliseconds.
pub const RETENTION_MS: i64 = 90 * 24 * 60 * 60 * 1_000;

/// The subject of a notice: there is at most one open notice of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoticeSubject {
    /// Database key of the organisation that is notified.
    pub organisation: i64,
    /// The event that notices of this subject report.
    pub event: NotificationEvent,
    /// The subject within the event: the id of a service, the code of a location.
    pub name: String,
}

/// The text, in the language of the organisation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoticeText {
    /// Title of one line.
    pub title: String,
    /// Body of one or two sentences.
    pub text: String,
}

/// A fault that a notice reports while it lasts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoticeCondition {
    /// What the notice is about; identifies it while it is open.
    pub subject: NoticeSubject,
    /// Severity of the notice.
    pub severity: Severity,
    /// Title and body of the notice.
    pub words: NoticeText,
    /// The service that it concerns; `None` = none in particular.
    pub service: Option<ServiceKey>,
}

/// A notice as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Key of the row; 0 before it is stored.
    pub key: i64,
    /// The id that clients and receivers see.
    pub id: Id,
    /// The trouble, with the text that was sent last.
    pub trouble: NoticeCondition,
    /// The time of its start.
    pub began_at: Timestamp,
    /// The time at which it ended; `None` = it lasts.
    pub ended_at: Option<Timestamp>,
}

impl Notice {
    /// The message about it at `at`.
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
