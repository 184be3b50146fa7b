//! What locations found, in words: "cannot connect (connection refused)".

use crate::model::ballot::LocationBallot;
use crate::model::check::{CheckFailure, CheckStatus, ErrorCode};
use crate::verdict_texts::phrase_book::{PhraseBook, PhraseValue};
use crate::verdict_texts::status_words::vote_word;

/// Start of the message of a failure that a condition has caused.
const CONDITION_MET: &str = "Condition met: ";
/// Start of the same message if the condition is an upper limit of the response time.
const SLOW: &str = "response_time_ms gt";

/// Start of the measured value in the message.
const MEASURED: &str = " (measured ";

/// A limit of the response time, and a measured time above it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SlowAnswer {
    limit_ms: f64,
    measured_ms: f64,
}

impl SlowAnswer {
    /// Reads the message of a failure, for example `Condition met: response_time_ms gt 900 (measured 1240.4)`.
    fn from_failure(failure: &CheckFailure) -> Option<Self> {
        let condition = condition_of(failure)?.strip_prefix(SLOW)?;
        let condition = condition.strip_prefix('e').unwrap_or(condition);
        let (limit, measured) = condition.split_once(MEASURED)?;
        let number = |text: &str| text.trim().parse().ok();
        Some(Self { limit_ms: number(limit)?, measured_ms: number(measured.strip_suffix(')')?)? })
    }
}

fn condition_of(failure: &CheckFailure) -> Option<&str> {
    failure.message.strip_prefix(CONDITION_MET).filter(|_| failure.code == ErrorCode::ConditionFailed)
}

/// Locations with the same vote for the same reason.
#[derive(Clone, Debug)]
pub(super) struct VoteGroup<'a> {
    /// The vote of all of them.
    pub(super) status: CheckStatus,
    /// The ballots, in the order in which they are shown.
    pub(super) ballots: Vec<&'a LocationBallot>,
}

impl<'a> VoteGroup<'a> {
    /// The groups of these ballots, the largest first. Ballots without a vote are in no group.
    pub(super) fn of(ballots: &'a [LocationBallot]) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for ballot in ballots {
            let Some(status) = ballot.cast() else { continue };
            let is_same = |group: &&mut Self| {
                let other = group.ballots.first().and_then(|first| failure_of(first));
                group.status == status && signature(other) == signature(failure_of(ballot))
            };
            match groups.iter_mut().find(is_same) {
                Some(group) => group.ballots.push(ballot),
                None => groups.push(Self { status, ballots: vec![ballot] }),
            }
        }
        groups.sort_by_key(|group| std::cmp::Reverse(group.ballots.len()));
        groups
    }

    /// Names of the locations.
    pub(super) fn names(&self) -> Vec<&'a str> {
        self.ballots.iter().map(|ballot| ballot.location.as_str()).collect()
    }

    /// What these locations found, as the predicate of a sentence.
    pub(super) fn found(&self, book: &PhraseBook<'_>) -> String {
        let failures = self.ballots.iter().filter_map(|ballot| failure_of(ballot));
        let slow: Vec<SlowAnswer> = failures.filter_map(SlowAnswer::from_failure).collect();
        let count = self.ballots.len();
        match self.ballots.first().and_then(|ballot| failure_of(ballot)) {
            _ if self.status == CheckStatus::Up => {
                book.filled("reaches", &[PhraseValue::count("count", count)])
            }
            Some(failure) => failure_found(book, &FoundFailure { status: self.status, failure, count, slow }),
            None => {
                let status = vote_word(book, self.status);
                let values = [PhraseValue::count("count", count), PhraseValue::text("status", &status)];
                book.filled("sees-as", &values)
            }
        }
    }
}

/// A failure that some locations found.
struct FoundFailure<'a> {
    status: CheckStatus,
    failure: &'a CheckFailure,
    count: usize,
    slow: Vec<SlowAnswer>,
}

fn failure_found(book: &PhraseBook<'_>, found: &FoundFailure<'_>) -> String {
    let FoundFailure { status, failure, count, ref slow } = *found;
    let details = failure_details(book, failure);
    let status = vote_word(book, status);
    let (measured, limit) = (slowest(slow), limit_of(slow));
    let values = [
        PhraseValue::count("count", count),
        PhraseValue::text("details", &details),
        PhraseValue::text("status", &status),
        PhraseValue::text("measured", &measured),
        PhraseValue::text("limit", &limit),
    ];
    let phrase = if slow.is_empty() { predicate(failure.code) } else { "gets-slow-answers" };
    book.filled(phrase, &values)
}

/// The reason of a failure in a few words, for example "connection refused".
pub(super) fn failure_details(book: &PhraseBook<'_>, failure: &CheckFailure) -> String {
    match condition_of(failure) {
        Some(condition) => condition_words(book, condition),
        None if failure.code == ErrorCode::ConditionFailed => failure.message.to_string(),
        None => book.text(reason(failure.code)),
    }
}

fn condition_words(book: &PhraseBook<'_>, condition: &str) -> String {
    let parts =
        condition.split_once(MEASURED).and_then(|(limit, rest)| Some((limit, rest.strip_suffix(')')?)));
    let Some((limit, measured)) = parts else { return condition.to_owned() };
    let values = [PhraseValue::text("condition", limit), PhraseValue::text("measured", measured)];
    book.filled("condition-measured", &values)
}

/// The failure of the newest check of a location.
pub(super) fn failure_of(ballot: &LocationBallot) -> Option<&CheckFailure> {
    ballot.last_check.as_ref()?.measurement.failure.as_deref()
}

/// Failures with equal signatures are summarised.
fn signature(failure: Option<&CheckFailure>) -> Option<(ErrorCode, &str)> {
    let failure = failure?;
    // The measured value differs from check to check.
    let condition = condition_of(failure).map(|condition| condition.split(MEASURED).next());
    Some((failure.code, condition.flatten().unwrap_or_default()))
}

fn slowest(slow: &[SlowAnswer]) -> String {
    slow.iter().map(|answer| answer.measured_ms).fold(0.0, f64::max).round().to_string()
}

fn limit_of(slow: &[SlowAnswer]) -> String {
    slow.first().map(|answer| answer.limit_ms.to_string()).unwrap_or_default()
}

/// The phrase for what a location with this error cannot do.
const fn predicate(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::DnsNxdomain | ErrorCode::DnsServfail | ErrorCode::DnsTimeout | ErrorCode::DnsNoRecords => {
            "cannot-resolve"
        }
        ErrorCode::ConnectRefused
        | ErrorCode::ConnectTimeout
        | ErrorCode::ConnectReset
        | ErrorCode::ConnectUnreachable => "cannot-connect",
        ErrorCode::TlsExpired | ErrorCode::TlsUntrusted | ErrorCode::TlsHostname => "rejects-certificate",
        ErrorCode::TlsHandshake | ErrorCode::TlsLegacy => "cannot-secure",
        ErrorCode::HttpTimeout | ErrorCode::IcmpNoReply => "gets-no-answer",
        ErrorCode::HttpProtocol | ErrorCode::HttpRedirectLoop => "gets-bad-answer",
        ErrorCode::ConditionFailed => "gets-answer-that-counts",
        ErrorCode::DualstackPartial => "reaches-partly",
        ErrorCode::TargetBlocked
        | ErrorCode::HeartbeatMissed
        | ErrorCode::HeartbeatFail
        | ErrorCode::Internal
        | ErrorCode::BodyTruncated => "sees-because",
    }
}

/// The phrase for an error code.
const fn reason(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::DnsNxdomain => "error-dns-nxdomain",
        ErrorCode::DnsServfail => "error-dns-servfail",
        ErrorCode::DnsTimeout => "error-dns-timeout",
        ErrorCode::DnsNoRecords => "error-dns-no-records",
        ErrorCode::ConnectRefused => "error-connect-refused",
        ErrorCode::ConnectTimeout => "error-connect-timeout",
        ErrorCode::ConnectReset => "error-connect-reset",
        ErrorCode::ConnectUnreachable => "error-connect-unreachable",
        ErrorCode::TlsExpired => "error-tls-expired",
        ErrorCode::TlsUntrusted => "error-tls-untrusted",
        ErrorCode::TlsHostname => "error-tls-hostname",
        ErrorCode::TlsHandshake => "error-tls-handshake",
        ErrorCode::TlsLegacy => "error-tls-legacy",
        ErrorCode::HttpTimeout => "error-http-timeout",
        ErrorCode::HttpProtocol => "error-http-protocol",
        ErrorCode::HttpRedirectLoop => "error-http-redirect-loop",
        ErrorCode::IcmpNoReply => "error-icmp-no-reply",
        ErrorCode::ConditionFailed => "error-condition-failed",
        ErrorCode::TargetBlocked => "error-target-blocked",
        ErrorCode::DualstackPartial => "error-dualstack-partial",
        ErrorCode::HeartbeatMissed => "error-heartbeat-missed",
        ErrorCode::HeartbeatFail => "error-heartbeat-fail",
        ErrorCode::Internal => "error-internal",
        ErrorCode::BodyTruncated => "error-body-truncated",
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Condition met: response_time_ms gt 900 (measured 1240.4)", Some((900.0, 1_240.4)))]
    #[case("Condition met: response_time_ms gte 900 (measured 900)", Some((900.0, 900.0)))]
    #[case("Condition met: response_time_ms lt 900 (measured 12)", None)]
    #[case("Condition met: response_time_ms gt 900 (nothing measured)", None)]
    #[case("Condition met: status_code eq 500 (measured 500)", None)]
    #[case("response_time_ms gt 900 (measured 1240.4)", None)]
    fn a_limit_of_the_response_time_is_recognised(
        #[case] message: &str,
        #[case] expected: Option<(f64, f64)>,
    ) {
        let slow = SlowAnswer::from_failure(&CheckFailure::new(ErrorCode::ConditionFailed, message));
        assert_eq!(slow.map(|slow| (slow.limit_ms, slow.measured_ms)), expected);
    }
}
