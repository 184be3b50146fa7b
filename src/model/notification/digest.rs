//! Digests: one message that combines several, sent when a channel would otherwise get too many within a minute.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::model::incident::Severity;
use crate::model::notification::NotificationEvent;
use crate::model::word_enum::{spelled, words};

/// Permitted values of the number of messages that a channel gets one by one within a minute, before digests begin.
pub const ABOVE: RangeInclusive<u32> = 1..=1_000;
/// The default of that number for channels that people read.
pub const USUAL_ABOVE: u32 = 20;
/// The time within which messages are counted, and for which messages wait for their digest, in milliseconds.
pub const WINDOW_MS: i64 = 60_000;
/// Maximum number of messages that a digest lists; `count` is the full number.
pub const ENTRIES_MAX: usize = 50;

words! {
    /// The reason for holding a message.
    pub enum HoldReason {
        /// The message waits for the end of quiet hours.
        QuietHours,
        /// The message waits for a digest.
        Digest,
        /// The message waits for more services that join an incident or recover from it.
        Batch,
    }
}

/// A hold: the message is not sent before a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryHold {
    /// The earliest time of sending.
    pub until: Timestamp,
    /// The reason for holding the message.
    pub by: HoldReason,
}

/// The recent messages of a channel, counted over [`WINDOW_MS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecentMessages {
    /// True if the channel has got as many messages as it gets one by one.
    pub are_many: bool,
    /// The time of the next digest, if messages wait for it.
    pub digest_at: Option<Timestamp>,
}

/// The contents of a digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DigestFacts {
    /// The id of the delivery of the digest; also its subject id.
    pub id: String,
    /// The number of all messages in the digest.
    pub count: usize,
    /// The first messages, at most [`ENTRIES_MAX`].
    pub entries: Vec<DigestEntry>,
    /// Headlines of the first messages, one a line.
    pub text: String,
    /// The worst severity of the subjects that are not over, or of all subjects if all are over.
    #[serde(with = "spelled")]
    pub severity: Severity,
    /// True if all subjects in the digest are over.
    pub is_over: bool,
}

/// A message in a digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DigestEntry {
    /// The id of the delivery.
    pub id: String,
    /// The event that the message reports.
    #[serde(with = "spelled")]
    pub event: NotificationEvent,
    /// The id of the subject of the message.
    pub subject: String,
    /// The headline of the message.
    pub headline: String,
}

impl DigestFacts {
    /// One line with the number of messages.
    #[must_use]
    pub fn headline(&self) -> String {
        let counted = |wanted: fn(NotificationEvent) -> bool| {
            self.entries.iter().filter(|entry| wanted(entry.event)).count()
        };
        let begun = counted(|event| {
            matches!(event, NotificationEvent::IncidentOpened | NotificationEvent::IncidentReopened)
        });
        let over = counted(|event| event == NotificationEvent::IncidentResolved);
        if self.count > self.entries.len() || begun + over == 0 {
            return format!("{} messages in one", self.count);
        }
        let other = self.count - begun - over;
        let parts = [(begun, "begun"), (over, "resolved"), (other, "other")];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        format!("{} messages in one: {}", self.count, parts.join(", "))
    }
}
