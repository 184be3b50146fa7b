//! Digests: one message with those that a channel was not sent one by one because there were too many within a
//! minute.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::model::incident::Severity;
use crate::model::notification::NotificationEvent;
use crate::model::word_enum::{spelled, words};

/// Messages that a channel may be sent one by one within a minute.
pub const ABOVE: RangeInclusive<u32> = 1..=1_000;
/// The default number for channels that are read by people.
pub const USUAL_ABOVE: u32 = 20;
/// The time within which messages are counted, and for which the others are gathered, in milliseconds.
pub const WINDOW_MS: i64 = 60_000;
/// Maximum number of messages that a digest names; `count` is the full number.
pub const ENTRIES_MAX: usize = 50;

words! {
    /// The reason for holding a message.
    pub enum HoldReason {
        /// For the end of quiet hours.
        QuietHours,
        /// The message waits for a digest.
        Digest,
        /// For more services that join an incident, or recover from it.
        Batch,
    }
}

/// A message is not sent before a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryHold {
    /// The earliest time of sending.
    pub until: Timestamp,
    /// The reason for holding it.
    pub by: HoldReason,
}

/// The messages of a channel within the time in which messages are counted ([`WINDOW_MS`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecentMessages {
    /// True if there are as many as the channel is sent one by one.
    pub are_many: bool,
    /// The time of the next digest, if messages wait for one.
    pub digest_at: Option<Timestamp>,
}

/// The contents of a digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DigestFacts {
    /// The id of its delivery: it has no other subject.
    pub id: String,
    /// The number of messages.
    pub count: usize,
    /// The first of them, [`ENTRIES_MAX`] at most.
    pub entries: Vec<DigestEntry>,
    /// Their headlines in lines, some at most.
    pub text: String,
    /// The worst severity of the entries that are not over, or of all if all are.
    #[serde(with = "spelled")]
    pub severity: Severity,
    /// True if everything in it is over.
    pub is_over: bool,
}

/// A message in a digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DigestEntry {
    /// The id of its delivery.
    pub id: String,
    /// Its event.
    #[serde(with = "spelled")]
    pub event: NotificationEvent,
    /// The id of its subject.
    pub subject: String,
    /// Its headline.
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
