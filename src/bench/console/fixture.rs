//! The measured setup: a server with many services, a signed-in user, and the floor.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use futures_util::future::try_join_all;
use hdrhistogram::Histogram;
use indicatif::ProgressBar;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::bench::console::operator::ConsoleOperator;
use crate::bench::console::report::{BurstFigures, ConsoleFigures, ScreenFigures};
use crate::bench::folder::TemporaryFolder;
use crate::bench::process::ChildProcess;
use crate::bench::response::read_answer;
use crate::bench::server::{free_address, post, serve, until_ready};
use crate::bench::service_creation::{MeasuredServer, id_of, ping_path};
use crate::config::Config;

/// Connections over which the jobs fail.
const WRITERS: u32 = 8;
/// Shortest time between two requests of the script of an open screen.
const SCRIPT_PACE: Duration = Duration::from_millis(250);
const OVERVIEW: &str = "/console";
const LIST: &str = "/console/services";
/// Queries with every filter and order of the console.
const QUERIES: [&str; 12] = [
    "status:down,degraded",
    "status:up tag:team:2",
    "tag:env:prod tag:region:3 -tag:team:4",
    "service 777",
    "name~77",
    "type:manual",
    "uptime<99.9",
    "since>10m",
    "is:flapping",
    "has:incident",
    "sort:name",
    "sort:-since status:up",
];

/// The plan of one run.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConsoleBenchPlan {
    pub(super) services: u32,
    /// Jobs that fail at the same time.
    pub(super) jobs: u32,
    /// Requests for each figure.
    pub(super) repetitions: u32,
}

/// The running setup; shut down when dropped.
pub(super) struct ConsoleFixture {
    address: SocketAddr,
    token: String,
    /// Path of one of the services in the API.
    service: String,
    /// Paths of the ping addresses.
    pings: Arc<[String]>,
    floor_address: SocketAddr,
    _server: ChildProcess,
    _floor: ChildProcess,
    _folder: TemporaryFolder,
}

impl ConsoleFixture {
    /// Starts everything and creates the services through the API.
    pub(super) async fn build(
        plan: &ConsoleBenchPlan,
        config: &Config,
        bar: &ProgressBar,
    ) -> anyhow::Result<Self> {
        let folder = TemporaryFolder::new()?;
        let mut floor = ChildProcess::start(&["bench", "api-floor"], &[])?;
        let floor_address = SocketAddr::from(([127, 0, 0, 1], floor.port()?));
        let address = free_address()?;
        let data = folder.path().join("data");
        let mut server = serve(address, &data.display().to_string(), config)?;
        until_ready(&mut server, address).await?;
        let token = std::fs::read_to_string(data.join("token")).context("the server has made no token")?;
        let token = token.trim().to_owned();
        bar.set_message("services");
        let service = |number: u32| {
            let (team, region) = (number % 10, number % 7);
            let env = if number.is_multiple_of(3) { "test" } else { "prod" };
            json!({
                "name": format!("Service {number}"), "check_type": "manual",
                "tags": [format!("team:{team}"), format!("env:{env}"), format!("region:{region}")],
            })
        };
        let measured = MeasuredServer { address, token: &token };
        let made = measured.create_services(plan.services, service, id_of, bar).await?;
        bar.set_message("jobs");
        let job = |number: u32| json!({"name": format!("Job {number}"), "check_type": "heartbeat"});
        let pings = measured.create_services(plan.jobs, job, ping_path, bar).await?;
        let id = made.first().context("there is no service")?;
        Ok(Self {
            address,
            token,
            service: format!("/v1/services/{id}"),
            pings: pings.into(),
            floor_address,
            _server: server,
            _floor: floor,
            _folder: folder,
        })
    }

    /// Measures everything in turn.
    pub(super) async fn measure(&self, plan: &ConsoleBenchPlan) -> anyhow::Result<ConsoleFigures> {
        let mut operator = ConsoleOperator::invite(self.address, &self.token).await?;
        self.ping_all("").await?;
        // The first request reads all services.
        let begun = Instant::now();
        let first = operator.get(OVERVIEW, "", true).await?;
        let first_ms = begun.elapsed().as_secs_f64() * 1e3;
        let floor = self.floor(first.bytes, plan.repetitions).await?;
        let shared_bytes = self.shared_files(&mut operator).await?;
        let mut screens = Vec::new();
        for (name, path) in [("overview", OVERVIEW), ("services", LIST)] {
            let bytes = operator.get(path, "", true).await?.bytes + shared_bytes;
            let times = operator.time(path, plan.repetitions).await?;
            screens.push(ScreenFigures { name, bytes, times });
        }
        let mut queries = Histogram::new_with_max(60_000_000, 3)?;
        for query in QUERIES {
            let query: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
            queries.add(operator.time(&format!("{LIST}?q={query}"), plan.repetitions).await?)?;
        }
        let edit = self.edit(plan.repetitions).await?;
        let burst = self.burst(&mut operator).await?;
        Ok(ConsoleFigures { services: plan.services, first_ms, floor, screens, queries, edit, burst })
    }

    /// Returns the times of bare answers of this size, on one connection.
    async fn floor(&self, bytes: usize, repetitions: u32) -> anyhow::Result<Histogram<u64>> {
        let request = format!("GET /bytes/{bytes} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let requests: Vec<Vec<u8>> = (0..repetitions).map(|_| request.clone().into_bytes()).collect();
        timed(self.floor_address, &requests).await
    }

    /// Returns the bytes of style sheet and script, which all screens share.
    async fn shared_files(&self, operator: &mut ConsoleOperator) -> anyhow::Result<usize> {
        let page = String::from_utf8(operator.get(OVERVIEW, "", false).await?.body)?;
        let mut bytes = 0;
        for start in ["<link rel=\"stylesheet\" href=\"", "<script src=\""] {
            let (_, rest) = page.split_once(start).context("the console has no style sheet or script")?;
            let path = rest.split('"').next().unwrap_or_default();
            bytes += operator.get(path, "", true).await?.bytes;
        }
        Ok(bytes)
    }

    /// Returns the times in which a service gets another name.
    async fn edit(&self, repetitions: u32) -> anyhow::Result<Histogram<u64>> {
        let request = |number: u32| {
            let body = json!({"name": format!("Name {number}")});
            let post = post(self.address, &self.token, &self.service, &body);
            String::from_utf8_lossy(&post).replacen("POST", "PATCH", 1).into_bytes()
        };
        timed(self.address, &(0..repetitions).map(request).collect::<Vec<_>>()).await
    }

    /// Lets all jobs fail while the list is open, and follows it as its script does.
    async fn burst(&self, operator: &mut ConsoleOperator) -> anyhow::Result<BurstFigures> {
        let (mut events, hello) = operator.events().await?;
        operator.get(LIST, &format!("Console-Change: {hello}\r\n"), true).await?;
        let before = events.bytes;
        let wanted = format!(">down <span class=\"soft\">{}</span>", self.pings.len());
        let begun = Instant::now();
        let failing = async {
            self.ping_all("/fail").await?;
            anyhow::Ok(Instant::now())
        };
        let following = async {
            let (mut documents, mut bytes) = (0, 0);
            loop {
                let change = events.next("change").await?;
                let asked_at = Instant::now();
                let lines = format!("Console-Change: {change}\r\n");
                // Once as the browser gets it, and once from the same document to look into it.
                bytes += operator.get(LIST, &lines, true).await?.bytes;
                documents += 1;
                let shown_at = Instant::now();
                let plain = operator.get(LIST, &lines, false).await?;
                if String::from_utf8_lossy(&plain.body).contains(&wanted) {
                    return anyhow::Ok((documents, bytes + events.bytes - before, shown_at));
                }
                tokio::time::sleep_until(asked_at + SCRIPT_PACE).await;
            }
        };
        let (failed_at, (documents, bytes, shown_at)) = tokio::try_join!(failing, following)?;
        Ok(BurstFigures {
            changes: self.pings.len(),
            seconds: (failed_at - begun).as_secs_f64(),
            documents,
            bytes,
            right_after_ms: shown_at.saturating_duration_since(failed_at).as_secs_f64() * 1e3,
            shown_seconds: (shown_at - begun).as_secs_f64(),
        })
    }

    /// Pings all jobs over several connections.
    async fn ping_all(&self, kind: &str) -> anyhow::Result<()> {
        let count = self.pings.len().div_ceil(WRITERS as usize).max(1);
        let request = |path: &String| {
            format!("POST {path}{kind} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n").into_bytes()
        };
        let parts = self.pings.chunks(count).map(|paths| {
            let requests: Vec<Vec<u8>> = paths.iter().map(request).collect();
            async move { timed(self.address, &requests).await }
        });
        try_join_all(parts).await.map(drop)
    }
}

/// Sends requests one after another on one connection; returns their times in microseconds.
async fn timed(address: SocketAddr, requests: &[Vec<u8>]) -> anyhow::Result<Histogram<u64>> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut times = Histogram::new_with_max(60_000_000, 3)?;
    let mut answer = Vec::with_capacity(65_536);
    for request in requests {
        let begun = Instant::now();
        stream.write_all(request).await?;
        let status = read_answer(&mut stream, &mut answer).await?;
        ensure!(status < 300, "a request was answered with {status}");
        times.saturating_record(u64::try_from(begun.elapsed().as_micros())?.max(1));
    }
    Ok(times)
}
