//! The certificate of a custom domain: when it is ordered and renewed, how long a failed order waits, and what its owner is
//! shown (contract 4.15).
//!
//! An order is due at once for a verified domain without a certificate, and at two thirds of the life of a certificate. The
//! wait after a failure is written before the order begins, so a process that dies in every order does not ask the authority
//! more often than one whose orders fail.

use crate::clock::Timestamp;
use crate::model::word_enum::words;

const MINUTE_MS: i64 = 60_000;
/// Wait after the first failed order, in milliseconds; each further failure doubles it. Four orders fail in the first hour:
/// Let's Encrypt allows five failed validations an hour.
const FIRST_WAIT_MS: i64 = 5 * MINUTE_MS;
/// Wait after an order that failed for a reason that says nothing about the domain and soon passes, in milliseconds; each
/// further failure doubles it.
const FIRST_SHORT_WAIT_MS: i64 = 1_000;
/// Longest wait between two orders without a request of the authority, in milliseconds.
const LONGEST_WAIT_MS: i64 = 12 * 60 * MINUTE_MS;
/// Longest wait that a `Retry-After` of the authority can cause, in milliseconds.
const LONGEST_ASKED_WAIT_MS: i64 = 7 * 24 * 60 * MINUTE_MS;
/// Maximum length of a stored reason, in characters.
const REASON_CHARACTERS: usize = 500;

words! {
    /// The state of a domain's certificate, as its owner sees it.
    pub enum CertificateStatus {
        /// No certificate is ordered: the domain is not active, or the server obtains no certificates.
        None,
        /// The first certificate has not been issued yet, and no order has failed.
        Issuing,
        /// There is a valid certificate.
        Active,
        /// There is no valid certificate, and the last order failed.
        Failed,
    }
}

/// The ways to prove control of a host name to a certificate authority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChallengeMethod {
    /// HTTP-01 (RFC 8555, section 8.3): a file at port 80.
    Http,
    /// TLS-ALPN-01 (RFC 8737): a certificate at port 443.
    TlsAlpn,
}

impl ChallengeMethod {
    /// The method for the next order. A failure may be due to a port that the authority cannot reach, so the next order
    /// uses the other one.
    #[must_use]
    pub const fn next(has_http_listener: bool, failures: u32) -> Self {
        if has_http_listener && failures.is_multiple_of(2) { Self::Http } else { Self::TlsAlpn }
    }
}

/// How long a failed order waits for the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderWait {
    /// As long as the authority asks for, in milliseconds.
    Asked(i64),
    /// Minutes, and longer after each failure.
    Growing,
    /// Seconds, and longer after each failure: the authority has rejected nonces, which it may do at any time (RFC 8555,
    /// section 6.5).
    Short,
}

/// The span in which a certificate is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CertificateValidity {
    /// The first moment.
    pub not_before: Timestamp,
    /// The last moment.
    pub not_after: Timestamp,
}

impl CertificateValidity {
    /// The time at which the certificate is renewed: after two thirds of its life.
    #[must_use]
    pub const fn renewal_at(self) -> Timestamp {
        let life_ms = self.not_after.ms_since(self.not_before);
        self.not_before.plus_ms(life_ms / 3 * 2 + life_ms % 3 * 2 / 3)
    }
}

/// The certificate of a domain and the state of its orders, without the certificate itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFacts {
    /// Validity of the certificate; `None` before the first one is issued.
    pub validity: Option<CertificateValidity>,
    /// Number of orders since the last certificate that failed, or did not end.
    pub failures: u32,
    /// The reason of the last failure since the last certificate; `None` without one.
    pub last_error: Option<String>,
    /// Time of the next order.
    pub due_at: Timestamp,
}

/// A certificate as its owner is shown it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateSummary {
    /// State of the certificate.
    pub status: CertificateStatus,
    /// End of its validity.
    pub not_after: Option<Timestamp>,
    /// The reason of the last failure since the last certificate.
    pub last_error: Option<String>,
}

impl CertificateSummary {
    /// What the owner of a domain without a certificate is shown, and of one whose certificate is not served.
    #[must_use]
    pub const fn none() -> Self {
        Self { status: CertificateStatus::None, not_after: None, last_error: None }
    }

    /// What the owner of an active domain is shown by a server that obtains certificates.
    #[must_use]
    pub fn of(facts: Option<CertificateFacts>, now: Timestamp) -> Self {
        let Some(CertificateFacts { validity, last_error, .. }) = facts else {
            return Self { status: CertificateStatus::Issuing, ..Self::none() };
        };
        let not_after = validity.map(|validity| validity.not_after);
        let status = match &last_error {
            _ if not_after.is_some_and(|end| end > now) => CertificateStatus::Active,
            Some(_) => CertificateStatus::Failed,
            None => CertificateStatus::Issuing,
        };
        Self { status, not_after, last_error }
    }
}

impl CertificateFacts {
    /// The state while an order is under way: if its end is never stored, it counts as failed.
    #[must_use]
    pub fn begin_order(before: Option<Self>, now: Timestamp) -> Self {
        let before = before.unwrap_or(Self { validity: None, failures: 0, last_error: None, due_at: now });
        let failures = before.failures.saturating_add(1);
        Self { failures, due_at: now.plus_ms(wait_ms(failures)), ..before }
    }

    /// The state after a failed order.
    #[must_use]
    pub fn failed(self, reason: &str, wait: OrderWait, now: Timestamp) -> Self {
        let wait_ms = match wait {
            // A wait that is over already must not lead to one order after the other.
            OrderWait::Asked(ms) if ms < 1_000 => wait_ms(self.failures),
            OrderWait::Asked(ms) => ms.min(LONGEST_ASKED_WAIT_MS),
            OrderWait::Growing => wait_ms(self.failures),
            OrderWait::Short => (FIRST_SHORT_WAIT_MS << doublings(self.failures)).min(LONGEST_WAIT_MS),
        };
        let reason = reason.chars().filter(|letter| !letter.is_control()).take(REASON_CHARACTERS).collect();
        Self { last_error: Some(reason), due_at: now.plus_ms(wait_ms), ..self }
    }

    /// The state after a certificate was issued.
    #[must_use]
    pub const fn issued(validity: CertificateValidity) -> Self {
        Self { validity: Some(validity), failures: 0, last_error: None, due_at: validity.renewal_at() }
    }
}

fn wait_ms(failures: u32) -> i64 {
    (FIRST_WAIT_MS << doublings(failures)).min(LONGEST_WAIT_MS)
}

fn doublings(failures: u32) -> u32 {
    failures.saturating_sub(1).min(16)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use CertificateStatus::{Active, Failed, Issuing};
    use ChallengeMethod::{Http, TlsAlpn};

    const NOW: Timestamp = Timestamp::from_ms(1_000_000_000);

    fn facts(not_after_ms: Option<i64>, last_error: Option<&str>) -> CertificateFacts {
        let validity = not_after_ms
            .map(|ms| CertificateValidity { not_before: Timestamp::from_ms(0), not_after: NOW.plus_ms(ms) });
        let last_error = last_error.map(str::to_owned);
        CertificateFacts { validity, failures: 0, last_error, due_at: NOW }
    }

    /// Contract 4.15: the state of the certificate of an active domain.
    #[rstest]
    #[case::no_order_yet(None, Issuing)]
    #[case::first_order(Some(facts(None, None)), Issuing)]
    #[case::failed(Some(facts(None, Some("no"))), Failed)]
    #[case::valid(Some(facts(Some(1), None)), Active)]
    #[case::valid_but_not_renewed(Some(facts(Some(1), Some("no"))), Active)]
    #[case::expired(Some(facts(Some(0), Some("no"))), Failed)]
    #[case::expired_while_the_server_was_off(Some(facts(Some(0), None)), Issuing)]
    fn the_owner_sees_the_state(
        #[case] facts: Option<CertificateFacts>,
        #[case] expected: CertificateStatus,
    ) {
        let summary = CertificateSummary::of(facts.clone(), NOW);
        assert_eq!(summary.status, expected);
        assert_eq!(summary.last_error, facts.and_then(|facts| facts.last_error));
    }

    #[rstest]
    #[case(0, 90 * 24, 60 * 24)]
    #[case(0, 6 * 24, 4 * 24)]
    #[case(24, 24 + 3, 24 + 2)]
    fn a_certificate_is_renewed_at_two_thirds_of_its_life(
        #[case] begin: i64,
        #[case] end: i64,
        #[case] renewal: i64,
    ) {
        let hour = |number: i64| Timestamp::from_ms(number * 60 * MINUTE_MS);
        let validity = CertificateValidity { not_before: hour(begin), not_after: hour(end) };
        assert_eq!(CertificateFacts::issued(validity).due_at, hour(renewal));
    }

    #[test]
    fn waits_grow_up_to_a_limit() {
        let mut known = None;
        let mut minutes = Vec::new();
        for _ in 0..10 {
            let facts = CertificateFacts::begin_order(known.take(), NOW);
            let before_the_end = facts.due_at;
            let failed = facts.failed("no", OrderWait::Growing, NOW);
            assert_eq!(failed.due_at, before_the_end, "an order whose end is unknown waits as long");
            minutes.push(failed.due_at.ms_since(NOW) / MINUTE_MS);
            known = Some(failed);
        }
        assert_eq!(minutes, [5, 10, 20, 40, 80, 160, 320, 640, 720, 720]);
    }

    #[rstest]
    #[case(OrderWait::Growing, 5 * MINUTE_MS)]
    #[case(OrderWait::Short, 1_000)]
    #[case(OrderWait::Asked(1_000), 1_000)]
    #[case(OrderWait::Asked(36 * 60 * MINUTE_MS), 36 * 60 * MINUTE_MS)]
    #[case(OrderWait::Asked(i64::MAX), LONGEST_ASKED_WAIT_MS)]
    #[case(OrderWait::Asked(-5), 5 * MINUTE_MS)]
    fn the_authority_decides_how_long_to_wait(#[case] wait: OrderWait, #[case] expected_ms: i64) {
        let failed = CertificateFacts::begin_order(None, NOW).failed("a\nb", wait, NOW);
        assert_eq!(failed.due_at.ms_since(NOW), expected_ms);
        assert_eq!(failed.last_error.as_deref(), Some("ab"));
    }

    /// Without a listener for HTTP only TLS-ALPN-01 is possible; with one, the methods take turns after failures.
    #[rstest]
    #[case(true, &[Http, TlsAlpn, Http, TlsAlpn])]
    #[case(false, &[TlsAlpn, TlsAlpn, TlsAlpn, TlsAlpn])]
    fn methods_take_turns(#[case] has_http: bool, #[case] expected: &[ChallengeMethod]) {
        let methods: Vec<_> = (0..4).map(|failures| ChallengeMethod::next(has_http, failures)).collect();
        assert_eq!(methods, expected);
    }
}
