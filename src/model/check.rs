//! One check and its outcome.
//!
//! A failing target is data: a check ends in a [`CheckOutcome`], never in an error. Trouble of the location itself is a
//! [`LocalFault`]: it leaves a no-data period, and is never counted against the target.

use std::num::NonZeroU32;

use crate::model::word_enum::words;

words! {
    /// The types of services (contract 4.2.1).
    pub enum CheckType {
        /// One HTTP request and its redirects.
        Http,
        /// A TCP connection.
        Tcp,
        /// One question to a name server.
        Dns,
        /// Echo requests.
        Icmp,
        /// The certificate chain of a TLS server.
        Ssl,
        /// Not checked: members set the status of the service.
        Manual,
        /// Not checked by locations: the monitored job reports itself by pings.
        Heartbeat,
    }
}

impl CheckType {
    /// Returns true if locations check services of this type once they have settings.
    #[must_use]
    pub const fn is_probed(self) -> bool {
        !matches!(self, Self::Manual | Self::Heartbeat)
    }
}

words! {
    /// The status that one check gives its target; ordered from best to worst.
    #[derive(PartialOrd, Ord, strum::FromRepr)]
    #[repr(u8)]
    pub enum CheckStatus {
        /// The target answers as expected.
        Up = 0,
        /// The target answers, but not as it should.
        Degraded = 1,
        /// The target does not answer, or answers wrongly.
        Down = 2,
    }
}

impl CheckStatus {
    /// The number of this status in the database.
    #[must_use]
    pub const fn code(self) -> i16 {
        self as i16
    }

    /// The status with this database number; `None` for an unknown number.
    #[must_use]
    pub fn from_code(code: i16) -> Option<Self> {
        u8::try_from(code).ok().and_then(Self::from_repr)
    }
}

/// A phase's duration in microseconds. A measured time is never zero.
pub type Micros = NonZeroU32;

/// `elapsed` in whole microseconds, at least one; saturates after 71 minutes.
#[must_use]
pub fn micros(elapsed: std::time::Duration) -> Micros {
    let us = u32::try_from(elapsed.as_micros()).unwrap_or(u32::MAX);
    NonZeroU32::new(us).unwrap_or(NonZeroU32::MIN)
}

/// The durations of the phases of a check, summed over redirects; `None` for a phase that the check did not reach or
/// does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhaseTimings {
    /// Resolution of host names.
    pub dns: Option<Micros>,
    /// TCP handshake.
    pub connect: Option<Micros>,
    /// TLS handshake.
    pub tls: Option<Micros>,
    /// From the last byte of the request to the first byte of the response.
    pub ttfb: Option<Micros>,
    /// From the first byte of the response to its last.
    pub transfer: Option<Micros>,
    /// From the start of the attempt to its end; set even when the attempt failed.
    pub total: Option<Micros>,
}

impl Measurement {
    /// The number of durations in a measurement: the response time and six timings.
    pub const DURATIONS: usize = 7;

    /// The response time and all timings, in the order in which database columns and encoded facts store them.
    #[must_use]
    pub const fn durations(&self) -> [Option<Micros>; Self::DURATIONS] {
        let PhaseTimings { dns, connect, tls, ttfb, transfer, total } = self.timings;
        [self.response_time, dns, connect, tls, ttfb, transfer, total]
    }

    /// The reverse of [`Self::durations`].
    #[must_use]
    pub const fn split_durations(
        durations: [Option<Micros>; Self::DURATIONS],
    ) -> (Option<Micros>, PhaseTimings) {
        let [response_time, dns, connect, tls, ttfb, transfer, total] = durations;
        (response_time, PhaseTimings { dns, connect, tls, ttfb, transfer, total })
    }
}

words! {
    /// The reason why a check is not `up`: the stable codes of contract 4.8, and additions to them.
    #[derive(strum::FromRepr)]
    #[repr(u8)]
    pub enum ErrorCode {
        /// The name does not exist.
        DnsNxdomain = 1,
        /// The name server failed or refused.
        DnsServfail = 2,
        /// The name server is alive but did not answer this question in time.
        DnsTimeout = 3,
        /// The name exists, but has no record of the requested type.
        DnsNoRecords = 4,
        /// No process listens on the port.
        ConnectRefused = 5,
        /// No answer to the connection attempt.
        ConnectTimeout = 6,
        /// The peer reset the connection.
        ConnectReset = 7,
        /// No route to the host or network.
        ConnectUnreachable = 8,
        /// The certificate is expired or not valid yet.
        TlsExpired = 9,
        /// The chain does not end at a trusted authority.
        TlsUntrusted = 10,
        /// The certificate is for another name.
        TlsHostname = 11,
        /// The TLS handshake failed.
        TlsHandshake = 12,
        /// The server accepts none of the TLS versions, suites and algorithms that are offered (addition).
        TlsLegacy = 13,
        /// Connected, but no complete response in time.
        HttpTimeout = 14,
        /// The response is not proper HTTP.
        HttpProtocol = 15,
        /// More redirects than allowed, or a redirect in a circle.
        HttpRedirectLoop = 16,
        /// No reply to the echo request.
        IcmpNoReply = 17,
        /// A condition of the service matched.
        ConditionFailed = 18,
        /// The egress policy of this installation forbids the address.
        TargetBlocked = 19,
        /// With `smart_dualstack`: one address family does not answer (addition).
        DualstackPartial = 20,
        /// A ping did not come in time.
        HeartbeatMissed = 21,
        /// A ping reported a failure.
        HeartbeatFail = 22,
        /// An error of the probe itself that was nevertheless recorded.
        Internal = 23,
        /// A condition cannot be decided on the part of the body that was read (addition).
        BodyTruncated = 24,
    }
}

impl ErrorCode {
    /// The number of this code in the database.
    #[must_use]
    pub const fn code(self) -> i16 {
        self as i16
    }

    /// The code with this database number; `None` for an unknown number.
    #[must_use]
    pub fn from_code(code: i16) -> Option<Self> {
        u8::try_from(code).ok().and_then(Self::from_repr)
    }

    /// Returns true if a dead network of the location itself has the same symptoms: silence, no route to the target,
    /// a broken connection.
    #[must_use]
    pub const fn may_be_the_network(self) -> bool {
        matches!(
            self,
            Self::DnsServfail
                | Self::DnsTimeout
                | Self::ConnectTimeout
                | Self::ConnectReset
                | Self::ConnectUnreachable
                | Self::TlsHandshake
                | Self::HttpTimeout
                | Self::HttpProtocol
                | Self::IcmpNoReply
                | Self::DualstackPartial
        )
    }
}

/// The reason why a check is not `up`, as a code and as a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckFailure {
    /// Stable code for programs.
    pub code: ErrorCode,
    /// Short English reason, at most 500 characters, without response body, header or secret.
    pub message: Box<str>,
}

impl CheckFailure {
    /// Creates a failure with its text on one line, cut to 500 characters. Control characters become spaces, because
    /// PostgreSQL stores no zero byte and text from a peer must not control a terminal.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl AsRef<str>) -> Self {
        let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
        let message: String = message.as_ref().chars().take(500).map(plain).collect();
        Self { code, message: message.into() }
    }
}

/// The result of a check that was made: status of the target, times, and the reason of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measurement {
    /// The result after evaluating the conditions.
    pub status: CheckStatus,
    /// Time until the target answered, from which `response_time_ms` and the percentiles come; `None` = no answer.
    pub response_time: Option<Micros>,
    /// The durations of the phases, such as name resolution and TLS handshake.
    pub timings: PhaseTimings,
    /// Status code of the HTTP response; `None` for other types of checks, or without a response.
    pub status_code: Option<u16>,
    /// Set exactly when `status` is not `up`. Boxed: most checks have none.
    pub failure: Option<Box<CheckFailure>>,
}

impl Measurement {
    /// The measurement of a target that did not answer: `down` with a reason, and the timings of the phases that were
    /// reached.
    #[must_use]
    pub fn unanswered(code: ErrorCode, message: impl AsRef<str>, timings: PhaseTimings) -> Self {
        Self {
            status: CheckStatus::Down,
            response_time: None,
            timings,
            status_code: None,
            failure: Some(Box::new(CheckFailure::new(code, message))),
        }
    }
}

words! {
    /// The reason why a check could not be made: a fault of the location, which never makes the target `down`.
    #[derive(PartialOrd, Ord)]
    #[repr(u8)]
    pub enum LocalFault {
        /// This process has no file descriptors left.
        NoDescriptors = 0,
        /// No local port is free (`EADDRNOTAVAIL`).
        NoPorts,
        /// The kernel has no memory or buffers left.
        NoMemory,
        /// The network of this host is down.
        NetworkDown,
        /// None of the name servers of this host answers.
        ResolverUnavailable,
        /// This process lacks a privilege that the check needs (ICMP).
        NotPermitted,
        /// The check exceeded its time limit and was cut off, or the process was too busy to carry it out in time.
        Overrun,
        /// The code of the check panicked.
        Panicked,
        /// The location's queue was full.
        QueueFull,
        /// The location has lost its own network: none of its reference targets answers.
        LocationImpaired,
    }
}

/// The outcome of one attempt of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckOutcome {
    /// The check was made, with this result.
    Measured(Measurement),
    /// The check could not be made; the period is `no_data`.
    Unmeasured(LocalFault),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_survives_the_database() {
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::from_code(code.code()), Some(code));
        }
        for status in CheckStatus::ALL {
            assert_eq!(CheckStatus::from_code(status.code()), Some(status));
        }
        assert_eq!(ErrorCode::from_code(0), None);
        assert_eq!(CheckStatus::from_code(3), None);
    }

    #[test]
    fn a_measured_time_is_never_zero() {
        assert_eq!(micros(std::time::Duration::ZERO).get(), 1);
        assert_eq!(micros(std::time::Duration::from_secs(1)).get(), 1_000_000);
        assert_eq!(micros(std::time::Duration::from_secs(86_400)).get(), u32::MAX);
    }

    #[test]
    fn failure_texts_are_cut_at_500_characters() {
        assert_eq!(CheckFailure::new(ErrorCode::Internal, "ä".repeat(501)).message.chars().count(), 500);
    }
}
