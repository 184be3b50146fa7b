//! Errors of the operating system that concern this process: they say nothing about the other end.
//!
//! This is the only place that classifies such errors. They never become `down`, or the failure of a receiver.

use std::io;

use nix::errno::Errno;

use crate::model::check::LocalFault;

/// Returns the trouble of this process that an error of the operating system means; `None` when it concerns the target.
pub(crate) fn local_fault(error: &io::Error) -> Option<LocalFault> {
    match Errno::from_raw(error.raw_os_error()?) {
        Errno::EMFILE | Errno::ENFILE => Some(LocalFault::NoDescriptors),
        Errno::EADDRNOTAVAIL | Errno::EADDRINUSE | Errno::EAGAIN => Some(LocalFault::NoPorts),
        Errno::ENOBUFS | Errno::ENOMEM => Some(LocalFault::NoMemory),
        Errno::ENETDOWN => Some(LocalFault::NetworkDown),
        Errno::EPERM | Errno::EACCES => Some(LocalFault::NotPermitted),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// An error of this process is never the target's fault.
    #[rstest]
    #[case(Errno::EMFILE, Some(LocalFault::NoDescriptors))]
    #[case(Errno::ENFILE, Some(LocalFault::NoDescriptors))]
    #[case(Errno::EADDRNOTAVAIL, Some(LocalFault::NoPorts))]
    #[case(Errno::EADDRINUSE, Some(LocalFault::NoPorts))]
    #[case(Errno::ENOBUFS, Some(LocalFault::NoMemory))]
    #[case(Errno::ENOMEM, Some(LocalFault::NoMemory))]
    #[case(Errno::ENETDOWN, Some(LocalFault::NetworkDown))]
    #[case(Errno::EPERM, Some(LocalFault::NotPermitted))]
    #[case(Errno::EACCES, Some(LocalFault::NotPermitted))]
    #[case(Errno::ECONNREFUSED, None)]
    #[case(Errno::ECONNRESET, None)]
    #[case(Errno::ETIMEDOUT, None)]
    #[case(Errno::ENETUNREACH, None)]
    #[case(Errno::EHOSTUNREACH, None)]
    fn local_errors_are_distinguished_from_target_errors(
        #[case] errno: Errno,
        #[case] expected: Option<LocalFault>,
    ) {
        assert_eq!(local_fault(&io::Error::from(errno)), expected);
    }
}
