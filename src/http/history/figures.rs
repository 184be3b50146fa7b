//! The figures of a range (contract 4.5): counts, and what the response times say.

use serde_json::{Value, json};

use crate::http::history::pieces::Piece;
use crate::http::history::tenths_ms;
use crate::stats::histogram::ResponseTimes;

/// Sums over a range.
#[derive(Debug, Default)]
pub(super) struct Figures {
    checks: u64,
    failed: u64,
    times: ResponseTimes,
}

impl Figures {
    /// The sums of these pieces.
    pub(super) fn of(pieces: &[Piece]) -> Self {
        let mut figures = Self::default();
        for piece in pieces {
            let (checks, failed) = piece.counts();
            figures.checks += checks;
            figures.failed += failed;
            piece.add_to(&mut figures.times);
        }
        figures
    }

    /// `data` of the metrics.
    pub(super) fn to_json(&self, uptime: Option<f64>) -> Value {
        let summary = self.times.summary();
        let percentile = |percent| self.times.percentile_us(percent).map(|us| tenths_ms(f64::from(us)));
        json!({
            "uptime": uptime,
            "avg_ms": summary.map(|sums| tenths_ms(sums.mean_us())),
            "p50_ms": percentile(50.0),
            "p90_ms": percentile(90.0),
            "p95_ms": percentile(95.0),
            "p99_ms": percentile(99.0),
            "min_ms": summary.map(|sums| tenths_ms(f64::from(sums.min_us))),
            "max_ms": summary.map(|sums| tenths_ms(f64::from(sums.max_us))),
            "total_checks": self.checks,
            "failed_checks": self.failed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;
    use crate::model::history::Sample;

    #[test]
    fn without_data_figures_are_null_and_counts_zero() {
        let data = Figures::of(&[]).to_json(None);
        assert!(
            ["uptime", "avg_ms", "p50_ms", "p99_ms", "min_ms", "max_ms"]
                .iter()
                .all(|key| data[key].is_null())
        );
        assert_eq!((&data["total_checks"], &data["failed_checks"]), (&json!(0), &json!(0)));
    }

    #[test]
    fn unanswered_checks_count_but_have_no_time() {
        let sample = |response_us, is_down| {
            Piece::Sample(Sample { checked_at: Timestamp::from_ms(0), location: 1, is_down, response_us })
        };
        let data = Figures::of(&[sample(Some(10_040), false), sample(None, true)]).to_json(Some(50.0));
        assert_eq!(data["avg_ms"], json!(10.0));
        assert_eq!((&data["total_checks"], &data["failed_checks"]), (&json!(2), &json!(1)));
        assert_eq!(data["uptime"], json!(50.0));
    }
}
