//! The reason why a probe ends early: the target's failure, or trouble of this process.
//!
//! Errors of the operating system are classified by `egress`. Trouble of this process never becomes `down`.

use std::io;

use crate::egress::{BlockedAddress, EgressGate, PermittedAddress, local_fault};
use crate::model::check::{CheckFailure, CheckOutcome, ErrorCode, LocalFault, Measurement, PhaseTimings};

/// The reason why a probe ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProbeAbort {
    /// The target did not answer as it should.
    Failed(CheckFailure),
    /// This process could not measure.
    Trouble(LocalFault),
}

impl ProbeAbort {
    /// Creates a failure of the target, with a message for users.
    pub(crate) fn failed(code: ErrorCode, message: impl AsRef<str>) -> Self {
        Self::Failed(CheckFailure::new(code, message))
    }

    /// Classifies an error of an established connection. `otherwise` is the code for errors that have no code
    /// of their own.
    pub(crate) fn broken(error: &io::Error, otherwise: ErrorCode) -> Self {
        if let Some(trouble) = local_fault(error) {
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

    /// Returns `self`, or trouble of this process if the connection broke because this machine has lost its own
    /// route to `peer`.
    pub(crate) fn unless_lost(self, peer: Option<PermittedAddress>, egress: &EgressGate) -> Self {
        match (&self, peer) {
            (Self::Failed(failure), Some(peer))
                if may_be_the_network(failure.code) && egress.has_lost_route_to(peer.address()) =>
            {
                Self::Trouble(LocalFault::NetworkDown)
            }
            _ => self,
        }
    }

    /// Returns the outcome of a probe that ended this way.
    pub(crate) fn outcome(self, timings: PhaseTimings) -> CheckOutcome {
        match self {
            Self::Failed(failure) => {
                CheckOutcome::Measured(Measurement::unanswered(failure.code, &failure.message, timings))
            }
            Self::Trouble(trouble) => CheckOutcome::Unmeasured(trouble),
        }
    }
}

impl From<CheckFailure> for ProbeAbort {
    fn from(failure: CheckFailure) -> Self {
        Self::Failed(failure)
    }
}

impl From<BlockedAddress> for ProbeAbort {
    fn from(blocked: BlockedAddress) -> Self {
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
