//! `watchkeeper bench probe`: the whole pipeline (due, checked, verdict, aggregated, durable) measured on this machine.
//!
//! Per kind: start a target in another process, the pipeline, and its services; let one interval pass, or `--warmup`;
//! count over a window; stop; then measure the bare exchange against the same target. Checks that could not be made are
//! shown by reason.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::{ArgMatches, Command};
use indicatif::{ProgressBar, ProgressStyle};

use crate::app;
use crate::bench::figures::{MemoryFigures, ProbeFigures};
use crate::bench::floor::{self, BareExchange, ExchangePace, FloorCosts};
use crate::bench::folder::TemporaryFolder;
use crate::bench::kind::BenchKind;
use crate::bench::pipeline::CheckPipeline;
use crate::bench::plan::{self, ProbeBenchPlan};
use crate::bench::target::CERTIFICATE;
use crate::bench::target_process::TargetProcess;
use crate::bench::{report, usage};
use crate::clock::Clock;
use crate::config::{Config, LocationConfig};

/// Refresh interval of the progress bar.
const TICK: Duration = Duration::from_millis(100);

/// `watchkeeper bench probe` and its flags.
#[must_use]
pub fn command() -> Command {
    plan::command()
}

/// Measures and prints; succeeds if checks were made.
///
/// # Errors
///
/// When something cannot be started; the message is one line.
pub async fn run(arguments: &ArgMatches, config: Config) -> anyhow::Result<ExitCode> {
    let plan = ProbeBenchPlan::of(arguments);
    if !plan.targets.is_empty() && plan.kinds.len() > 1 {
        bail!("targets belong to one type: with --target, name it by --type");
    }
    let mut measured = Vec::new();
    if !plan.as_json {
        println!("{}", report::head());
    }
    for kind in &plan.kinds {
        let fixture = ProbeFixture::build(*kind, &plan, config.clone())?;
        let figures = fixture.measure(&plan, measured.is_empty()).await?;
        if !plan.as_json {
            println!("{}", report::line(&figures));
        }
        measured.push(figures);
    }
    if plan.as_json {
        let objects: Vec<_> = measured.iter().map(report::object).collect();
        println!("{}", serde_json::Value::from(objects));
    } else {
        println!("\n{}", report::LEGEND);
    }
    let all_checked = measured.iter().all(|figures| figures.finished > 0);
    Ok(if all_checked { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Resources of one kind; released when dropped.
struct ProbeFixture {
    kind: BenchKind,
    config: Config,
    targets: Vec<String>,
    /// Keeps the target running.
    _process: Option<TargetProcess>,
    /// Keeps the file of trusted authorities.
    _folder: TemporaryFolder,
}

impl ProbeFixture {
    fn build(kind: BenchKind, plan: &ProbeBenchPlan, mut config: Config) -> anyhow::Result<Self> {
        let folder = TemporaryFolder::new()?;
        let is_own = plan.targets.is_empty();
        let process = (is_own && kind.needs_process()).then(|| TargetProcess::start(kind)).transpose()?;
        let port = process.as_ref().map_or(0, |process| process.port);
        if is_own && kind == BenchKind::Dns {
            config.probe.dns_servers = vec![SocketAddr::from(([127, 0, 1, 1], port))];
        }
        if is_own && kind.has_certificate() {
            let file = folder.path().join("authority.pem");
            std::fs::write(&file, CERTIFICATE)?;
            config.probe.ca_file = Some(file);
        }
        if plan.locations > 1 {
            let location =
                |number| LocationConfig { code: format!("place-{number}"), ..LocationConfig::default() };
            config.probe.locations = (1..=plan.locations).map(location).collect();
        }
        let targets = if is_own { kind.targets(port) } else { plan.targets.clone() };
        Ok(Self { kind, config, targets, _process: process, _folder: folder })
    }

    async fn measure(&self, plan: &ProbeBenchPlan, is_first: bool) -> anyhow::Result<ProbeFigures> {
        let pipeline = CheckPipeline::start(&self.config, self.kind).await?;
        let empty = usage::resident_bytes();
        let bar = progress(self.kind, plan);
        pipeline.watch(plan, &self.targets).await?;
        pass(Duration::from_secs(plan.warmup_seconds.into()), &bar).await;

        pipeline.lateness().await?;
        let before = pipeline.counts()?;
        pass(Duration::from_secs(plan.seconds.into()), &bar).await;
        let after = pipeline.counts()?;
        let mut figures = ProbeFigures::between(self.kind, plan, before, after, pipeline.lateness().await?);
        bar.finish_and_clear();

        let resident_bytes = usage::resident_bytes();
        let growth = resident_bytes.zip(empty).map(|(now, before)| now.saturating_sub(before));
        let per_service_bytes = growth.filter(|_| is_first).map(|bytes| bytes / u64::from(plan.services));
        figures.memory = MemoryFigures { resident_bytes, per_service_bytes };
        for (reason, checks) in pipeline.shed_by_reason() {
            eprintln!("watchkeeper: {}: {checks} not done: {reason}", self.kind.as_str());
        }
        let exchanges_per_second = plan.due_in(1.0) * f64::from(self.kind.exchanges());
        let pace = ExchangePace { exchanges_per_second, threads: pipeline.threads() };
        figures.stored_bytes = pipeline.stop().await?;
        figures.floors = self.floors(plan, pace).await?;
        Ok(figures)
    }

    /// Measures the floors, with the TLS configuration of the checks.
    async fn floors(&self, plan: &ProbeBenchPlan, pace: ExchangePace) -> anyhow::Result<Option<FloorCosts>> {
        let toolbox = app::toolbox(&self.config, &Clock::System, None)?;
        let verifies = plan.targets.is_empty();
        let tls = std::sync::Arc::clone(toolbox.tls().for_http(verifies));
        floor::measure(BareExchange { kind: self.kind, peers: self.peers().await?, tls }, pace).await
    }

    /// Returns the addresses of the targets; for DNS, those of the servers.
    async fn peers(&self) -> anyhow::Result<Vec<SocketAddr>> {
        if self.kind == BenchKind::Dns {
            let servers = self.config.probe.dns_servers.clone();
            return if servers.is_empty() {
                Err(anyhow::anyhow!("name the server by --probe-dns-servers"))
            } else {
                Ok(servers)
            };
        }
        let mut peers = Vec::new();
        for target in &self.targets {
            let authority = authority(self.kind, target)?;
            let mut found = tokio::net::lookup_host(&authority)
                .await
                .with_context(|| format!("cannot find {authority}"))?;
            peers.extend(found.next());
        }
        if peers.is_empty() { Err(anyhow::anyhow!("no target has an address")) } else { Ok(peers) }
    }
}

/// Returns host and port of a target.
fn authority(kind: BenchKind, target: &str) -> anyhow::Result<String> {
    match kind {
        BenchKind::Http | BenchKind::Https | BenchKind::Http2 => {
            let url = url::Url::parse(target).with_context(|| format!("{target} is no URL"))?;
            let host = url.host_str().unwrap_or_default();
            Ok(format!("{host}:{}", url.port_or_known_default().unwrap_or(80)))
        }
        BenchKind::Icmp => Ok(format!("{target}:0")),
        BenchKind::Ssl if !target.contains(':') => Ok(format!("{target}:443")),
        BenchKind::Tcp | BenchKind::Ssl | BenchKind::Dns => Ok(target.to_owned()),
    }
}

/// A progress bar; hidden without a terminal and in JSON mode.
fn progress(kind: BenchKind, plan: &ProbeBenchPlan) -> ProgressBar {
    if plan.as_json {
        return ProgressBar::hidden();
    }
    let seconds = u64::from(plan.warmup_seconds) + u64::from(plan.seconds);
    let ticks = seconds * 1_000 / u64::try_from(TICK.as_millis()).unwrap_or(1);
    let style = ProgressStyle::with_template("{msg:>5} {wide_bar} {eta}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(ticks).with_style(style).with_message(kind.as_str())
}

async fn pass(time: Duration, bar: &ProgressBar) {
    let end = tokio::time::Instant::now() + time;
    while tokio::time::Instant::now() < end {
        tokio::time::sleep_until(end.min(tokio::time::Instant::now() + TICK)).await;
        bar.inc(1);
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(BenchKind::Http, "http://127.0.1.1:18080/", "127.0.1.1:18080")]
    #[case(BenchKind::Https, "https://[::1]/a", "[::1]:443")]
    #[case(BenchKind::Tcp, "127.0.1.1:5432", "127.0.1.1:5432")]
    #[case(BenchKind::Icmp, "127.1.0.1", "127.1.0.1:0")]
    #[case(BenchKind::Ssl, "example.com", "example.com:443")]
    #[case(BenchKind::Ssl, "example.com:8443", "example.com:8443")]
    fn the_floor_talks_to_the_same_address(
        #[case] kind: BenchKind,
        #[case] target: &str,
        #[case] expected: &str,
    ) {
        assert_eq!(authority(kind, target).unwrap(), expected);
    }
}
