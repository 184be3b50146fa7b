//! The measured setup: a server with a status page, and the floor.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use hdrhistogram::Histogram;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::bench::crowd::{self, Requests};
use crate::bench::folder::TemporaryFolder;
use crate::bench::page::report::{CrowdFigures, PageFigures};
use crate::bench::process::ChildProcess;
use crate::bench::response::read_answer;
use crate::bench::server::{exchange, free_address, post, serve, until_ready};
use crate::config::Config;

const SLUG: &str = "bench";
/// Longest recorded time: one minute.
const LONGEST_US: u64 = 60_000_000;

/// The plan of one run.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageBenchPlan {
    pub(super) components: u32,
    pub(super) connections: u32,
    /// Changes after which the page is read.
    pub(super) changes: u32,
    /// Length of each measurement, in seconds.
    pub(super) seconds: u32,
}

/// The running setup; shut down when dropped.
pub(super) struct PageFixture {
    server: ChildProcess,
    address: SocketAddr,
    token: String,
    /// Path of the incident that the page shows.
    incident: String,
    floor: ChildProcess,
    floor_address: SocketAddr,
    _folder: TemporaryFolder,
}

impl PageFixture {
    /// Starts everything, and makes a page with an open incident.
    pub(super) async fn build(plan: &PageBenchPlan, config: &Config) -> anyhow::Result<Self> {
        let folder = TemporaryFolder::new()?;
        let mut floor = ChildProcess::start(&["bench", "api-floor"], &[])?;
        let floor_address = SocketAddr::from(([127, 0, 0, 1], floor.port()?));
        let address = free_address()?;
        let data = folder.path().join("data");
        let mut server = serve(address, &data.display().to_string(), config)?;
        until_ready(&mut server, address).await?;
        let token = std::fs::read_to_string(data.join("token")).context("the server has made no token")?;
        let (token, incident) = (token.trim().to_owned(), String::new());
        let mut fixture = Self { server, address, token, incident, floor, floor_address, _folder: folder };
        fixture.fill(plan).await?;
        Ok(fixture)
    }

    async fn fill(&mut self, plan: &PageBenchPlan) -> anyhow::Result<()> {
        let page = self.create("/v1/statuspages", &json!({"name": "Bench", "slug": SLUG})).await?;
        self.send(&format!("/v1/statuspages/{page}/publish"), &json!({})).await?;
        let mut services = Vec::new();
        for number in 0..plan.components {
            let name = format!("Component {number}");
            let service = self.create("/v1/services", &json!({"name": name, "check_type": "manual"})).await?;
            let component = json!({"name": name, "service_id": service});
            self.create(&format!("/v1/statuspages/{page}/components"), &component).await?;
            services.push(service);
        }
        let affected: Vec<&String> = services.iter().take(1).collect();
        let incident = json!({
            "title": "Checkout is slow", "message": "We are looking into slow payments.", "severity": "major",
            "is_published": true, "service_ids": affected,
        });
        self.incident = format!("/v1/incidents/{}", self.create("/v1/incidents", &incident).await?);
        Ok(())
    }

    /// Creates something through the API; returns its id.
    async fn create(&self, path: &str, body: &Value) -> anyhow::Result<String> {
        let made = self.send(path, body).await?;
        Ok(made["data"]["id"].as_str().with_context(|| format!("{path}: {made}"))?.to_owned())
    }

    async fn send(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        exchange(self.address, &post(self.address, &self.token, path, body)).await
    }

    /// Measures everything in turn.
    pub(super) async fn measure(&self, plan: &PageBenchPlan) -> anyhow::Result<PageFigures> {
        let first = self.visit("").await?;
        let bytes = body_length(&first).context("the page has no body")?;
        let tag = header(&first, "etag").context("the page has no tag")?;
        let floor = |path: String| format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let floor_full = self.crowd(plan, &self.floor, self.floor_address, floor(format!("/bytes/{bytes}")));
        let floor_full = floor_full.await?;
        let full = self.crowd(plan, &self.server, self.address, page_request("")).await?;
        let floor_unchanged =
            self.crowd(plan, &self.floor, self.floor_address, floor("/unchanged".to_owned())).await?;
        let known = page_request(&format!("If-None-Match: {tag}\r\n"));
        let unchanged = self.crowd(plan, &self.server, self.address, known).await?;
        let (after_change_us, single_us) = self.after_changes(plan, bytes).await?;
        Ok(PageFigures { bytes, floor_full, full, floor_unchanged, unchanged, after_change_us, single_us })
    }

    /// Sends one request from many connections.
    async fn crowd(
        &self,
        plan: &PageBenchPlan,
        process: &ChildProcess,
        address: SocketAddr,
        request: String,
    ) -> anyhow::Result<CrowdFigures> {
        let ready = request.into_bytes();
        let requests: Requests = Arc::new(move |_| ready.clone());
        let before = process.cpu();
        let time = Duration::from_secs(plan.seconds.into());
        let seen = crowd::ask(address, plan.connections, time, &requests).await?;
        let cpu = process.cpu().zip(before).map(|(after, before)| after.saturating_sub(before));
        Ok(CrowdFigures::of(&seen, cpu))
    }

    /// Returns the times of the first answers after changes, and those of bare answers of the same size; each on one
    /// connection.
    async fn after_changes(
        &self,
        plan: &PageBenchPlan,
        bytes: usize,
    ) -> anyhow::Result<(Histogram<u64>, Histogram<u64>)> {
        let (mut changed, mut bare) =
            (Histogram::new_with_max(LONGEST_US, 2)?, Histogram::new_with_max(LONGEST_US, 2)?);
        let mut page = TcpStream::connect(self.address).await?;
        let mut floor = TcpStream::connect(self.floor_address).await?;
        page.set_nodelay(true)?;
        floor.set_nodelay(true)?;
        let bare_request = format!("GET /bytes/{bytes} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        for number in 0..plan.changes {
            let update =
                json!({"status": "investigating", "message": format!("Update {number} of the bench.")});
            self.send(&format!("{}/updates", self.incident), &update).await?;
            let answer =
                timed(&mut page, &page_request("Accept-Encoding: identity\r\n"), &mut changed).await?;
            let wanted = format!("Update {number} of the bench.");
            ensure!(String::from_utf8_lossy(&answer).contains(&wanted), "the page does not show a change");
            timed(&mut floor, &bare_request, &mut bare).await?;
        }
        Ok((changed, bare))
    }

    /// Returns the answer to a visitor.
    async fn visit(&self, headers: &str) -> anyhow::Result<Vec<u8>> {
        let mut stream = TcpStream::connect(self.address).await?;
        stream.write_all(page_request(headers).as_bytes()).await?;
        let mut answer = Vec::new();
        let status = read_answer(&mut stream, &mut answer).await?;
        ensure!(status == 200, "the page answers {status}");
        Ok(answer)
    }
}

/// The request of a visitor with these further headers. Without an `Accept-Encoding` among them it is that of a browser.
fn page_request(headers: &str) -> String {
    let coding =
        if headers.contains("Accept-Encoding") { "" } else { "Accept-Encoding: gzip, deflate, br, zstd\r\n" };
    format!("GET / HTTP/1.1\r\nHost: {SLUG}.localhost\r\n{coding}{headers}\r\n")
}

/// Sends a request, records the time until its answer is read, and returns the answer.
async fn timed(
    stream: &mut TcpStream,
    request: &str,
    times_us: &mut Histogram<u64>,
) -> anyhow::Result<Vec<u8>> {
    let begun = Instant::now();
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::with_capacity(65_536);
    let status = read_answer(stream, &mut answer).await?;
    times_us.saturating_record(u64::try_from(begun.elapsed().as_micros())?.max(1));
    ensure!(status == 200, "a request was answered with {status}");
    Ok(answer)
}

/// Returns the value of a header.
fn header(answer: &[u8], name: &str) -> Option<String> {
    let text = String::from_utf8_lossy(answer);
    let head = text.split_once("\r\n\r\n")?.0;
    let mut lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
}

/// Returns the number of bytes of the body.
fn body_length(answer: &[u8]) -> Option<usize> {
    header(answer, "content-length")?.parse().ok()
}
