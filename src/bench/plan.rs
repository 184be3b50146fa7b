//! The plan of one run of `watchkeeper bench probe`, read from its flags.
//!
//! Given targets are used as they are; for a kind without targets the run starts its own (see `target_process`).

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use crate::bench::kind::BenchKind;

/// The plan of one run.
#[derive(Clone, Debug)]
pub(super) struct ProbeBenchPlan {
    /// Kinds, measured one after the other.
    pub(super) kinds: Vec<BenchKind>,
    /// Number of watched services.
    pub(super) services: u32,
    /// Seconds between two checks of one location.
    pub(super) interval_seconds: u32,
    /// Time between the start of the services and the window, in seconds.
    pub(super) warmup_seconds: u32,
    /// Length of the window, in seconds.
    pub(super) seconds: u32,
    /// Number of locations that check every service.
    pub(super) locations: u8,
    /// Targets of the services; if empty, the run starts its own target.
    pub(super) targets: Vec<String>,
    /// True for JSON instead of a table.
    pub(super) as_json: bool,
}

impl ProbeBenchPlan {
    pub(super) fn of(arguments: &ArgMatches) -> Self {
        let number = |name: &str| arguments.get_one::<u32>(name).copied().unwrap_or(1);
        let warmup = arguments.get_one::<u32>("warmup").copied();
        Self {
            kinds: arguments.get_one::<Vec<BenchKind>>("type").cloned().unwrap_or_default(),
            services: number("services"),
            interval_seconds: number("interval"),
            warmup_seconds: warmup.unwrap_or_else(|| number("interval")),
            seconds: number("seconds"),
            locations: arguments.get_one::<u8>("locations").copied().unwrap_or(1),
            targets: arguments.get_many::<String>("target").into_iter().flatten().cloned().collect(),
            as_json: arguments.get_flag("json"),
        }
    }

    /// Returns the number of checks that are due in `seconds`.
    pub(super) fn due_in(&self, seconds: f64) -> f64 {
        f64::from(self.services) * f64::from(self.locations) * seconds / f64::from(self.interval_seconds)
    }
}

/// `watchkeeper bench probe` and its flags.
pub(super) fn command() -> Command {
    let number = |name: &'static str, default: &'static str, help: &'static str| {
        let range = value_parser!(u32).range(1..=10_000_000);
        Arg::new(name).long(name).value_name("N").default_value(default).value_parser(range).help(help)
    };
    Command::new("probe")
        .about("Measure checks from due to durable: rate, punctuality, CPU, memory, bytes")
        .long_about(
            "Measure checks from due to durable with the real engine, recorder and database (in a temporary folder, or \
             where --history-url says), beside the bare exchange without Watchkeeper in the same run. Checks are due by \
             their services' phases; the window starts one interval after the services did, or --warmup seconds after.\n\n\
             Services are spread over the --target addresses. Without any, a target is started as another process on \
             127.0.1.1 to 127.0.1.16; pings go to 127.1.0.0/16. DNS targets are names, asked of \
             --probe-dns-servers when targets are given.",
        )
        .args([
            Arg::new("type")
                .long("type")
                .value_name("TYPE")
                .default_value("http")
                .value_parser(kinds)
                .help("http, https, http2, tcp, dns, icmp, ssl or all"),
            number("services", "20000", "Services that are watched"),
            number("interval", "10", "Seconds between two checks of a service"),
            Arg::new("warmup")
                .long("warmup")
                .value_name("N")
                .value_parser(value_parser!(u32).range(1..=10_000_000))
                .help("Seconds before the measured window [default: one interval]"),
            number("seconds", "10", "Length of the measured window"),
            Arg::new("locations")
                .long("locations")
                .value_name("N")
                .default_value("1")
                .value_parser(value_parser!(u8).range(1..=50))
                .help("Locations that check every service"),
            Arg::new("target")
                .long("target")
                .value_name("TARGET")
                .action(ArgAction::Append)
                .help("What is checked, in the form of the type; may be given several times"),
            Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print JSON for machines"),
        ])
}

fn kinds(text: &str) -> Result<Vec<BenchKind>, String> {
    if text == "all" {
        return Ok(BenchKind::ALL.to_vec());
    }
    text.parse().map(|kind| vec![kind]).map_err(|unknown| format!("{unknown}, all"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(flags: &[&str]) -> Result<ProbeBenchPlan, clap::Error> {
        let arguments = std::iter::once("probe").chain(flags.iter().copied());
        command().try_get_matches_from(arguments).map(|matches| ProbeBenchPlan::of(&matches))
    }

    #[test]
    fn without_flags_twenty_thousand_http_services_are_measured() {
        let plan = plan(&[]).unwrap();
        assert_eq!((plan.kinds.as_slice(), plan.services), ([BenchKind::Http].as_slice(), 20_000));
        assert_eq!((plan.interval_seconds, plan.seconds, plan.locations), (10, 10, 1));
        assert_eq!(plan.warmup_seconds, 10);
        assert!(plan.targets.is_empty() && !plan.as_json);
    }

    #[test]
    fn flags_are_read() {
        let flags = [
            "--type",
            "all",
            "--services",
            "6",
            "--interval",
            "3",
            "--warmup",
            "7",
            "--locations",
            "2",
            "--target",
            "a",
            "--target",
            "b",
        ];
        let plan = plan(&flags).unwrap();
        assert_eq!(plan.kinds, BenchKind::ALL);
        assert_eq!((plan.targets.as_slice(), plan.warmup_seconds), (["a".into(), "b".into()].as_slice(), 7));
        assert!((plan.due_in(10.0) - 40.0).abs() < f64::EPSILON);
    }

    #[test]
    fn invalid_flags_are_refused() {
        for flags in [["--type", "smtp"], ["--services", "0"], ["--interval", "0.5"], ["--locations", "51"]] {
            assert!(plan(&flags).is_err(), "{flags:?}");
        }
    }
}
