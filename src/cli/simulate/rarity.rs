//! Warns when the stored results are less frequent than the simulated checks, because one result is then used for several
//! checks.

use crate::cli::simulate::answer::SimulationReply;
use crate::cli::simulate::picture::time;

/// Minimum ratio of the time between two results to the interval for a warning.
const RARE: f64 = 2.0;

/// Returns the warning if the results of all locations that are used are too far apart.
///
/// # Errors
///
/// When a time in the server's response is invalid.
pub(super) fn warning(simulation: &SimulationReply, interval_seconds: f64) -> anyhow::Result<Option<String>> {
    let most = simulation.locations.iter().filter(|location| location.used).map(|location| location.results);
    let Some(most) = most.max().filter(|results| *results > 0) else { return Ok(None) };
    let period_ms = time(&simulation.period.to)?.ms() - time(&simulation.period.from)?.ms();
    #[expect(clippy::cast_precision_loss, reason = "a few million results in a few months")]
    let (period, most) = (period_ms as f64 / 1_000.0, most as f64);
    // Distant results leave no-data periods between them in the recorded past, which the simulated checks fill; time
    // without any results is no-data in both.
    let no_data = simulation.before.no_data_seconds.min(simulation.after.no_data_seconds);
    let apart = (period - no_data).max(0.0) / most;
    Ok((apart > RARE * interval_seconds).then(|| {
        format!(
            "Results are rarer than the interval: one in {apart:.0} s, and a check is due every {interval_seconds:.0} s. Each result \
            counts again until the next one, so retries and recovery_checks cost less here than they would."
        )
    }))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn simulation(results: u64, no_data_seconds: (f64, f64)) -> SimulationReply {
        let account = |no_data_seconds: f64| -> Value {
            json!({
            "status_at_start": "up", "status_changes": [], "incidents": [], "outages": 0, "uptime_percentage": 100.0,
            "down_seconds": 0.0, "degraded_seconds": 0.0, "no_data_seconds": no_data_seconds, "detection_seconds": null,
            })
        };
        let answer = json!({
            "period": {"from": "2026-11-01T00:00:00.000Z", "to": "2026-11-01T01:00:00.000Z"},
            "results": results, "before": account(no_data_seconds.0), "after": account(no_data_seconds.1),
            "locations": [
                {"code": "a", "results": results, "used": true}, {"code": "b", "results": 9_999, "used": false},
            ],
            "fidelity": {"differing_seconds": 0.0, "agreement_percentage": 100.0},
        });
        serde_json::from_value(answer).unwrap()
    }

    #[rstest]
    #[case::ten_minutes_apart(6, (3_550.0, 0.0), 5.0, Some("one in 600 s, and a check is due every 5 s"))]
    #[case::as_often_as_due(720, (0.0, 0.0), 5.0, None)]
    #[case::most_of_it_has_no_data(60, (3_300.0, 3_300.0), 5.0, None)]
    #[case::nothing_is_stored(0, (0.0, 0.0), 5.0, None)]
    fn rare_results_cause_a_warning(
        #[case] results: u64,
        #[case] no_data_seconds: (f64, f64),
        #[case] interval_seconds: f64,
        #[case] words: Option<&str>,
    ) {
        let warning = warning(&simulation(results, no_data_seconds), interval_seconds).unwrap();
        assert_eq!(warning.is_some(), words.is_some(), "{warning:?}");
        assert!(words.is_none_or(|words| warning.unwrap().contains(words)));
    }
}
