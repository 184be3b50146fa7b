//! The messages that a service receives: from the locations that check it, and from the targets that report themselves.

use std::fmt::Debug;

use actix::Message;
use tokio::time::Instant;

use crate::engine::counters::AttemptTicket;
use crate::model::check::CheckOutcome;
use crate::model::heartbeat::HeartbeatPing;
use crate::model::watch::CheckAttempt;

/// The service that waits for an attempt.
pub(super) trait CheckListener: Debug + Send + Sync {
    /// The attempt has ended.
    fn finished(&self, finished: CheckFinished);

    /// The attempt has been running for a long time without an answer.
    fn silent(&self, silent: SilentAttempt);
}

/// An attempt at a location has ended.
#[derive(Message)]
#[rtype(result = "()")]
pub struct CheckFinished {
    /// The attempt that has ended.
    pub attempt: CheckAttempt,
    /// The sequence number that the attempt was started with.
    pub sequence: u32,
    /// Monotonic time at which the attempt started; setting the wall clock does not move it.
    pub started: Instant,
    /// The outcome of the attempt.
    pub outcome: CheckOutcome,
    /// Ticket that counts the attempt.
    pub ticket: AttemptTicket,
}

/// A running attempt has not been answered for a long time.
#[derive(Message)]
#[rtype(result = "()")]
pub struct SilentAttempt {
    /// The running attempt.
    pub attempt: CheckAttempt,
    /// The sequence number that the attempt was started with.
    pub sequence: u32,
    /// Monotonic time at which the attempt started.
    pub started: Instant,
}

/// A stored ping of this service.
#[derive(Message)]
#[rtype(result = "()")]
pub struct ReceivedPing(pub HeartbeatPing);
