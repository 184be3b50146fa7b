//! The figures of a range (contract 4.5): counts, and what the response times say.

use serde_json::{Value, json};

use crate::http::v1::history::tenths_ms;
use crate::stats::rollup::Sums;

/// `data` of the metrics.
pub(super) fn to_json(sums: &Sums, uptime: Option<f64>) -> Value {
    let summary = sums.times.summary();
    let percentile = |percent| sums.times.percentile_us(percent).map(|us| tenths_ms(f64::from(us)));
    json!({
        "uptime": uptime,
        "avg_ms": summary.map(|times| tenths_ms(times.mean_us())),
        "p50_ms": percentile(50.0),
        "p90_ms": percentile(90.0),
        "p95_ms": percentile(95.0),
        "p99_ms": percentile(99.0),
        "min_ms": summary.map(|times| tenths_ms(f64::from(times.min_us))),
        "max_ms": summary.map(|times| tenths_ms(f64::from(times.max_us))),
        "total_checks": sums.checks,
        "failed_checks": sums.failed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;
    use crate::model::history::Sample;

    #[test]
    fn without_data_figures_are_null_and_counts_zero() {
        let data = to_json(&Sums::default(), None);
        assert!(
            ["uptime", "avg_ms", "p50_ms", "p99_ms", "min_ms", "max_ms"]
                .iter()
                .all(|key| data[key].is_null())
        );
        assert_eq!((&data["total_checks"], &data["failed_checks"]), (&json!(0), &json!(0)));
    }

    #[test]
    fn unanswered_checks_count_but_have_no_time() {
        let mut sums = Sums::default();
        for (response_us, is_down) in [(Some(10_040), false), (None, true)] {
            let checked_at = Timestamp::from_ms(0);
            sums.add_sample(&Sample { checked_at, location: 1, is_down, response_us });
        }
        let data = to_json(&sums, Some(50.0));
        assert_eq!(data["avg_ms"], json!(10.0));
        assert_eq!((&data["total_checks"], &data["failed_checks"]), (&json!(2), &json!(1)));
        assert_eq!(data["uptime"], json!(50.0));
    }
}
