//! `watchkeeper promote`: moves an embedded installation to PostgreSQL.
//!
//! This module has flags, the progress bar and output. The work is done in `store::promotion`; `app::embedded` keeps
//! other processes out and checks the preconditions.

mod report;

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::time::Instant;

use crate::app::database_files::{self, ForeignDatabase};
use crate::app::embedded;
use crate::cli::promote::report::{DryRunReport, PromotionReport};
use crate::config::Config;
use crate::config::sources::ConfigError;
use crate::store::promotion::{EmbeddedInstallation, Promotion, PromotionTarget, PromotionUnit, TargetState};

/// Estimated duration of a promotion, as a multiple of the time that a dry run takes to read all rows: rows are read,
/// written, and read again on both sides.
const READS: u32 = 5;

const LONG_ABOUT: &str = "\
Move an embedded installation (two SQLite databases and the segment files beside them) to PostgreSQL.

The server must be stopped; nothing but reading is done to the embedded databases, and they are left where they are. The \
target must be empty. Every row keeps its key, every segment file becomes a pair of partitions, and at the end all rows of \
both sides are compared by counts and checksums.

It can be killed and given again: it goes on where it was and moves nothing twice. Until it has ended, no server starts on \
the target.

With --dry-run everything is read and checked and nothing is written: it says how many rows of each table there are, about \
how long moving them will take, and what stands in the way.

Secrets stay sealed with the same key: take secret.key of the data folder (or WATCHKEEPER_SECRET_KEY) along. Results that \
wait in the spool must have been written before.

Exit codes: 0 all is moved (with --dry-run: nothing stands in the way), 1 something stands in the way or failed, 2 wrong usage.";

/// Move an embedded installation to PostgreSQL
#[derive(Args)]
#[command(long_about = LONG_ABOUT)]
pub(super) struct PromoteArguments {
    /// PostgreSQL database to move to, such as postgres://me@db.example/watchkeeper
    #[arg(long = "to", value_name = "URL", value_parser = postgres_url)]
    to: String,
    /// PostgreSQL database for the history [default: the same]
    #[arg(long = "history-to", value_name = "URL", value_parser = postgres_url)]
    history_to: Option<String>,
    /// Read and check everything, and write nothing
    #[arg(long = "dry-run")]
    is_dry_run: bool,
    /// Print JSON for machines
    #[arg(long = "json")]
    as_json: bool,
}

fn postgres_url(text: &str) -> Result<String, &'static str> {
    let is_postgres = ["postgres:", "postgresql:"].iter().any(|scheme| text.starts_with(scheme));
    if is_postgres { Ok(text.to_owned()) } else { Err("a URL that begins with postgres:") }
}

/// Moves the installation and prints a summary.
///
/// # Errors
///
/// When there is an obstacle, or a database fails; the message is one line.
pub(super) async fn run(arguments: PromoteArguments, config: Config) -> anyhow::Result<ExitCode> {
    let files = database_files::files(&config).map_err(|ForeignDatabase { key }| {
        ConfigError(format!(
            "{key} is set to a PostgreSQL already; promote moves an embedded installation, so leave it unset here"
        ))
    })?;
    let _lock = embedded::take(&config)?;
    let mut source = EmbeddedInstallation::open(&files.main, &files.history, &config.database).await?;
    let obstacles = embedded::obstacles(&config, &source.key_check().await?)?;
    let promotion = Promotion::plan(source).await?;
    let run = PromotionRun { arguments, config, promotion };
    if run.arguments.is_dry_run { run.rehearse(obstacles).await } else { run.promote(&obstacles).await }
}

struct PromotionRun {
    arguments: PromoteArguments,
    config: Config,
    promotion: Promotion,
}

impl PromotionRun {
    fn rows(&self) -> u64 {
        self.promotion.counted().iter().map(|counted| counted.rows).sum()
    }

    async fn connect(&self) -> anyhow::Result<PromotionTarget> {
        let main = &self.arguments.to;
        let history = self.arguments.history_to.as_ref().unwrap_or(main);
        Ok(PromotionTarget::connect(main, history).await?)
    }

    async fn rehearse(mut self, mut obstacles: Vec<String>) -> anyhow::Result<ExitCode> {
        let state = match self.connect().await {
            Ok(mut target) => {
                let state = self.promotion.state_of(&mut target).await;
                target.close().await;
                state.map_err(anyhow::Error::from)
            }
            Err(error) => Err(error),
        };
        let state = state.map_err(|error| obstacles.push(error.to_string())).ok();
        let bar = bar(self.rows(), self.arguments.as_json);
        let started = Instant::now();
        obstacles.extend(self.promotion.check(&mut |unit, rows| step(&bar, "checking", unit, rows)).await?);
        let read = started.elapsed();
        bar.finish_and_clear();
        let rehearsal = DryRunReport {
            counted: self.promotion.counted(),
            state,
            estimate: estimate(read),
            obstacles: &obstacles,
        };
        let text = if self.arguments.as_json { rehearsal.json().to_string() } else { rehearsal.text() };
        println!("{}", text.trim_end());
        self.promotion.close().await;
        Ok(if obstacles.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    async fn promote(mut self, obstacles: &[String]) -> anyhow::Result<ExitCode> {
        if let Some(first) = obstacles.first() {
            return Err(anyhow::anyhow!("{first}"));
        }
        let mut target = self.connect().await?;
        if self.promotion.state_of(&mut target).await? == TargetState::Finished {
            self.promotion.tidy_up(&mut target).await?;
            println!("{}", report::already_there(self.arguments.as_json));
            return Ok(ExitCode::SUCCESS);
        }
        let started = Instant::now();
        let moving = bar(self.rows(), self.arguments.as_json);
        self.promotion.copy(&mut target, &mut |unit, rows| step(&moving, "moving", unit, rows)).await?;
        moving.finish_and_clear();
        let moved = started.elapsed();
        let verifying = bar(self.rows(), self.arguments.as_json);
        let watcher = &mut |unit: &PromotionUnit, rows| step(&verifying, "verifying", unit, rows);
        let verified = self.promotion.verify(&mut target, watcher).await?;
        verifying.finish_and_clear();
        self.promotion.finish(&mut target).await?;
        let report = PromotionReport {
            verified: &verified,
            moving: moved,
            verifying: started.elapsed().saturating_sub(moved),
            addresses: target.addresses(),
            config: &self.config,
        };
        let text = if self.arguments.as_json { report.json().to_string() } else { report.text() };
        println!("{}", text.trim_end());
        target.close().await;
        self.promotion.close().await;
        Ok(ExitCode::SUCCESS)
    }
}

fn estimate(read: Duration) -> Duration {
    Duration::from_secs(read.saturating_mul(READS).as_secs() + 1)
}

fn step(bar: &ProgressBar, doing: &str, unit: &PromotionUnit, rows: u64) {
    bar.set_message(format!("{doing} {}", unit.name()));
    bar.inc(rows);
}

/// A progress bar; hidden without a terminal and in JSON mode.
fn bar(rows: u64, as_json: bool) -> ProgressBar {
    if as_json {
        return ProgressBar::hidden();
    }
    let template = "{msg:>28} {wide_bar} {human_pos}/{human_len} {per_sec} {eta}";
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(Some(rows), ProgressDrawTarget::stderr()).with_style(style)
}
