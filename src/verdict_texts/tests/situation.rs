//! Situations for tests: a service with votes that are written as text.

use std::num::NonZeroU32;

use crate::clock::Timestamp;
use crate::model::ballot::{LocationBallot, VoteAbsence, VoteExclusion, VoteState};
use crate::model::check::{
    CheckFailure, CheckStatus, CheckType, ErrorCode, LocalFault, Measurement, PhaseTimings,
};
use crate::model::history::{MeasuredStatus, StoredCheck};
use crate::model::status_rules::StatusRules;
use crate::model::verdict::Verdict;
use crate::verdict_texts::facts::VerdictFacts;

/// 2026-11-28 14:09:52 UTC.
pub(super) const NOW: Timestamp = Timestamp::from_ms(1_795_874_992_000);
/// 2026-11-28 14:03:07 UTC, 6 min 45 s before.
pub(super) const SINCE: Timestamp = ago(405);

/// The time this number of seconds before [`NOW`].
pub(super) const fn ago(seconds: i64) -> Timestamp {
    NOW.plus_ms(-seconds * 1_000)
}

/// A service that has had this status since [`SINCE`]. The votes are written as `Oslo=up Rome=refused Bern:stale`: an error
/// or a status after `=`, the reason of a missing vote after `:`.
pub(super) fn situation(verdict: Verdict, votes: &str) -> VerdictFacts {
    VerdictFacts {
        service: "Shop front".into(),
        target: Some("https://shop.example/health".into()),
        check_type: CheckType::Http,
        is_configured: true,
        now: NOW,
        verdict,
        measured: MeasuredStatus::from(verdict),
        since: Some(SINCE),
        cause: None,
        rules: StatusRules::default(),
        ballots: votes.split_whitespace().map(ballot).collect(),
        retries: Vec::new(),
        good_results: None,
        pause: None,
        stated: None,
        maintenance: None,
        unreachable: None,
        is_flapping: false,
        heartbeat: None,
        certificate_ends_at: None,
        owner_absence: None,
    }
}

impl VerdictFacts {
    /// The same situation with a change.
    pub(super) fn but(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

fn ballot(text: &str) -> LocationBallot {
    if let Some((location, reason)) = text.split_once(':') {
        let absence = absence(reason);
        let age = if matches!(absence, VoteAbsence::Stale | VoteAbsence::Offline) { 752 } else { 12 };
        let last_check = (absence != VoteAbsence::NotChecked).then(|| check(location, "up", age));
        return LocationBallot { location: location.into(), vote: VoteState::Absent(absence), last_check };
    }
    let (location, found) = text.split_once('=').expect("a vote or a reason");
    let last_check = check(location, found, 12);
    let vote = VoteState::Cast(last_check.measurement.status);
    LocationBallot { location: location.into(), vote, last_check: Some(last_check) }
}

fn absence(reason: &str) -> VoteAbsence {
    match reason {
        "new" => VoteAbsence::NotChecked,
        "stale" => VoteAbsence::Stale,
        "offline" => VoteAbsence::Offline,
        "suspect" => VoteAbsence::Excluded(VoteExclusion::Suspect),
        "cut-off" => VoteAbsence::Excluded(VoteExclusion::Impaired(LocalFault::LocationImpaired)),
        "blind" => VoteAbsence::Excluded(VoteExclusion::Impaired(LocalFault::ResolverUnavailable)),
        "outdated" => VoteAbsence::Outdated,
        "gone" => VoteAbsence::Withdrawn,
        other => panic!("no reason {other}"),
    }
}

fn check(location: &str, found: &str, age: i64) -> StoredCheck {
    let down = |code, message: &str| (CheckStatus::Down, Some(CheckFailure::new(code, message)));
    let (status, failure) = match found {
        "up" => (CheckStatus::Up, None),
        "imported" => (CheckStatus::Down, None),
        "slow" => (CheckStatus::Degraded, Some(slow("1240.4"))),
        "slower" => (CheckStatus::Degraded, Some(slow("2310"))),
        "partial" => {
            let failure = CheckFailure::new(ErrorCode::DualstackPartial, "No answer over IPv6");
            (CheckStatus::Degraded, Some(failure))
        }
        "http-500" => down(ErrorCode::ConditionFailed, "Condition met: status_code gte 500 (measured 500)"),
        "http-503" => down(ErrorCode::ConditionFailed, "Condition met: status_code gte 500 (measured 503)"),
        "refused" => down(ErrorCode::ConnectRefused, "Connection refused"),
        "timeout" => down(ErrorCode::ConnectTimeout, "No answer to the connection attempt"),
        "nxdomain" => down(ErrorCode::DnsNxdomain, "The name does not exist"),
        "expired" => down(ErrorCode::TlsExpired, "The certificate has expired"),
        "handshake" => down(ErrorCode::TlsHandshake, "The handshake failed"),
        "silent" => down(ErrorCode::HttpTimeout, "No complete response in time"),
        "garbage" => down(ErrorCode::HttpProtocol, "Not HTTP"),
        "no-reply" => down(ErrorCode::IcmpNoReply, "No reply"),
        "blocked" => down(ErrorCode::TargetBlocked, "The address is blocked"),
        other => panic!("no result {other}"),
    };
    let is_answered = status != CheckStatus::Down;
    let response_us = match found {
        "slow" => 1_240_400,
        "slower" => 2_310_000,
        _ => 142_000,
    };
    let measurement = Measurement {
        status,
        response_time: NonZeroU32::new(response_us).filter(|_| is_answered),
        timings: PhaseTimings::default(),
        status_code: None,
        failure: failure.map(Box::new),
    };
    let attempt = if is_answered { 1 } else { 3 };
    let checked_at = ago(age);
    StoredCheck { checked_at, probe: location.to_lowercase(), scheduled_at: checked_at, attempt, measurement }
}

fn slow(measured: &str) -> CheckFailure {
    let message = format!("Condition met: response_time_ms gt 900 (measured {measured})");
    CheckFailure::new(ErrorCode::ConditionFailed, message)
}
