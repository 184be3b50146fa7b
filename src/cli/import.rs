//! `watchkeeper import`: imports results of other tools, so that their history is kept.
//!
//! This module has flags, files, lines and output; the work is done in `record::import`. A bad line ends the import,
//! with everything before it stored, unless bad lines are skipped.

mod chunk;
mod column;
mod directory;
mod line;
mod reader;
mod source;
mod summary;

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::sync::mpsc;

use crate::app::{Foundation, first_start, require_installation};
use crate::cli::import::chunk::{ChunkPacker, ImportChunk};
use crate::cli::import::directory::{ImportScope, ServiceDirectory};
use crate::cli::import::reader::ImportFormat;
use crate::cli::import::source::ImportSource;
use crate::cli::import::summary::ImportSummary;
use crate::cli::printable::{printable, printable_lines};
use crate::clock::Clock;
use crate::clock::guard::ClockGuard;
use crate::config::Config;
use crate::config::sources::ConfigError;
use crate::model::location::LocationCode;
use crate::model::plans::PlanTable;
use crate::record::compaction::{Compaction, RetentionPolicy};
use crate::record::import::{HistoryImport, ImportedService};
use crate::timetable::wall_clock;

/// Maximum number of chunks that wait for the database.
const CHUNKS_AHEAD: usize = 2;

const LONG_ABOUT: &str = "\
Bring results of other tools along, from CSV or JSON lines, so that their history is not lost.

One line is one result of one service seen from one location:

  service           id or name of the service, or a name given by --service-map (required)
  location          code such as fra; new codes are taken as they are (or --default-location)
  time              RFC 3339, or Unix seconds or milliseconds (required; also checked_at, timestamp)
  status            up, degraded, down; 1 and true are up, 0 and false are down (required)
  response_time_ms  set if the target answered
  dns connect tls ttfb transfer total
                    how long each phase took, in milliseconds, with up to three decimals
  status_code       of an HTTP answer
  error_code        a word of the API such as connect_timeout; without one, but with a message: internal
  error_message     at most 500 characters
  scheduled_at      when the check was due (default: time)
  attempt           the attempt that decided, from 1 (default: 1)

What a line does not name, or leaves empty, is absent. A time of 0 counts as 0.001 ms. Columns of CSV and keys of JSON have \
the same names; JSON may also hold the phases in an object timings, as the API shows them.

  results.csv:
    service,location,time,status,response_time_ms,error_message
    shop,fra,2026-03-01T12:00:00Z,up,81.5,
    shop,fra,2026-03-01T12:01:00Z,down,,\"connection refused, twice\"

  results.jsonl:
    {\"service\": \"shop\", \"location\": \"fra\", \"time\": 1772366400, \"status\": \"up\", \"dns\": 3.1}

The import can be killed and given again: it goes on where it was and stores nothing twice. A result is known by service, \
location and time; one that is there already stays as it is. Results that are older than the plan keeps them are counted and \
left out. Nothing is imported while the clock is more than a day away from the newest time that this installation has seen: \
results of today would look old enough to be deleted.

Uptime of the imported time follows from the results by the same rule as always, up to the moment from which Watchkeeper has \
watched the service itself. The history of a service begins with its first imported result: its configured_at moves back to \
it.

With embedded databases the server must be stopped meanwhile. With PostgreSQL it may run; it seals what is imported, and \
shows rolling figures of the imported time after its next start.

Exit codes: 0 all is stored, 1 a line is bad or something failed, 2 wrong usage.";

/// Import results of other tools from CSV or JSON lines
#[derive(Args)]
#[command(long_about = LONG_ABOUT)]
pub(super) struct ImportArguments {
    /// File to read; - is standard input
    file: PathBuf,
    /// Format of the file: csv or jsonl [default: by file extension: .csv, .jsonl or .ndjson]
    #[arg(long, value_name = "FORMAT")]
    format: Option<ImportFormat>,
    /// Organisation of the services; required for names if there are several
    #[arg(long = "org", value_name = "ID|NAME", allow_hyphen_values = true)]
    organisation: Option<String>,
    /// Name of a service in the file, and its id or name here; may be repeated
    #[arg(long = "service-map", value_name = "NAME=SERVICE", allow_hyphen_values = true, value_parser = renaming)]
    renamings: Vec<ServiceRenaming>,
    /// Location of lines without one
    #[arg(long = "default-location", value_name = "CODE", value_parser = |text: &str| text.parse::<LocationCode>())]
    default_location: Option<LocationCode>,
    /// Expected seconds between results of a location, for finding gaps [default: the service's interval]
    #[arg(long = "interval", value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    interval_seconds: Option<u32>,
    /// Count bad lines instead of stopping at the first; 20 are shown
    #[arg(long = "skip-bad-lines")]
    skips_bad: bool,
    /// Ignore unknown columns and keys
    #[arg(long = "ignore-unknown")]
    ignores_unknown: bool,
    /// Check every line and store nothing
    #[arg(long = "dry-run")]
    is_dry_run: bool,
    /// The clock is right, although it is more than a day away from the newest time that this installation has seen
    #[arg(long = "trust-clock")]
    trusts_clock: bool,
    /// Print JSON for machines
    #[arg(long = "json")]
    as_json: bool,
}

/// A service name in the file and the service that it stands for here.
#[derive(Clone, Debug)]
struct ServiceRenaming {
    theirs: String,
    ours: String,
}

fn renaming(text: &str) -> Result<ServiceRenaming, &'static str> {
    let pair = text.rsplit_once('=').filter(|(theirs, ours)| !theirs.is_empty() && !ours.is_empty());
    let renaming =
        |(theirs, ours): (&str, &str)| ServiceRenaming { theirs: theirs.into(), ours: ours.into() };
    pair.map(renaming).ok_or("it looks like NAME=SERVICE")
}

impl ImportArguments {
    fn format(&self) -> Result<ImportFormat, ConfigError> {
        let ending = self.file.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
        let by_ending = match ending.as_deref() {
            Some("csv") => Some(ImportFormat::Csv),
            Some("jsonl" | "ndjson") => Some(ImportFormat::JsonLines),
            _ => None,
        };
        let unknown = || ConfigError("say how it is written: --format csv or --format jsonl".into());
        self.format.or(by_ending).ok_or_else(unknown)
    }

    fn renamed(&self) -> HashMap<String, String> {
        self.renamings.iter().cloned().map(|ServiceRenaming { theirs, ours }| (theirs, ours)).collect()
    }

    /// All options that change the meaning of a line, as text.
    fn meaning(&self, format: ImportFormat) -> String {
        let renamed = BTreeMap::from_iter(self.renamed());
        let renamed: Vec<_> = renamed.iter().collect();
        format!(
            "{format:?} {:?} {renamed:?} {:?} {}",
            self.organisation, self.default_location, self.ignores_unknown
        )
    }
}

/// Runs the import and prints a summary.
///
/// # Errors
///
/// When an argument or resource cannot be used; the message is one line.
pub(super) async fn run(arguments: ImportArguments, config: Config) -> anyhow::Result<ExitCode> {
    let format = arguments.format()?;
    let mut source = ImportSource::open(&arguments.file)?;
    let fingerprint = source.fingerprint(&arguments.meaning(format))?.filter(|_| !arguments.is_dry_run);
    require_installation(&config)?;
    first_start::make_data_dir(&config.data_dir)?;
    let _lock = if arguments.is_dry_run { None } else { lock(&config)? };
    let foundation = Foundation::open_or_create(config, Clock::System).await?;
    let guard = trusted_guard(&foundation, arguments.trusts_clock).await?;
    let plans = PlanTable::new(&foundation.config.plans)?;
    let wanted = ImportScope { organisation: arguments.organisation.clone(), renamed: arguments.renamed() };
    let directory = Arc::new(
        ServiceDirectory::read(&foundation.databases.main, &plans, wanted, foundation.clock.now()).await?,
    );
    let name = fingerprint.map(|fingerprint| format!("import {fingerprint}"));
    let import = HistoryImport::new(foundation.databases.clone(), compaction(&foundation, plans), name);
    let run = ImportRun {
        arguments,
        format,
        foundation,
        guard,
        directory,
        import,
        summary: ImportSummary::default(),
    };
    run.run_import(source).await
}

/// Returns the guard of the wall clock, or an error if it does not trust the clock, by which the age of results is judged.
async fn trusted_guard(foundation: &Foundation, operator_trusts: bool) -> anyhow::Result<Arc<ClockGuard>> {
    let guard = wall_clock::guard(&foundation.databases, &foundation.clock, operator_trusts).await?;
    match guard.state().warning() {
        None => Ok(guard),
        Some(warning) => Err(ConfigError(format!("no import while the clock is in doubt: {warning}")).into()),
    }
}

/// Locks the data folder if databases are embedded, as a server does.
fn lock(config: &Config) -> anyhow::Result<Option<File>> {
    if config.database_url.is_some() && config.history_url.is_some() {
        return Ok(None);
    }
    first_start::lock(&config.data_dir).map(|lock| Some(lock.file)).context("stop the server first")
}

/// Returns the compaction of imported results if this process alone uses the embedded history; otherwise a server
/// compacts.
fn compaction(foundation: &Foundation, plans: PlanTable) -> Option<Compaction> {
    if foundation.config.history_url.is_some() {
        return None;
    }
    let retention = RetentionPolicy::ByPlan { main: foundation.databases.main.clone(), plans };
    let limits = foundation.config.compaction.clone();
    Some(Compaction::new(foundation.databases.history.clone(), retention, limits, Arc::default()))
}

struct ImportRun {
    arguments: ImportArguments,
    format: ImportFormat,
    foundation: Foundation,
    guard: Arc<ClockGuard>,
    directory: Arc<ServiceDirectory>,
    import: HistoryImport,
    summary: ImportSummary,
}

impl ImportRun {
    async fn run_import(mut self, source: ImportSource) -> anyhow::Result<ExitCode> {
        let bar = progress(&source, self.arguments.as_json);
        let is_complete = self.take_in(source, &bar).await?;
        if !self.arguments.is_dry_run {
            self.conclude(&bar, is_complete).await?;
        }
        bar.finish_and_clear();
        for problem in self.summary.problems() {
            eprintln!("watchkeeper: {}", printable(problem));
        }
        let hidden = self.summary.bad - self.summary.problems().len() as u64;
        if hidden > 0 {
            eprintln!("watchkeeper: {hidden} more bad lines are not shown");
        }
        if !is_complete {
            eprintln!("watchkeeper: stopped there; the lines before are stored (--skip-bad-lines continues)");
        }
        if self.arguments.as_json {
            println!("{}", self.summary.json(&self.directory, self.arguments.is_dry_run));
        } else {
            print!("{}", printable_lines(&self.summary.text(&self.directory, self.arguments.is_dry_run)));
        }
        self.foundation.databases.main.close().await;
        self.foundation.databases.history.close().await;
        Ok(if is_complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Stores chunk by chunk. Returns false if a bad line stopped the import.
    async fn take_in(&mut self, source: ImportSource, bar: &ProgressBar) -> anyhow::Result<bool> {
        let (sender, mut chunks) = mpsc::channel(CHUNKS_AHEAD);
        let reached = self.import.reached().await?;
        let directory = Arc::clone(&self.directory);
        let (location, format) = (self.arguments.default_location.clone(), self.format);
        let (ignores_unknown, skips_bad) = (self.arguments.ignores_unknown, self.arguments.skips_bad);
        let now = self.foundation.clock.now();
        let packing = tokio::task::spawn_blocking(move || {
            let directory = &*directory;
            let packer =
                ChunkPacker { directory, location, format, ignores_unknown, skips_bad, reached, now };
            packer.pack(source, &sender)
        });
        let mut is_complete = true;
        while let Some(chunk) = chunks.recv().await {
            is_complete &= !chunk.stops;
            let end = chunk.end;
            self.take(chunk).await?;
            bar.set_position(end);
        }
        packing.await??;
        Ok(is_complete)
    }

    async fn take(&mut self, chunk: ImportChunk) -> anyhow::Result<()> {
        let ImportChunk { records, before, lines, end, too_old, problems, .. } = chunk;
        self.summary.read += lines;
        self.summary.too_old += too_old;
        problems.into_iter().for_each(|problem| self.summary.complain(problem));
        for record in &records {
            self.summary.see(record);
        }
        let new = &records[before..];
        self.summary.before += before as u64;
        self.summary.offered += new.len() as u64;
        if !self.arguments.is_dry_run && !new.is_empty() {
            self.summary.stored += self.import.store(new, end, self.guard.judged_now()).await?;
        }
        Ok(())
    }

    async fn conclude(&mut self, bar: &ProgressBar, is_complete: bool) -> anyhow::Result<()> {
        let given = self.arguments.interval_seconds;
        let imported = self.summary.services().filter_map(|(service, seen)| {
            let settings = self.directory.get(service)?.service.settings.as_ref()?;
            let interval_ms = i64::from(given.unwrap_or(settings.interval_seconds)) * 1_000;
            Some(ImportedService { service, interval_ms, first_at: seen.first })
        });
        let imported: Vec<ImportedService> = imported.collect();
        bar.set_message("uptime");
        self.import.conclude(&imported, self.foundation.clock.now()).await?;
        if is_complete {
            self.import.forget().await?;
        }
        bar.set_message("sealing");
        Ok(self.import.settle(self.guard.judged_now()).await?)
    }
}

/// A progress bar; hidden without a terminal and in JSON mode.
fn progress(source: &ImportSource, as_json: bool) -> ProgressBar {
    if as_json {
        return ProgressBar::hidden();
    }
    let template = match source.bytes() {
        Some(_) => "{msg:>8} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}",
        None => "{msg:>8} {spinner} {bytes} {bytes_per_sec}",
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::with_draw_target(source.bytes(), ProgressDrawTarget::stderr());
    bar.with_style(style).with_message("reading")
}
