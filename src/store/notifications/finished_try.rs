//! A finished delivery attempt and its consequences for the message.

use crate::clock::Timestamp;
use crate::model::notification::delivery::{DeliveryAttempt, DeliveryOutcome, DeliveryStatus};
use crate::model::notification::fair_share::DueMessage;
use crate::model::notification::ordering_scope::OrderingScope;

/// A finished delivery attempt and its consequences for the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TryRecord {
    /// Database key of the message.
    pub delivery: i64,
    /// Database key of the channel.
    pub channel: i64,
    /// Id of the subject of the message, for example an incident.
    pub subject: String,
    /// The scope in which the message must stay in order with others.
    pub line: OrderingScope,
    /// True if the message is a digest: later messages about its subjects wait for it.
    pub is_digest: bool,
    /// Number, duration and outcome of the attempt.
    pub attempt: DeliveryAttempt,
    /// Time of the next attempt; `None` if the message was delivered or given up.
    pub next_at: Option<Timestamp>,
    /// The current time, at which the message ends if there is no further attempt.
    pub at: Timestamp,
}

impl TryRecord {
    /// The record for a message that expired without another attempt.
    #[must_use]
    pub fn expired(message: &DueMessage, at: Timestamp) -> Self {
        let attempt = DeliveryAttempt {
            number: message.tries + 1,
            at,
            took_ms: 0,
            outcome: DeliveryOutcome::Refused,
            status_code: None,
            detail: "Given up: the channel took nothing for 24 hours".to_owned(),
        };
        Self {
            delivery: message.key,
            channel: message.channel,
            subject: message.subject.clone(),
            line: message.line,
            // Messages that wait for an expired digest are found by `release_stranded`.
            is_digest: false,
            attempt,
            next_at: None,
            at,
        }
    }

    pub(super) fn status(&self) -> DeliveryStatus {
        match (self.attempt.outcome, self.next_at) {
            (DeliveryOutcome::Delivered, _) => DeliveryStatus::Delivered,
            (_, Some(_)) => DeliveryStatus::Waiting,
            (_, None) => DeliveryStatus::Dead,
        }
    }

    /// Returns true if the message was delivered or given up.
    pub(super) fn is_over(&self) -> bool {
        self.status() != DeliveryStatus::Waiting
    }

    pub(super) fn due_at(&self) -> Option<i64> {
        self.next_at.map(Timestamp::ms).filter(|_| !self.is_over())
    }
}
