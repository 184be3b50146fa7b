//! The reason why a probe ends early: the target's failure, or our own trouble.
//!
//! The one place that tells them apart by the operating system's error. What is ours never becomes `down`.

use std::io;

use nix::errno::Errno;

use crate::egress::{Blocked, Egress, Pinned};
use crate::model::check::{ErrorCode, Failure, Measurement, Outcome, Timings, Trouble};

/// The reason why a probe ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The target did not answer as it should.
    Failed(Failure),
    /// We could not look.
    Trouble(Trouble),
}

impl Stop {
    /// A failure of the target with its text.
    pub(crate) fn failed(code: ErrorCode, message: impl AsRef<str>) -> Self {
        Self::Failed(Failure::new(code, message))
    }

    /// An error of an established connection; `otherwise` is the code of errors that have none of their own.
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

    /// The same, unless a connection broke or fell silent because this machine has lost its own way to `peer`.
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

    /// The outcome of a probe that ended this way.
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

/// Failures of an open connection that a dead network causes as well as a dead target.
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

/// Returns what an error of the operating system says about ourselves; `None` when it is about the target.
pub(crate) fn trouble(error: &io::Error) -> Option<Trouble> {
    match Errno::from_raw(error.raw_os_error()?) {
        Errno::EMFILE | Errno::ENFILE => Some(Trouble::NoDescriptors),
        Errno::EADDRNOTAVAIL | Errno::EADDRINUSE | Errno::EAGAIN => Some(Trouble::NoPorts),
        Errno::ENOBUFS | Errno::ENOMEM => Some(Trouble::NoMemory),
        Errno::ENETDOWN => Some(Trouble::NetworkDown),
        Errno::EPERM | Errno::EACCES => Some(Trouble::NotPermitted),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// "Our own trouble is never the target's."
    #[rstest]
    #[case(Errno::EMFILE, Some(Trouble::NoDescriptors))]
    #[case(Errno::ENFILE, Some(Trouble::NoDescriptors))]
    #[case(Errno::EADDRNOTAVAIL, Some(Trouble::NoPorts))]
    #[case(Errno::EADDRINUSE, Some(Trouble::NoPorts))]
    #[case(Errno::ENOBUFS, Some(Trouble::NoMemory))]
    #[case(Errno::ENOMEM, Some(Trouble::NoMemory))]
    #[case(Errno::ENETDOWN, Some(Trouble::NetworkDown))]
    #[case(Errno::EPERM, Some(Trouble::NotPermitted))]
    #[case(Errno::EACCES, Some(Trouble::NotPermitted))]
    #[case(Errno::ECONNREFUSED, None)]
    #[case(Errno::ECONNRESET, None)]
    #[case(Errno::ETIMEDOUT, None)]
    #[case(Errno::ENETUNREACH, None)]
    #[case(Errno::EHOSTUNREACH, None)]
    fn local_errors_are_told_from_the_targets(#[case] errno: Errno, #[case] expected: Option<Trouble>) {
        assert_eq!(trouble(&io::Error::from(errno)), expected);
    }
}
