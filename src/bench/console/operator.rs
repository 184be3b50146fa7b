//! A signed-in user of the console with one connection, who times requests.

use std::net::SocketAddr;

use anyhow::{Context as _, bail, ensure};
use hdrhistogram::Histogram;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::bench::response::read_answer;
use crate::bench::server::{exchange, post};

/// Longest recorded time: one minute.
const LONGEST_US: u64 = 60_000_000;
const PASSWORD: &str = "correct+horse+battery";

/// The response to a request.
pub(super) struct ConsoleReply {
    /// Bytes of head and body, as they were sent.
    pub(super) bytes: usize,
    head: String,
    pub(super) body: Vec<u8>,
}

/// A user with a session.
pub(super) struct ConsoleOperator {
    address: SocketAddr,
    stream: TcpStream,
    cookie: String,
}

/// The stream of events of a browser.
pub(super) struct ConsoleEvents {
    stream: TcpStream,
    text: String,
    /// Bytes that were read.
    pub(super) bytes: usize,
}

impl ConsoleReply {
    fn read(answer: &[u8]) -> anyhow::Result<Self> {
        let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").context("no HTTP response")?;
        let head = String::from_utf8_lossy(&answer[..end]).into_owned();
        Ok(Self { bytes: answer.len(), head, body: answer[end + 4..].to_vec() })
    }

    /// Returns the value of a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

impl ConsoleOperator {
    /// Invites an editor by the API, who chooses a password and is signed in.
    pub(super) async fn invite(address: SocketAddr, token: &str) -> anyhow::Result<Self> {
        let user = json!({"email": "operator@example.com", "name": "Operator", "role": "editor"});
        let invited = exchange(address, &post(address, token, "/v1/users", &user)).await?;
        let link = invited["data"]["link"].as_str().with_context(|| format!("no user: {invited}"))?;
        let ticket = link.split_once("ticket=").context("the link has no ticket")?.1;
        let mut stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let form = format!("ticket={ticket}&email=operator%40example.com&password={PASSWORD}");
        let request = format!(
            "POST /console/welcome HTTP/1.1\r\nHost: {address}\r\nSec-Fetch-Site: same-origin\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
            form.len()
        );
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        let status = read_answer(&mut stream, &mut answer).await?;
        ensure!(status == 303, "the sign-in was answered with {status}");
        let cookie = ConsoleReply::read(&answer)?.header("set-cookie").context("no cookie")?.to_owned();
        let cookie = cookie.split(';').next().unwrap_or_default().to_owned();
        Ok(Self { address, stream, cookie })
    }

    /// Loads a path of the host, with these further lines in the head; compressed as a browser takes it if `is_compressed`.
    pub(super) async fn get(
        &mut self,
        path: &str,
        lines: &str,
        is_compressed: bool,
    ) -> anyhow::Result<ConsoleReply> {
        let coding = if is_compressed { "Accept-Encoding: gzip, deflate, br, zstd\r\n" } else { "" };
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n{coding}{lines}\r\n",
            self.address, self.cookie
        );
        self.stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::with_capacity(65_536);
        let status = read_answer(&mut self.stream, &mut answer).await?;
        ensure!(status == 200, "{path} was answered with {status}");
        ConsoleReply::read(&answer)
    }

    /// Loads a path of the host several times.
    pub(super) async fn time(&mut self, path: &str, repetitions: u32) -> anyhow::Result<Histogram<u64>> {
        let mut times = Histogram::new_with_max(LONGEST_US, 3)?;
        for _ in 0..repetitions {
            let begun = Instant::now();
            self.get(path, "", true).await?;
            times.saturating_record(u64::try_from(begun.elapsed().as_micros())?.max(1));
        }
        Ok(times)
    }

    /// Opens the stream of events; returns it with the number of the last change.
    pub(super) async fn events(&self) -> anyhow::Result<(ConsoleEvents, String)> {
        let mut stream = TcpStream::connect(self.address).await?;
        let request = format!(
            "GET /console/events HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n\r\n",
            self.address, self.cookie
        );
        stream.write_all(request.as_bytes()).await?;
        let mut events = ConsoleEvents { stream, text: String::new(), bytes: 0 };
        let change = events.next("hello").await?;
        Ok((events, change))
    }
}

impl ConsoleEvents {
    /// Returns the data of the next event of this kind.
    pub(super) async fn next(&mut self, kind: &str) -> anyhow::Result<String> {
        let wanted = format!("event: {kind}\ndata: ");
        loop {
            if let Some((_, rest)) = self.text.split_once(&wanted)
                && let Some((data, rest)) = rest.split_once("\n\n")
            {
                let (data, rest) = (data.to_owned(), rest.to_owned());
                self.text = rest;
                return Ok(data);
            }
            let mut buffer = [0; 4_096];
            let read = self.stream.read(&mut buffer).await?;
            if read == 0 {
                bail!("the stream of events has ended");
            }
            self.bytes += read;
            self.text += &String::from_utf8_lossy(&buffer[..read]);
        }
    }
}
