//! An attempt that has ended, and its consequences for its message.

use crate::clock::Timestamp;
use crate::model::notification::delivery::{DeliveryAttempt, DeliveryOutcome, DeliveryStatus};
use crate::model::notification::fair_share::DueMessage;
use crate::model::notification::ordering_scope::OrderingScope;

/// An attempt that has ended, and its consequences for its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TryRecord {
    /// Database key of the delivery.
    pub delivery: i64,
    /// Database key of its channel.
    pub channel: i64,
    /// The id of its subject.
    pub subject: String,
    /// The line of the message.
    pub line: OrderingScope,
    /// True for a digest: later messages about its subjects wait for it.
    pub is_digest: bool,
    /// Number, duration and outcome of the attempt.
    pub attempt: DeliveryAttempt,
    /// The time of the next one; `None` when the message was delivered or is given up.
    pub next_at: Option<Timestamp>,
    /// Present time.
    pub at: Timestamp,
}

impl TryRecord {
    /// The end of a message that has expired without a last attempt.
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
            // Messages that wait for a digest are found by `release_stranded`.
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

    /// Returns true if the message was delivered or is given up.
    pub(super) fn is_over(&self) -> bool {
        self.status() != DeliveryStatus::Waiting
    }

    pub(super) fn due_at(&self) -> Option<i64> {
        self.next_at.map(Timestamp::ms).filter(|_| !self.is_over())
    }
}
