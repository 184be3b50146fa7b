//! `watchkeeper bench api`: requests a second of the real server, over keep-alive connections, with checks beside.
//!
//! The server is `watchkeeper serve` in a process and a folder of its own, filled through its own API. The floor is a bare
//! read by key from SQLite behind the same web framework, in the same run: machines are noisy, ratios are less so.

pub(in crate::bench) mod crowd;
mod fixture;
mod plan;
mod report;

pub mod floor;

use std::process::ExitCode;

use clap::{ArgMatches, Command};
use indicatif::{ProgressBar, ProgressStyle};

use crate::bench::api::fixture::Fixture;
use crate::bench::api::plan::Plan;
use crate::config::Config;

/// `watchkeeper bench api` and its flags.
#[must_use]
pub fn command() -> Command {
    plan::command()
}

/// Measures and prints; succeeds when no request failed.
///
/// # Errors
/// What could not be started, in one line.
pub async fn run(arguments: &ArgMatches, config: &Config) -> anyhow::Result<ExitCode> {
    let plan = Plan::of(arguments);
    let bar = progress(&plan);
    let fixture = Fixture::build(&plan, config, &bar).await?;
    let mut measured = Vec::new();
    for question in plan.questions() {
        bar.set_message(question.as_str());
        measured.push(fixture.measure(question, &plan).await?);
        bar.inc(u64::from(plan.seconds));
    }
    let checks = fixture.checks_per_second().await?;
    bar.finish_and_clear();
    if plan.as_json {
        println!("{}", report::object(&measured, checks));
    } else {
        println!("{}", report::table(&measured, checks));
    }
    let is_clean = measured.iter().all(|figures| figures.failed == 0 && figures.answered > 0);
    Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Hidden where nobody looks at it: without a terminal, and for machines.
fn progress(plan: &Plan) -> ProgressBar {
    if plan.as_json {
        return ProgressBar::hidden();
    }
    let seconds = u64::from(plan.seconds) * plan.questions().count() as u64;
    let style = ProgressStyle::with_template("{msg:>9} {wide_bar} {eta}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(u64::from(plan.services) + seconds).with_style(style)
}
