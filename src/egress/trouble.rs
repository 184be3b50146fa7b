//! Errors of the operating system that concern this process: they say nothing about the other end.
//!
//! The only place that classifies them. Such an error never becomes `down`, nor the failure of a receiver.

use std::io;

use nix::errno::Errno;

use crate::model::check::Trouble;

/// Returns the trouble of this process that an error of the operating system means; `None` when it concerns the target.
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
