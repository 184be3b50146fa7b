//! `watchkeeper bench page`: a status page for many visitors, beside bare answers of the same size by the same web
//! framework in the same run.

mod fixture;
mod report;

use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use crate::bench::page::fixture::{PageBenchPlan, PageFixture};
use crate::config::Config;

/// `watchkeeper bench page` and its flags.
#[must_use]
pub fn command() -> Command {
    let number = |name: &'static str, default: &'static str, most: i64, help: &'static str| {
        let range = value_parser!(u32).range(1..=most);
        Arg::new(name).long(name).value_name("N").default_value(default).value_parser(range).help(help)
    };
    Command::new("page")
        .about("Measure a status page: requests a second, and the first answer after a change")
        .long_about(
            "Measure a status page of a real `watchkeeper serve` in another process and a temporary folder, over \
             keep-alive connections: the page from memory, compressed; the same for visitors who have it already \
             (`If-None-Match`); and the first answer after a change, on one connection. Bare answers of the same size \
             and bare 304s by the same web framework show what the machine can do.\n\n\
             Client and server share the machine.",
        )
        .args([
            number("components", "100", 1_000, "Components of the page"),
            number("connections", "64", 10_000, "Connections that are kept alive"),
            number("changes", "20", 10_000, "Changes after which the page is read"),
            number("seconds", "5", 3_600, "Length of each measurement"),
            Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print JSON for machines"),
        ])
}

/// Measures and prints; succeeds if no request failed.
///
/// # Errors
/// When something cannot be started; the message is one line.
pub async fn run(arguments: &ArgMatches, config: &Config) -> anyhow::Result<ExitCode> {
    let number = |name: &str| arguments.get_one::<u32>(name).copied().unwrap_or(1);
    let plan = PageBenchPlan {
        components: number("components"),
        connections: number("connections"),
        changes: number("changes"),
        seconds: number("seconds"),
    };
    let fixture = PageFixture::build(&plan, config).await?;
    let figures = fixture.measure(&plan).await?;
    if arguments.get_flag("json") {
        println!("{}", report::object(&figures));
    } else {
        println!("{}", report::table(&figures));
    }
    Ok(if figures.failed() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
