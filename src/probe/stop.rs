//! The reason why a probe ends early: the target's failure, or trouble of this process.
//!
//! Errors of the operating system are classified by `egress`. Trouble of this process never becomes `down`.

use std::io;

use crate::egress::{Blocked, Egress, Pinned, trouble};
use crate::model::check::{ErrorCode, Failure, Measurement, Outcome, Timings, Trouble};

/// The reason why a probe ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The target did not answer as it should.
    Failed(Failure),
    /// This process could not measure.
    Trouble(Trouble),
}

impl Stop {
    /// A failure of the target with its text.
    pub(crate) fn failed(code: ErrorCode, message: impl AsRef<str>) -> Self {
        Self::Failed(Failure::new(code, message))
    }

    /// Classifies an error of an established connection; `otherwise` is the code of errors without one of their own.
    pub(crate) fn broken(error: &io::Error, otherwise: ErrorCode) -> Self {
        if let Some(trouble) = trouble(error) {
            return Self::Trouble(trouble);
        }
        match error.kind() {
            io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe => {
                Self::failed(ErrorCode::ConnectReset, "Connection reset by the peer")
            }
            io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => {
                Self::failed(ErrorCode::ConnectUnreachable, "No route to the host")
            }
            _ => Self::failed(otherwise, "The connection broke"),
        }
    }

    /// Returns the stop, or trouble if the connection broke because this machine has lost its own route to `peer`.
    pub(crate) fn unless_lost(self, peer: Option<Pinned>, egress: &Egress) -> Self {
        match (&self, peer) {
            (Self::Failed(failure), Some(peer))
                if may_be_the_network(failure.code) && egress.has_lost(peer.address()) =>
            {
                Self::Trouble(Trouble::NetworkDown)
            }
            _ => self,
        }
    }

    /// Returns the outcome of a probe that ended this way.
    pub(crate) fn outcome(self, timings: Timings) -> Outcome {
        match self {
            Self::Failed(failure) => {
                Outcome::Measured(Measurement::unanswered(failure.code, &failure.message, timings))
            }
            Self::Trouble(trouble) => Outcome::Unmeasured(trouble),
        }
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<Blocked> for Stop {
    fn from(blocked: Blocked) -> Self {
        Self::failed(ErrorCode::TargetBlocked, blocked.to_string())
    }
}

/// Returns true for failures of an open connection that a dead network causes as well as a dead target.
const fn may_be_the_network(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::HttpTimeout
            | ErrorCode::TlsHandshake
            | ErrorCode::ConnectReset
            | ErrorCode::ConnectTimeout
            | ErrorCode::ConnectUnreachable
    )
}
