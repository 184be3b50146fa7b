//! Reads from which locations a service was reached, by its newest checks.

use crate::clock::{DAY_MS, Timestamp};
use crate::model::check::CheckStatus;
use crate::model::history::StoredCheck;
use crate::model::service::ServiceKey;
use crate::store::HistoryError;
use crate::store::history::History;
use crate::store::history::checks::{self, CheckFilter};

/// Number of checks among which those of the locations are found.
const CHECKS: u64 = 100;

/// The newest check of a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocationResult {
    /// Code of the location.
    pub location: String,
    /// True if the service answered as it should.
    pub has_reached: bool,
    /// Start of the check.
    pub at: Timestamp,
}

/// Reads the newest check of each location in the last day, by the code of the location.
///
/// # Errors
/// When the history database fails.
pub async fn read(
    history: &History,
    service: ServiceKey,
    now: Timestamp,
) -> Result<Vec<LocationResult>, HistoryError> {
    let filter = CheckFilter { from: Some(now.plus_ms(-DAY_MS)), ..CheckFilter::default() };
    Ok(newest(&checks::page(history, service, &filter, CHECKS).await?))
}

/// Returns the newest check of each location; `checks` are newest first.
fn newest(checks: &[StoredCheck]) -> Vec<LocationResult> {
    let mut found: Vec<LocationResult> = Vec::new();
    for check in checks {
        if found.iter().all(|known| known.location != check.probe) {
            found.push(LocationResult {
                location: check.probe.clone(),
                has_reached: check.measurement.status != CheckStatus::Down,
                at: check.checked_at,
            });
        }
    }
    found.sort_by(|a, b| a.location.cmp(&b.location));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::check::{ErrorCode, Measurement, PhaseTimings};

    #[test]
    fn the_newest_check_of_each_location_counts() {
        let check = |ms: i64, probe: &str, status: CheckStatus| StoredCheck {
            checked_at: Timestamp::from_ms(ms),
            probe: probe.to_owned(),
            scheduled_at: Timestamp::from_ms(ms),
            attempt: 1,
            measurement: Measurement {
                status,
                ..Measurement::unanswered(ErrorCode::DnsTimeout, "", PhaseTimings::default())
            },
        };
        let checks = [
            check(30, "b", CheckStatus::Down),
            check(20, "a", CheckStatus::Degraded),
            check(10, "b", CheckStatus::Up),
        ];
        let found = newest(&checks).into_iter().map(|one| (one.location, one.has_reached, one.at.ms()));
        assert_eq!(found.collect::<Vec<_>>(), [("a".to_owned(), true, 20), ("b".to_owned(), false, 30)]);
    }
}
