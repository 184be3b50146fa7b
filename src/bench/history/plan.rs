//! What one run of `watchkeeper bench history` measures: its flags, read once.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use crate::model::location::LocationCode;

/// Results of the floor at most: plain rows cost the same at any number that fits into memory.
const PLAIN_RESULTS: u64 = 1_000_000;

/// What one run measures.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    /// Results that are written.
    pub(super) results: u64,
    /// Services that they are of.
    pub(super) services: u32,
    /// Locations that check every service.
    pub(super) locations: u8,
    /// Seconds between two checks of a location.
    pub(super) interval_seconds: u32,
    /// Whether the API is measured too.
    pub(super) reads: bool,
    /// Results a second that are written while the API is read.
    pub(super) checks: u32,
    /// Days of the service that is read.
    pub(super) days: u32,
    /// Sizes of the history in results, smallest first; none: no curve.
    pub(super) curve: Vec<u64>,
    /// Where the curve is drawn.
    pub(super) plot: Option<PathBuf>,
    /// JSON instead of tables.
    pub(super) as_json: bool,
}

impl Plan {
    pub(super) fn of(arguments: &ArgMatches) -> Self {
        let number = |name: &str| arguments.get_one::<u32>(name).copied().unwrap_or(1);
        let mut curve: Vec<u64> = arguments.get_many::<u64>("curve").into_iter().flatten().copied().collect();
        curve.sort_unstable();
        curve.dedup();
        Self {
            results: arguments.get_one::<u64>("results").copied().unwrap_or(1),
            services: number("services"),
            locations: arguments.get_one::<u8>("locations").copied().unwrap_or(1),
            interval_seconds: number("interval"),
            reads: !arguments.get_flag("no-reads"),
            checks: number("checks"),
            days: number("days"),
            curve,
            plot: arguments.get_one::<PathBuf>("plot").cloned(),
            as_json: arguments.get_flag("json"),
        }
    }

    /// Results of the floor.
    pub(super) fn plain_results(&self) -> u64 {
        self.results.min(PLAIN_RESULTS)
    }

    /// Milliseconds between two checks of a location.
    pub(super) fn interval_ms(&self) -> u32 {
        self.interval_seconds.saturating_mul(1_000)
    }

    /// The codes of the locations.
    pub(super) fn codes(&self) -> anyhow::Result<Vec<LocationCode>> {
        (1..=self.locations).map(|number| Ok(location_code(number).parse()?)).collect()
    }
}

/// The code of a location by its number.
pub(super) fn location_code(number: u8) -> String {
    format!("place-{number}")
}

/// `watchkeeper bench history` and its flags.
pub(super) fn command() -> Command {
    let number = |name: &'static str, default: &'static str, help: &'static str| {
        let range = value_parser!(u32).range(1..=1_000_000);
        Arg::new(name).long(name).value_name("N").default_value(default).value_parser(range).help(help)
    };
    Command::new("history")
        .about("Measure the history: results a second, bytes a check, reads, beside plain rows")
        .long_about(
            "Measure the history with the real recorder and the real compactor in a temporary folder, or where \
             --history-url says: results of realistic shape are written, sealed and merged on simulated time, and are \
             durable, beside the same results as plain rows with an index. Then a real `watchkeeper serve` in another \
             process is asked for a service with a long history while it writes results of others.\n\n\
             With --curve the cost of a check is shown as the history grows, without reads over the API.",
        )
        .args([
            Arg::new("results")
                .long("results")
                .value_name("N")
                .default_value("6000000")
                .value_parser(value_parser!(u64).range(1..=1_000_000_000))
                .help("Results that are written"),
            number("services", "150", "Services that they are of"),
            number("interval", "60", "Simulated seconds between two checks of a service"),
            Arg::new("locations")
                .long("locations")
                .value_name("N")
                .default_value("3")
                .value_parser(value_parser!(u8).range(1..=50))
                .help("Locations that check every service"),
            number("days", "90", "Days of history of the service that is read"),
            number("checks", "2000", "Results a second that are written while it is read"),
            Arg::new("no-reads").long("no-reads").action(ArgAction::SetTrue).help("Do not measure reads"),
        ])
        .args([
            Arg::new("curve")
                .long("curve")
                .value_name("MILLIONS")
                .value_delimiter(',')
                .value_parser(millions)
                .help("Measure the cost of a check at these sizes, in millions of results: 1,3,10,30,100"),
            Arg::new("plot")
                .long("plot")
                .value_name("FILE")
                .requires("curve")
                .value_parser(value_parser!(PathBuf))
                .help("Draw the curve into this SVG file"),
            Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print JSON for machines"),
        ])
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
    use super::*;

    fn plan(flags: &[&str]) -> Result<Plan, clap::Error> {
        let arguments = std::iter::once("history").chain(flags.iter().copied());
        command().try_get_matches_from(arguments).map(|matches| Plan::of(&matches))
    }

    #[test]
    fn without_flags_the_promise_is_measured() {
        let plan = plan(&[]).unwrap();
        assert_eq!((plan.services, plan.locations, plan.interval_seconds), (150, 3, 60));
        assert_eq!((plan.days, plan.checks, plan.plain_results()), (90, 2_000, 1_000_000));
        assert!(plan.reads && plan.curve.is_empty() && !plan.as_json);
    }

    #[test]
    fn a_curve_has_growing_sizes() {
        let plan = plan(&["--curve", "10,0.02,3,10", "--plot", "a.svg", "--json"]).unwrap();
        assert_eq!(
            (plan.curve, plan.plot, plan.as_json),
            (vec![20_000, 3_000_000, 10_000_000], Some("a.svg".into()), true)
        );
    }

    #[test]
    fn nonsense_is_refused() {
        for flags in
            [&["--plot", "a.svg"][..], &["--results", "0"], &["--curve", "0"], &["--locations", "51"]]
        {
            assert!(plan(flags).is_err(), "{flags:?}");
        }
    }
}
