//! The setup on which reads are measured: a server whose history holds one service of many days, and other services
//! that are checked.
//!
//! The service is made through the API; then the server is stopped, the service's past is written by the same recorder
//! and compactor as in [`ingest`](super::ingest), and the server is started again.

use std::net::SocketAddr;

use anyhow::{Context as _, bail};
use indicatif::ProgressBar;
use sea_orm::{ConnectionTrait, Statement};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::bench::folder::TemporaryFolder;
use crate::bench::history::fleet::SimulatedFleet;
use crate::bench::history::ingest::{HOUR_MS, IngestPipeline};
use crate::bench::history::plan::HistoryBenchPlan;
use crate::bench::history::read_measurement::{MeasuredRead, ReadMeasurement};
use crate::bench::kind::BenchKind;
use crate::bench::process::ChildProcess;
use crate::bench::server::{BenchClient, exchange, free_address, metric, post, serve, until_ready};
use crate::bench::target_process::TargetProcess;
use crate::clock::{Clock, DAY_MS, Timestamp};
use crate::config::Config;
use crate::model::service::ServiceKey;
use crate::store::Databases;
use crate::store::database::sqlite_url;

/// Number of the page of checks that is far back.
const FAR_PAGE: usize = 1_000;
/// Number of pages, up to the far one, that are read in turn.
const FAR_PAGES: usize = 16;
/// Number of newest days in which the compactor runs every hour; before them it runs once a day.
const NEWEST_DAYS: i64 = 3;

/// A running server.
pub(super) struct HistoryFixture {
    /// Results of the service that is read.
    pub(super) results: u64,
    address: SocketAddr,
    token: String,
    /// Path of the service in the API.
    path: String,
    _server: ChildProcess,
    _target: TargetProcess,
    _folder: TemporaryFolder,
}

impl HistoryFixture {
    /// Fills a history and starts the server on it.
    pub(super) async fn build(
        plan: &HistoryBenchPlan,
        config: &Config,
        bar: &ProgressBar,
    ) -> anyhow::Result<Self> {
        let folder = TemporaryFolder::new()?;
        let target = TargetProcess::start(BenchKind::Tcp)?;
        let data = folder.path().join("data");
        let shown = data.display().to_string();
        let address = free_address()?;
        let mut server = serve(address, &shown, config)?;
        until_ready(&mut server, address).await?;
        let token = std::fs::read_to_string(data.join("token")).context("the server has made no token")?;
        let token = token.trim().to_owned();
        let id = make_service(address, &token, "Long", target.port, plan.interval_seconds).await?;
        drop(server);

        let url = |chosen: &Option<String>, name: &str| {
            chosen.clone().unwrap_or_else(|| sqlite_url(&data.join(name)))
        };
        let main = url(&config.database_url, "main.db");
        let history = url(&config.history_url, "history.db");
        let databases = Databases::open(&main, &history, &config.database).await?;
        let results = fill(databases, &id, plan, config, bar).await?;

        let mut server = serve(address, &shown, config)?;
        until_ready(&mut server, address).await?;
        for number in 0..plan.checks {
            make_service(address, &token, &format!("Service {number}"), target.port, 1).await?;
        }
        let path = format!("/v1/services/{id}");
        Ok(Self { results, address, token, path, _server: server, _target: target, _folder: folder })
    }

    /// Returns the number of results that have become durable since the server's start.
    pub(super) async fn written(&self) -> anyhow::Result<f64> {
        metric(self.address, "watchkeeper_results_acked_total").await
    }

    /// Sends one kind of request repeatedly, at most `most` times, on one connection.
    pub(super) async fn ask(&self, question: MeasuredRead, most: u32) -> anyhow::Result<ReadMeasurement> {
        let mut client = BenchClient::connect(self.address, &self.token).await?;
        let paths = match question {
            MeasuredRead::Newest | MeasuredRead::Down => Vec::new(),
            MeasuredRead::Far => self.far_pages(&mut client).await?,
            MeasuredRead::Metrics => vec![format!("{}/metrics?range=30d", self.path)],
            MeasuredRead::Uptime => vec![format!("{}/uptime?days=90", self.path)],
        };
        let mut seen = ReadMeasurement::nothing()?;
        for number in 0..question.repetitions(most) as usize {
            let asked_at = Instant::now();
            let status = match question {
                MeasuredRead::Newest => client.get(&format!("{}/checks?per_page=50", self.path)).await?,
                MeasuredRead::Down => self.all_down(&mut client, &mut seen).await?,
                _ => client.get(&paths[number % paths.len()]).await?,
            };
            seen.latency_us.saturating_record(u64::try_from(asked_at.elapsed().as_micros())?.max(1));
            seen.failed += u64::from(!(200..300).contains(&status));
        }
        if question != MeasuredRead::Down {
            seen.entries = entries(&client.json()?);
        }
        Ok(seen)
    }

    /// Returns the paths of page 1,000 and of the pages before it, as far as they exist.
    async fn far_pages(&self, client: &mut BenchClient) -> anyhow::Result<Vec<String>> {
        let first = format!("{}/checks?per_page=50", self.path);
        let mut paths = vec![first.clone()];
        while paths.len() < FAR_PAGE {
            if client.get(&paths[paths.len() - 1]).await? != 200 {
                bail!("a page of checks could not be read");
            }
            let Some(cursor) = next_cursor(&client.json()?) else { break };
            paths.push(format!("{first}&cursor={cursor}"));
        }
        Ok(paths.split_off(paths.len().saturating_sub(FAR_PAGES)))
    }

    /// Reads all pages of failed checks; their time and entries count as one read.
    async fn all_down(&self, client: &mut BenchClient, seen: &mut ReadMeasurement) -> anyhow::Result<u16> {
        let first = format!("{}/checks?status=down&per_page=100", self.path);
        let (mut path, mut worst) = (first.clone(), 200);
        seen.entries = 0;
        loop {
            worst = client.get(&path).await?.max(worst);
            let answer = client.json()?;
            seen.entries += entries(&answer);
            match next_cursor(&answer) {
                Some(cursor) => path = format!("{first}&cursor={cursor}"),
                None => return Ok(worst),
            }
        }
    }
}

fn next_cursor(answer: &Value) -> Option<String> {
    answer["meta"]["next_cursor"].as_str().map(str::to_owned)
}

fn entries(answer: &Value) -> u64 {
    answer["data"].as_array().map_or(1, |entries| entries.len() as u64)
}

async fn make_service(
    address: SocketAddr,
    token: &str,
    name: &str,
    port: u16,
    interval_seconds: u32,
) -> anyhow::Result<String> {
    let body = json!({
        "name": name, "check_type": "tcp", "target": format!("127.0.1.1:{port}"),
        "settings": {"interval_seconds": interval_seconds},
    });
    let made = exchange(address, &post(address, token, "/v1/services", &body)).await?;
    Ok(made["data"]["id"].as_str().with_context(|| format!("no service: {made}"))?.to_owned())
}

/// Writes the past of the service; returns the number of results.
async fn fill(
    databases: Databases,
    id: &str,
    plan: &HistoryBenchPlan,
    config: &Config,
    bar: &ProgressBar,
) -> anyhow::Result<u64> {
    let now = Clock::System.now();
    let start = now.plus_ms(-i64::from(plan.days) * DAY_MS);
    let key = backdate(&databases, id, start).await?;
    let pipeline = IngestPipeline::on(databases, plan, config, Clock::fixed(start), 0)?;
    let mut fleet = SimulatedFleet::of(&[key], plan.interval_ms(), plan.codes()?, start);
    let rounds = |days: i64| u64::try_from(days * DAY_MS / i64::from(plan.interval_ms())).unwrap_or_default();
    let results = |days: i64| rounds(days) * u64::from(plan.locations);
    let old_days = (i64::from(plan.days) - NEWEST_DAYS).max(0);
    let newest_days = i64::from(plan.days) - old_days;
    for (days, compact_every_ms) in [(old_days, DAY_MS), (newest_days, HOUR_MS)] {
        fleet = pipeline.feed(fleet, results(days), compact_every_ms, bar).await?.0;
    }
    pipeline.compact(now).await?;
    pipeline.stop().await;
    Ok(results(old_days) + results(newest_days))
}

/// Sets the creation time of a service to `start`.
async fn backdate(databases: &Databases, id: &str, start: Timestamp) -> anyhow::Result<ServiceKey> {
    let transaction = databases.main.begin().await?;
    let backend = transaction.get_database_backend();
    let change = "UPDATE service SET configured_at = $1, created_at = $1 WHERE public_id = $2";
    let values = [start.ms().into(), id.into()];
    transaction.execute_raw(Statement::from_sql_and_values(backend, change, values)).await?;
    let question =
        Statement::from_sql_and_values(backend, "SELECT id FROM service WHERE public_id = $1", [id.into()]);
    let row = transaction.query_one_raw(question).await?.context("the service is gone")?;
    let key = row.try_get_by_index(0)?;
    transaction.commit().await?;
    Ok(key)
}
