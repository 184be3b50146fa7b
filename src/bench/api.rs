//! `watchkeeper bench api`: requests per second of the real server, over keep-alive connections, while it makes checks.
//!
//! The server is `watchkeeper serve` in a process and a folder of its own, filled through its own API. The floor is a bare
//! read by key from SQLite behind the same web framework, in the same run: absolute figures vary with the machine, ratios
//! vary less.

mod fixture;
mod plan;
mod report;

pub mod floor;

use std::process::ExitCode;

use clap::{ArgMatches, Command};
use indicatif::{ProgressBar, ProgressStyle};

use crate::bench::api::fixture::ApiFixture;
use crate::bench::api::plan::ApiBenchPlan;
use crate::config::Config;

/// `watchkeeper bench api` and its flags.
#[must_use]
pub fn command() -> Command {
    plan::command()
}

/// Measures and prints; succeeds if no request failed.
///
/// # Errors
///
/// When something cannot be started; the message is one line.
pub async fn run(arguments: &ArgMatches, config: &Config) -> anyhow::Result<ExitCode> {
    let plan = ApiBenchPlan::of(arguments);
    let bar = progress(&plan);
    let fixture = ApiFixture::build(&plan, config, &bar).await?;
    let mut measured = Vec::new();
    for question in plan.questions() {
        bar.set_message(question.as_str());
        measured.push(fixture.measure(question, &plan).await?);
        bar.inc(u64::from(plan.seconds));
    }
    let checks = fixture.checks_per_second().await?;
    bar.finish_and_clear();
    if plan.as_json {
        println!("{}", report::object(&measured, checks, fixture.first_search()));
    } else {
        println!("{}", report::table(&measured, checks, fixture.first_search()));
    }
    let is_clean = measured.iter().all(|figures| figures.failed == 0 && figures.answered > 0);
    Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A progress bar; hidden without a terminal and in JSON mode.
fn progress(plan: &ApiBenchPlan) -> ProgressBar {
    if plan.as_json {
        return ProgressBar::hidden();
    }
    let seconds = u64::from(plan.seconds) * plan.questions().count() as u64;
    let style = ProgressStyle::with_template("{msg:>9} {wide_bar} {eta}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(u64::from(plan.services) + seconds).with_style(style)
}
