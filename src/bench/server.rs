//! A real `watchkeeper serve` in a child process, and its HTTP client.

use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::bench::process::ChildProcess;
use crate::bench::response::read_answer;
use crate::config::Config;

/// Longest start of the server.
const START: Duration = Duration::from_secs(30);
/// A rate limit that no run reaches.
const RATE_LIMIT: &str = "1000000000";

#[derive(Debug)]
pub(super) struct BenchClient {
    stream: TcpStream,
    headers: String,
    answer: Vec<u8>,
}

impl BenchClient {
    /// Connects; every request will contain the token.
    pub(super) async fn connect(address: SocketAddr, token: &str) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let headers = format!("Host: {address}\r\nAuthorization: Bearer {token}\r\n");
        Ok(Self { stream, headers, answer: Vec::with_capacity(65_536) })
    }

    /// Sends a GET request; returns the status once the whole response was read.
    pub(super) async fn get(&mut self, path: &str) -> anyhow::Result<u16> {
        let request = format!("GET {path} HTTP/1.1\r\n{}\r\n", self.headers);
        self.stream.write_all(request.as_bytes()).await?;
        read_answer(&mut self.stream, &mut self.answer).await
    }

    /// Returns the body of the last response as JSON.
    pub(super) fn json(&self) -> anyhow::Result<Value> {
        let end = self.answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").context("no HTTP answer")?;
        Ok(serde_json::from_slice(&self.answer[end + 4..])?)
    }
}

/// Returns a free address on loopback.
pub(super) fn free_address() -> anyhow::Result<SocketAddr> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?)
}

/// Starts a server on a data folder, with the databases of the configuration.
pub(super) fn serve(address: SocketAddr, data: &str, config: &Config) -> anyhow::Result<ChildProcess> {
    let listen = address.to_string();
    let mut arguments = vec!["serve", "--listen", &listen, "--data-dir", data, "--log", "error"];
    for (flag, url) in [("--database-url", &config.database_url), ("--history-url", &config.history_url)] {
        arguments.extend(url.iter().flat_map(|url| [flag, url]));
    }
    let variables =
        [("WATCHKEEPER_RATE_LIMIT_PER_MINUTE", RATE_LIMIT), ("WATCHKEEPER_EGRESS", "private-allowed")];
    ChildProcess::start(&arguments, &variables)
}

/// Waits until the server reports that it is ready.
pub(super) async fn until_ready(server: &mut ChildProcess, address: SocketAddr) -> anyhow::Result<()> {
    let deadline = Instant::now() + START;
    let request = b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    while Instant::now() < deadline {
        if text(address, request).await.is_ok_and(|answer| answer.starts_with("HTTP/1.1 200")) {
            return Ok(());
        }
        if !server.is_running() {
            bail!("the server has ended before it was ready");
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    bail!("the server was not ready within {} seconds", START.as_secs())
}

/// Returns a `POST` request with a JSON body.
pub(super) fn post(address: SocketAddr, token: &str, path: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
        Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// Sends one request on its own connection; returns the body of the response as JSON.
pub(super) async fn exchange(address: SocketAddr, request: &[u8]) -> anyhow::Result<Value> {
    let head = String::from_utf8_lossy(request).replacen("\r\n", "\r\nConnection: close\r\n", 1);
    let answer = text(address, head.as_bytes()).await?;
    let (_, body) = answer.split_once("\r\n\r\n").context("no HTTP answer")?;
    Ok(serde_json::from_str(body)?)
}

/// Returns the sum of a metric over all labels.
pub(super) async fn metric(address: SocketAddr, name: &str) -> anyhow::Result<f64> {
    let request = format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    let page = text(address, request.as_bytes()).await?;
    let counted = page.lines().filter(|line| line.starts_with(name));
    Ok(counted.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok()).sum())
}

async fn text(address: SocketAddr, request: &[u8]) -> anyhow::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}
