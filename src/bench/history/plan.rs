//! The plan of one run of `watchkeeper bench history`, read from its flags.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::builder::RangedI64ValueParser;
use clap::{Args, value_parser};

use crate::model::location::LocationCode;

/// Maximum number of results of the floor: the cost of a plain row is the same for any number that fits into memory.
const PLAIN_RESULTS: u64 = 1_000_000;

const LONG_ABOUT: &str = "\
Measure the history with the real recorder and the real compactor in a temporary folder, or where --history-url says: \
results of realistic shape are written, sealed and merged on simulated time, and are durable, beside the same results as \
plain rows with an index. Then a real `watchkeeper serve` in another process is asked for a service with a long history \
while it writes results of others.

With --curve the cost of a check is shown as the history grows, without reads over the API.";

/// Measure the history: results a second, bytes a check, reads, beside plain rows
#[derive(Args, Clone, Debug, Default)]
#[command(long_about = LONG_ABOUT)]
pub(super) struct HistoryBenchPlan {
    /// Results that are written
    #[arg(long, value_name = "N", default_value_t = 6_000_000, value_parser = value_parser!(u64).range(1..=1_000_000_000))]
    pub(super) results: u64,
    /// Number of services that the results belong to
    #[arg(long, value_name = "N", default_value_t = 150, value_parser = number())]
    pub(super) services: u32,
    /// Simulated seconds between two checks of a service
    #[arg(long = "interval", value_name = "SECONDS", default_value_t = 60, value_parser = number())]
    pub(super) interval_seconds: u32,
    /// Locations that check every service
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = value_parser!(u8).range(1..=50))]
    pub(super) locations: u8,
    /// Days of history of the service that is read
    #[arg(long, value_name = "N", default_value_t = 90, value_parser = number())]
    pub(super) days: u32,
    /// Results a second of other services that are written during the reads
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = number())]
    pub(super) checks: u32,
    /// Maximum number of repetitions of a request
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = number())]
    pub(super) repetitions: u32,
    /// Do not measure reads
    #[arg(long)]
    pub(super) no_reads: bool,
    /// Measure the cost of a check at these sizes, in millions of results: 1,3,10,30,100
    #[arg(long, value_name = "MILLIONS", value_delimiter = ',', value_parser = millions)]
    pub(super) curve: Vec<u64>,
    /// Draw the curve into this SVG file
    #[arg(long, value_name = "FILE", requires = "curve")]
    pub(super) plot: Option<PathBuf>,
    /// Print JSON for machines
    #[arg(long = "json")]
    pub(super) as_json: bool,
}

fn number() -> RangedI64ValueParser<u32> {
    value_parser!(u32).range(1..=1_000_000)
}

impl HistoryBenchPlan {
    /// Returns the sizes of the curve in results, smallest first; empty without a curve.
    pub(super) fn sizes(&self) -> BTreeSet<u64> {
        self.curve.iter().copied().collect()
    }

    /// Returns the number of results of the floor.
    pub(super) fn plain_results(&self) -> u64 {
        self.results.min(PLAIN_RESULTS)
    }

    /// Returns the milliseconds between two checks of a location.
    pub(super) fn interval_ms(&self) -> u32 {
        self.interval_seconds.saturating_mul(1_000)
    }

    pub(super) fn codes(&self) -> anyhow::Result<Vec<LocationCode>> {
        (1..=self.locations).map(|number| Ok(location_code(number).parse()?)).collect()
    }
}

/// Returns the code of the location with this number.
pub(super) fn location_code(number: u8) -> String {
    format!("place-{number}")
}

fn millions(text: &str) -> Result<u64, &'static str> {
    let results = text.parse::<f64>().unwrap_or(f64::NAN) * 1e6;
    if !(1.0..=1e9).contains(&results) {
        return Err("a size is at most 1000 million results");
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was looked at")]
    Ok(results.round() as u64)
}

#[cfg(test)]
mod tests {
    use clap::{Command, FromArgMatches as _};

    use super::*;

    fn plan(flags: &[&str]) -> Result<HistoryBenchPlan, clap::Error> {
        let arguments = std::iter::once("history").chain(flags.iter().copied());
        let matches =
            HistoryBenchPlan::augment_args(Command::new("history")).try_get_matches_from(arguments)?;
        HistoryBenchPlan::from_arg_matches(&matches)
    }

    #[test]
    fn without_flags_the_documented_history_is_measured() {
        let plan = plan(&[]).unwrap();
        assert_eq!((plan.services, plan.locations, plan.interval_seconds), (150, 3, 60));
        assert_eq!((plan.days, plan.checks, plan.plain_results()), (90, 2_000, 1_000_000));
        assert!(!plan.no_reads && plan.curve.is_empty() && !plan.as_json);
    }

    #[test]
    fn a_curve_has_growing_sizes() {
        let plan = plan(&["--curve", "10,0.02,3,10", "--plot", "a.svg", "--json"]).unwrap();
        assert_eq!(
            (plan.sizes(), plan.plot, plan.as_json),
            (BTreeSet::from([20_000, 3_000_000, 10_000_000]), Some("a.svg".into()), true)
        );
    }

    #[test]
    fn invalid_flags_are_refused() {
        for flags in
            [&["--plot", "a.svg"][..], &["--results", "0"], &["--curve", "0"], &["--locations", "51"]]
        {
            assert!(plan(flags).is_err(), "{flags:?}");
        }
    }
}
