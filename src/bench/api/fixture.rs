//! The measured setup: a server with checked services, a target for the checks, and the floor.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use futures_util::future::try_join;
use indicatif::ProgressBar;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::bench::api::floor;
use crate::bench::api::plan::{ApiBenchPlan, MeasuredRequest};
use crate::bench::api::report::RequestFigures;
use crate::bench::crowd::{self, Requests};
use crate::bench::folder::TemporaryFolder;
use crate::bench::kind::BenchKind;
use crate::bench::process::ChildProcess;
use crate::bench::server::{exchange, free_address, metric, post, serve, until_ready};
use crate::bench::service_creation::{MeasuredServer, id_of, ping_path};
use crate::bench::target_process::TargetProcess;
use crate::config::Config;

/// Number of services with heartbeats: enough that none exceeds its rate limit of pings.
const JOBS: u32 = 100;
/// Label of the tag that a tenth of the services have.
const TAG: &str = "team:web";
const PINGS_PER_SECOND: u32 = 200;
const CHANGES_PER_SECOND: u32 = 50;

/// The running setup; shut down when dropped.
pub(super) struct ApiFixture {
    server: ChildProcess,
    address: SocketAddr,
    token: String,
    ids: Arc<[String]>,
    /// Paths of the ping addresses.
    pings: Arc<[String]>,
    floor: ChildProcess,
    floor_address: SocketAddr,
    filled_at: Instant,
    /// Time of the first list by status, for which all services are read.
    first_search: Duration,
    _target: TargetProcess,
    _folder: TemporaryFolder,
}

impl ApiFixture {
    /// Starts everything and fills the database.
    pub(super) async fn build(
        plan: &ApiBenchPlan,
        config: &Config,
        bar: &ProgressBar,
    ) -> anyhow::Result<Self> {
        let folder = TemporaryFolder::new()?;
        let target = TargetProcess::start(BenchKind::Http)?;
        let mut floor = ChildProcess::start(&["bench", "api-floor"], &[])?;
        let floor_address = SocketAddr::from(([127, 0, 0, 1], floor.port()?));
        let address = free_address()?;
        let data = folder.path().join("data");
        let mut server = serve(address, &data.display().to_string(), config)?;
        until_ready(&mut server, address).await?;
        let token = std::fs::read_to_string(data.join("token")).context("the server has made no token")?;
        let mut fixture = Self {
            server,
            address,
            token: token.trim().to_owned(),
            ids: Arc::new([]),
            pings: Arc::new([]),
            floor,
            floor_address,
            filled_at: Instant::now(),
            first_search: Duration::ZERO,
            _target: target,
            _folder: folder,
        };
        fixture.fill(plan, bar).await?;
        Ok(fixture)
    }

    /// Creates the services through the API, as a client would.
    async fn fill(&mut self, plan: &ApiBenchPlan, bar: &ProgressBar) -> anyhow::Result<()> {
        bar.set_message("services");
        let port = self._target.port;
        let service = |number: u32| {
            let tags: &[&str] = if number % 10 == 3 { &[TAG] } else { &[] };
            json!({
                "name": format!("Service {number}"), "check_type": "http", "tags": tags,
                "target": format!("http://127.0.1.{}:{port}/", number % 16 + 1),
                "settings": {"interval_seconds": plan.interval_seconds()},
            })
        };
        let measured = MeasuredServer { address: self.address, token: &self.token };
        self.ids = measured.create_services(plan.services, service, id_of, bar).await?.into();
        let job = |number: u32| json!({"name": format!("Job {number}"), "check_type": "heartbeat"});
        let bare = ProgressBar::hidden();
        self.pings = measured.create_services(JOBS, job, ping_path, &bare).await?.into();
        self.filled_at = Instant::now();
        let first = self.get("/v1/services?status=up");
        let found = exchange(self.address, first.as_bytes()).await?;
        anyhow::ensure!(found["meta"]["total"].is_u64(), "the first list failed: {found}");
        self.first_search = self.filled_at.elapsed();
        Ok(())
    }

    /// Writes at a steady pace until `end`: pings of jobs, new names of services, and new incidents.
    async fn write(&self, end: Instant) -> anyhow::Result<()> {
        let begun = Instant::now();
        let pings = Arc::clone(&self.pings);
        let ready: Vec<Vec<u8>> =
            pings.iter().map(|path| request("POST", path, &self.headers(), &json!({}))).collect();
        let ping: Requests = Arc::new(move |number| ready[index_of(number, ready.len())].clone());
        let incidents: Vec<Vec<u8>> =
            self.ids.iter().map(|id| self.post("/v1/incidents", &incident(id))).collect();
        let (ids, headers) = (Arc::clone(&self.ids), self.headers());
        let change: Requests = Arc::new(move |number| {
            let one = index_of(number, ids.len());
            if number % 5 == 0 {
                return incidents[one].clone();
            }
            let name = json!({"name": format!("Service {number}")});
            request("PATCH", &format!("/v1/services/{}", ids[one]), &headers, &name)
        });
        let (pinged, changed) = try_join(
            crowd::pace(self.address, PINGS_PER_SECOND, end, &ping),
            crowd::pace(self.address, CHANGES_PER_SECOND, end, &change),
        )
        .await?;
        anyhow::ensure!(pinged > 0 && changed > 0, "no write was committed beside the reads");
        let wanted =
            end.duration_since(begun).as_secs_f64() * f64::from(PINGS_PER_SECOND + CHANGES_PER_SECOND);
        if ((pinged + changed) as f64) < wanted * 0.9 {
            // The reads are still valid, but with fewer concurrent writes than planned.
            eprintln!(
                "beside the reads only {pinged} pings and {changed} changes of {wanted:.0} writes were committed"
            );
        }
        Ok(())
    }

    /// Sends requests of one kind for the planned time.
    pub(super) async fn measure(
        &self,
        question: MeasuredRequest,
        plan: &ApiBenchPlan,
    ) -> anyhow::Result<RequestFigures> {
        let (process, address) = match question {
            MeasuredRequest::Floor => (&self.floor, self.floor_address),
            _ => (&self.server, self.address),
        };
        let requests = self.requests(question);
        let before = process.cpu();
        let time = Duration::from_secs(plan.seconds.into());
        let asking = crowd::ask(address, plan.connections, time, &requests);
        let seen = if question.has_writes() {
            try_join(asking, self.write(Instant::now() + time)).await?.0
        } else {
            asking.await?
        };
        let cpu = process.cpu().zip(before).map(|(after, before)| after.saturating_sub(before));
        Ok(RequestFigures::of(question, &seen, cpu))
    }

    fn requests(&self, question: MeasuredRequest) -> Requests {
        let one = |path: &str| -> Requests {
            let ready = self.get(path).into_bytes();
            Arc::new(move |_| ready.clone())
        };
        match question {
            MeasuredRequest::Floor => Arc::new(|number| {
                let row = scattered(number) % floor::ROWS + 1;
                format!("GET /things/{row} HTTP/1.1\r\nHost: localhost\r\n\r\n").into_bytes()
            }),
            MeasuredRequest::Service | MeasuredRequest::ServiceBesideWrites => {
                let ready: Vec<Vec<u8>> =
                    self.ids.iter().map(|id| self.get(&format!("/v1/services/{id}")).into_bytes()).collect();
                Arc::new(move |number| ready[index_of(number, ready.len())].clone())
            }
            MeasuredRequest::List | MeasuredRequest::ListBesideWrites => one("/v1/services"),
            MeasuredRequest::ListOfTag => one(&format!("/v1/services?tag={TAG}")),
            MeasuredRequest::ListOfType => one("/v1/services?check_type=http"),
            MeasuredRequest::ListOfStatus => one("/v1/services?status=up"),
            // Only few names contain this.
            MeasuredRequest::ListOfText => one("/v1/services?q=e%2099"),
            MeasuredRequest::Incident => {
                let ids = Arc::clone(&self.ids);
                let post = |body: &Value| self.post("/v1/incidents", body);
                let ready: Vec<Vec<u8>> = ids.iter().map(|id| post(&incident(id))).collect();
                Arc::new(move |number| ready[index_of(number, ready.len())].clone())
            }
        }
    }

    fn get(&self, path: &str) -> String {
        format!("GET {path} HTTP/1.1\r\n{}\r\n", self.headers())
    }

    fn headers(&self) -> String {
        format!("Host: {}\r\nAuthorization: Bearer {}\r\n", self.address, self.token)
    }

    fn post(&self, path: &str, body: &Value) -> Vec<u8> {
        post(self.address, &self.token, path, body)
    }

    /// Returns how long the first list by status took, for which all services are read.
    pub(super) const fn first_search(&self) -> Duration {
        self.first_search
    }

    /// Returns the checks per second since the services were created, as counted by the server.
    pub(super) async fn checks_per_second(&self) -> anyhow::Result<f64> {
        let sum = metric(self.address, "watchkeeper_checks_total").await?;
        Ok(sum / self.filled_at.elapsed().as_secs_f64())
    }
}

/// Returns a request with this method and path, these headers and a JSON body.
fn request(method: &str, path: &str, headers: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\n{headers}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

fn incident(service: &str) -> Value {
    json!({
        "title": "Checkout is slow", "message": "We are looking into slow payments.", "severity": "major",
        "is_published": true, "service_ids": [service],
    })
}

/// Spreads consecutive numbers over the whole range of numbers.
const fn scattered(number: u64) -> u64 {
    (number ^ (number >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 17
}

fn index_of(number: u64, count: usize) -> usize {
    usize::try_from(scattered(number) % count.max(1) as u64).unwrap_or(0)
}
