//! Evidence that a service of an incident is failing: since when, the newest failed check, and the locations that saw the
//! failure.
//!
//! Evidence is read once, when the service joins its incident, and stored with the incident. So later messages contain the
//! same evidence without reading the history again. Members of the organisation see it; visitors of status pages do not.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::model::check::CheckStatus;
use crate::model::history::StoredCheck;

/// Maximum number of services of an incident for which evidence is stored: those that joined first.
pub const SERVICES_MAX: usize = 50;
/// Maximum number of characters of the error message of a failed check.
pub const MESSAGE_LENGTH: usize = 300;
/// Maximum number of failing locations that are named, and of other locations.
pub const LOCATIONS_MAX: usize = 20;
/// Maximum number of dependencies that are named.
pub const PARENTS_MAX: usize = 5;

/// Evidence that a service is failing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutageEvidence {
    /// Start of the failure in milliseconds since 1970: the first failed attempt.
    pub since: i64,
    /// The target as the API shows it; `None` for services without a target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Names of the services and tags that the service depends on, at most [`PARENTS_MAX`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// The newest check that failed; `None` if the history could not be read or has no failed check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_failure: Option<LastFailure>,
}

/// The newest failed check of a service, and the locations that agree with it or do not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastFailure {
    /// Start of the check, in milliseconds since 1970.
    pub at: i64,
    /// The error code, as in the check history.
    pub error_code: String,
    /// The error message, at most [`MESSAGE_LENGTH`] characters.
    pub error_message: String,
    /// Status code of the answer to an HTTP check; `None` without an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_code: Option<u16>,
    /// Names of the locations whose newest check failed, at most [`LOCATIONS_MAX`].
    #[serde(default)]
    pub failing_locations: Vec<String>,
    /// Names of the locations whose newest check did not fail, at most [`LOCATIONS_MAX`].
    #[serde(default)]
    pub other_locations: Vec<String>,
}

impl LastFailure {
    /// The evidence in these checks of one service, newest first; `None` if none of them failed. `name_of` returns the name
    /// of a location by its code, and `None` for codes that are not a location, such as the code of heartbeat pings.  A
    /// location is failing if its newest check failed. If no location is failing at the moment, because the service goes up
    /// and down, the newest failed check is used, and its location is named as failing.
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

    /// The error as a person reads it: its message, or its code if there is none.
    #[must_use]
    pub fn message(&self) -> &str {
        if self.error_message.is_empty() { &self.error_code } else { &self.error_message }
    }

    /// The error as text: its code, its message, and the HTTP status if there is one.
    #[must_use]
    pub fn error(&self) -> String {
        let status = self.status_code.map(|status| format!("HTTP {status}"));
        let parts = [Some(self.error_code.clone()), Some(self.error_message.clone()), status];
        parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }
}

/// A time as messages show it, in UTC: only the time of day if `now` is on the same day, otherwise with the date.
#[must_use]
pub fn moment(ms: i64, now_ms: i64) -> String {
    let (text, now) = (Timestamp::from_ms(ms).to_string(), Timestamp::from_ms(now_ms).to_string());
    let (Some(date), Some(time)) = (text.get(..10), text.get(11..19)) else { return text };
    if now.starts_with(date) { format!("{time} UTC") } else { format!("{date} {time} UTC") }
}

/// Whole seconds from `from_ms` to `to_ms`; 0 if `to_ms` is earlier.
#[must_use]
pub const fn seconds_between(from_ms: i64, to_ms: i64) -> i64 {
    let ms = to_ms.saturating_sub(from_ms);
    if ms < 0 { 0 } else { ms / 1_000 }
}

/// A duration as text, in its two largest units.
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

    /// A check of a location: `None` is up, otherwise the error code.
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

    /// Cases: checks as (time, location, error); the expected time, code, failing locations and other locations.
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
