//! The wall clock in the form that certificate verification needs.

use std::time::Duration;

use rustls::pki_types::UnixTime;
use rustls::time_provider::TimeProvider;

use crate::clock::Clock;

/// A clock by which certificates are judged.
#[derive(Debug)]
pub(crate) struct CertificateTime(pub(crate) Clock);

impl CertificateTime {
    /// The current time; never before 1970.
    pub(crate) fn now(&self) -> UnixTime {
        let ms = u64::try_from(self.0.now().ms()).unwrap_or_default();
        UnixTime::since_unix_epoch(Duration::from_millis(ms))
    }
}

impl TimeProvider for CertificateTime {
    fn current_time(&self) -> Option<UnixTime> {
        Some(self.now())
    }
}
