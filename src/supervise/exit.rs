//! The end of one life of an actor, and the time after which an actor counts as frozen.

use std::fmt;

/// Seconds without an answer after which an actor counts as dead.
pub const FROZEN_AFTER: u32 = 30;

/// The end of a life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActorExit {
    /// The actor stopped by itself.
    Stopped,
    /// The actor panicked, with this message.
    Panicked(String),
    /// The actor did not answer and was abandoned.
    Frozen,
}

impl fmt::Display for ActorExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped => f.write_str("it has stopped"),
            Self::Panicked(message) => write!(f, "it panicked: {message}"),
            Self::Frozen => write!(f, "it had not answered for {FROZEN_AFTER} seconds"),
        }
    }
}
