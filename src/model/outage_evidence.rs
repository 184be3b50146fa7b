//! Evidence that a service of an incident is in trouble: since when, the newest failed check, and the locations that
//! saw it.
//!
//! It is read once, when the service joins its incident, and stored with it, so that every later message contains the
//! same without reading the history again. It is for members of the organisation; visitors of status pages never see
//! it.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::model::check::CheckStatus;
use crate::model::history::StoredCheck;

/// Maximum number of services of an incident that have evidence: those that joined first.
pub const SERVICES_MAX: usize = 50;
/// Maximum number of characters of the text of a failure.
pub const MESSAGE_LENGTH: usize = 300;
/// Maximum number of locations that are named on either side.
pub const LOCATIONS_MAX: usize = 20;
/// Maximum number of dependencies that are named.
pub const PARENTS_MAX: usize = 5;

/// Evidence that a service is in trouble.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutageEvidence {
    /// Start of the trouble: the first bad attempt, in milliseconds since 1970.
    pub since: i64,
    /// The target, as the API shows it; `None` for services without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Names of the services and tags that it depends on, [`PARENTS_MAX`] at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// The newest check that failed; `None` when the history could not be read, or holds none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_failure: Option<LastFailure>,
}

/// The newest check of a service that failed, and how the locations agree about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastFailure {
    /// Start of the check, in milliseconds since 1970.
    pub at: i64,
    /// The reason for machines: a code of the check history.
    pub error_code: String,
    /// The reason as a text, [`MESSAGE_LENGTH`] characters at most.
    pub error_message: String,
    /// Status of the answer of an HTTP check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_code: Option<u16>,
    /// Names of the locations whose newest check failed, [`LOCATIONS_MAX`] at most.
    #[serde(default)]
    pub failing_locations: Vec<String>,
    /// Names of the locations whose newest check did not fail, [`LOCATIONS_MAX`] at most.
    #[serde(default)]
    pub other_locations: Vec<String>,
}

impl LastFailure {
    /// The evidence in these checks of one service, newest first; `None` when none of them failed. `name_of` returns
    /// the name of a location by its code, and `None` for codes that are not a location, such as that of pings.
    ///
    /// A location fails if its newest check does. Should none fail at the moment, because the service goes up and
    /// down, the newest failure counts, and its location.
    #[must_use]
    pub fn from_checks(checks: &[StoredCheck], name_of: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let mut newest: Vec<&StoredCheck> = Vec::new();
        for check in checks {
            if newest.iter().all(|known| known.probe != check.probe) {
                newest.push(check);
            }
        }
        let has_failed = |check: &&StoredCheck| check.measurement.status != CheckStatus::Up;
        let rank = |check: &&StoredCheck| (check.measurement.status, check.checked_at);
        let failing = newest.iter().copied().filter(has_failed).max_by_key(rank);
        let last = failing.or_else(|| checks.iter().find(has_failed))?;
        let failure = last.measurement.failure.as_deref()?;
        let is_failing = |check: &StoredCheck| has_failed(&check) || check.probe == last.probe;
        newest.sort_by(|left, right| left.probe.cmp(&right.probe));
        let names = |are_failing: bool| {
            let those = newest.iter().filter(|check| is_failing(check) == are_failing);
            those.filter_map(|check| name_of(&check.probe)).take(LOCATIONS_MAX).collect()
        };
        Some(Self {
            at: last.checked_at.ms(),
            error_code: failure.code.as_str().to_owned(),
            error_message: failure.message.chars().take(MESSAGE_LENGTH).collect(),
            status_code: last.measurement.status_code,
            failing_locations: names(true),
            other_locations: names(false),
        })
    }

    /// The error in words: its code, its text, and the HTTP status where there is one.
    #[must_use]
    pub fn error(&self) -> String {
        let status = self.status_code.map(|status| format!("HTTP {status}"));
        let parts = [Some(self.error_code.clone()), Some(self.error_message.clone()), status];
        parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }
}

/// A time as messages write it: the time of the day where `now` is on the same day, with the date otherwise, in UTC.
#[must_use]
pub fn moment(ms: i64, now_ms: i64) -> String {
    let (text, now) = (Timestamp::from_ms(ms).to_string(), Timestamp::from_ms(now_ms).to_string());
    let (Some(date), Some(time)) = (text.get(..10), text.get(11..19)) else { return text };
    if now.starts_with(date) { format!("{time} UTC") } else { format!("{date} {time} UTC") }
}

/// Whole seconds from the first to the second time; 0 when the second is earlier.
#[must_use]
pub const fn seconds_between(from_ms: i64, to_ms: i64) -> i64 {
    let ms = to_ms.saturating_sub(from_ms);
    if ms < 0 { 0 } else { ms / 1_000 }
}

/// A duration as a text: its two largest units.
#[must_use]
pub fn duration(seconds: i64) -> String {
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min {} s", seconds % 60),
        (0, _, _) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::model::check::{CheckFailure, ErrorCode, Measurement, PhaseTimings};

    /// A check of a location at a time: `None` is up, otherwise the code of the failure.
    fn check(at: i64, probe: &str, failed: Option<ErrorCode>) -> StoredCheck {
        let status = if failed.is_some() { CheckStatus::Down } else { CheckStatus::Up };
        let measurement = Measurement {
            status,
            response_time: None,
            timings: PhaseTimings::default(),
            status_code: None,
            failure: failed.map(|code| Box::new(CheckFailure::new(code, "text"))),
        };
        let at = Timestamp::from_ms(at);
        StoredCheck { checked_at: at, probe: probe.to_owned(), scheduled_at: at, attempt: 1, measurement }
    }

    const REFUSED: Option<ErrorCode> = Some(ErrorCode::ConnectRefused);
    const TIMEOUT: Option<ErrorCode> = Some(ErrorCode::ConnectTimeout);

    /// Checks as (time, location, failure), and the expected time, code, failing and other locations.
    #[rstest]
    #[case::nothing(&[], None)]
    #[case::all_is_well(&[(1, "oslo", None)], None)]
    #[case::one_location(&[(2, "oslo", REFUSED), (1, "oslo", None)], Some((2, "connect_refused", "OSLO", "")))]
    #[case::one_of_two(&[(3, "oslo", REFUSED), (2, "paris", None)], Some((3, "connect_refused", "OSLO", "PARIS")))]
    #[case::the_newest_failure(&[(3, "paris", TIMEOUT), (2, "oslo", REFUSED)], Some((3, "connect_timeout", "OSLO PARIS", "")))]
    #[case::it_came_back_there(&[(4, "paris", None), (3, "paris", TIMEOUT), (2, "oslo", REFUSED)], Some((2, "connect_refused", "OSLO", "PARIS")))]
    #[case::up_and_down(&[(4, "oslo", None), (3, "oslo", TIMEOUT), (2, "paris", None)], Some((3, "connect_timeout", "OSLO", "PARIS")))]
    #[case::no_location(&[(2, "push", REFUSED)], Some((2, "connect_refused", "", "")))]
    fn a_failure_names_the_locations_that_saw_it(
        #[case] checks: &[(i64, &str, Option<ErrorCode>)],
        #[case] expected: Option<(i64, &str, &str, &str)>,
    ) {
        let checks: Vec<StoredCheck> =
            checks.iter().map(|(at, probe, failed)| check(*at, probe, *failed)).collect();
        let name_of = |code: &str| (code != "push").then(|| code.to_uppercase());
        let found = LastFailure::from_checks(&checks, name_of);
        let found = found.map(|failure| {
            let (failing, others) = (failure.failing_locations.join(" "), failure.other_locations.join(" "));
            (failure.at, failure.error_code, failing, others)
        });
        let expected = expected
            .map(|(at, code, failing, others)| (at, code.to_owned(), failing.to_owned(), others.to_owned()));
        assert_eq!(found, expected);
    }

    #[rstest]
    #[case(0, "0 s")]
    #[case(59, "59 s")]
    #[case(61, "1 min 1 s")]
    #[case(3_725, "1 h 2 min")]
    #[case(90_000, "1 d 1 h")]
    fn a_duration_has_two_units(#[case] seconds: i64, #[case] expected: &str) {
        assert_eq!(duration(seconds), expected);
    }

    #[rstest]
    #[case::the_same_day(1_700_000_000_000, 1_700_000_001_000, "22:13:20 UTC")]
    #[case::another_day(1_700_000_000_000, 1_700_100_000_000, "2023-11-14 22:13:20 UTC")]
    fn a_moment_has_a_date_on_other_days(#[case] ms: i64, #[case] now: i64, #[case] expected: &str) {
        assert_eq!(moment(ms, now), expected);
    }
}
