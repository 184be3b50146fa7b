//! `watchkeeper bench console`: the console of an installation with this many services: bytes and times of its screens, and
//! how an open screen follows many changes, beside bare answers by the same web framework in the same run.

mod fixture;
mod operator;
mod report;

use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use indicatif::{ProgressBar, ProgressStyle};

use crate::bench::console::fixture::{ConsoleBenchPlan, ConsoleFixture};
use crate::config::Config;

/// `watchkeeper bench console` and its flags.
#[must_use]
pub fn command() -> Command {
    let number = |name: &'static str, default: &'static str, most: i64, help: &'static str| {
        let range = value_parser!(u32).range(1..=most);
        Arg::new(name).long(name).value_name("N").default_value(default).value_parser(range).help(help)
    };
    Command::new("console")
        .about("Measure the console: bytes and times of its screens, and how an open screen follows changes")
        .long_about(
            "Measure the console of a real `watchkeeper serve` in another process and a temporary folder, on one \
             connection of a signed-in user: the overview, the list of services, searches, and a changed service. Then \
             jobs fail at the same time while the list is open, as its script sees it: the bytes that the browser gets, and \
             the time until it shows all of them. Bare answers of the same size by the same web framework show what the \
             machine can do.\n\n\
             Client and server share the machine.",
        )
        .args([
            number("services", "20000", 1_000_000, "Services, which have tags and are not checked"),
            number("jobs", "1000", 10_000, "Jobs that fail at the same time"),
            number("repetitions", "50", 100_000, "Requests for each figure"),
            Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print JSON for machines"),
        ])
}

/// Measures and prints.
///
/// # Errors
/// When something cannot be started, or a request fails; the message is one line.
pub async fn run(arguments: &ArgMatches, config: &Config) -> anyhow::Result<ExitCode> {
    let number = |name: &str| arguments.get_one::<u32>(name).copied().unwrap_or(1);
    let plan = ConsoleBenchPlan {
        services: number("services"),
        jobs: number("jobs"),
        repetitions: number("repetitions"),
    };
    let bar = ProgressBar::new(u64::from(plan.services) + u64::from(plan.jobs));
    bar.set_style(ProgressStyle::with_template("{msg:10} {wide_bar} {pos}/{len} {eta}")?);
    let fixture = ConsoleFixture::build(&plan, config, &bar).await?;
    bar.finish_and_clear();
    let figures = fixture.measure(&plan).await?;
    if arguments.get_flag("json") {
        println!("{}", report::object(&figures));
    } else {
        println!("{}", report::table(&figures));
    }
    Ok(ExitCode::SUCCESS)
}
