//! `watchkeeper bench history`: cost of a result from the recorder to its block on the disk, its size there, and how
//! fast the API reads it, compared with plain rows in the same run.
//!
//! Results of realistic shape go through the real recorder while the real compactor seals and merges them, on simulated
//! time: a few weeks in minutes. The floor stores the same results as rows with an index, on the same disk, equally
//! durable. `--curve` shows the cost of a check as the history grows. Reads go through a real `watchkeeper serve`.

mod curve;
mod curve_point;
mod fixture;
mod fleet;
mod ingest;
mod plain;
mod plan;
mod plot;
mod read_measurement;
mod reads;
mod report;
mod storage;

pub mod generator;

use std::process::ExitCode;

use clap::{ArgMatches, Args as _, Command, FromArgMatches as _};
use indicatif::{ProgressBar, ProgressStyle};

use crate::bench::history::fleet::SimulatedFleet;
use crate::bench::history::ingest::IngestPipeline;
use crate::bench::history::plan::HistoryBenchPlan;
use crate::bench::history::report::HistoryReport;
use crate::bench::history::storage::BenchStorage;
use crate::config::Config;

/// `watchkeeper bench history` and its flags.
#[must_use]
pub fn command() -> Command {
    HistoryBenchPlan::augment_args(Command::new("history"))
}

/// Measures and prints; succeeds if every result is in a block and no request failed.
///
/// # Errors
///
/// When something cannot be started or stored; the message is one line.
pub async fn run(arguments: &ArgMatches, config: Config) -> anyhow::Result<ExitCode> {
    let plan = HistoryBenchPlan::from_arg_matches(arguments)?;
    if !plan.curve.is_empty() {
        return curve::run(&plan, &config).await;
    }
    let bar = progress(&plan, plan.results + plan.plain_results());
    bar.set_message("plain rows");
    let plain = plain::measure(&plan, &config, &bar).await?;
    bar.set_message("history");
    let history = measure(&plan, &config, &bar).await?;
    bar.set_message("reads");
    let reads = if plan.no_reads { None } else { Some(reads::measure(&plan, &config, &bar).await?) };
    bar.finish_and_clear();
    let is_sqlite = config.history_url.is_none();
    let report = HistoryReport { plan: plan.clone(), is_sqlite, plain, history, reads };
    if plan.as_json {
        println!("{}", report.object());
    } else {
        println!("{}", report.tables());
    }
    Ok(if report.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Measures the history after everything is written, sealed and merged.
async fn measure(
    plan: &HistoryBenchPlan,
    config: &Config,
    bar: &ProgressBar,
) -> anyhow::Result<ingest::HistoryFigures> {
    let storage = BenchStorage::new(config)?;
    let pipeline = IngestPipeline::start(plan, config, &storage).await?;
    let (mut fleet, mut spent) =
        pipeline.feed(SimulatedFleet::new(plan)?, plan.results, ingest::HOUR_MS, bar).await?;
    spent += pipeline.settle(&mut fleet).await?;
    pipeline.finish(spent, &storage).await
}

/// A progress bar; hidden without a terminal and in JSON mode.
fn progress(plan: &HistoryBenchPlan, results: u64) -> ProgressBar {
    if plan.as_json {
        return ProgressBar::hidden();
    }
    let style =
        ProgressStyle::with_template("{msg:>10} {wide_bar} {human_pos} of {human_len} results, {eta}");
    ProgressBar::new(results).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
