//! Concurrent clients: each sends a request, waits for the whole response, and sends the next one on the same
//! connection.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use hdrhistogram::Histogram;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, Interval, interval_at, timeout_at};

use crate::bench::response::read_answer;

/// Longest recorded latency: one minute, with 1 % precision.
const LONGEST_US: u64 = 60_000_000;

/// Number of connections that share a steady pace. They keep it while a response takes less time than this number of
/// requests.
const PACED_CLIENTS: u32 = 32;

/// The status for a client that has the present content.
const NOT_MODIFIED: u16 = 304;

/// Builds a request from its number.
pub(super) type Requests = Arc<dyn Fn(u64) -> Vec<u8> + Send + Sync>;

#[derive(Debug)]
pub(super) struct CrowdMeasurement {
    /// Microseconds from the first byte sent to the last byte read.
    pub(super) latency_us: Histogram<u64>,
    /// Responses that were neither 2xx nor 304.
    pub(super) failed: u64,
    /// Time from the start of the crowd to its end.
    pub(super) elapsed: Duration,
}

/// Sends requests from `clients` connections for the given time.
pub(super) async fn ask(
    address: SocketAddr,
    clients: u32,
    time: Duration,
    requests: &Requests,
) -> anyhow::Result<CrowdMeasurement> {
    let started = Instant::now();
    let end = started + time;
    let mut tasks = JoinSet::new();
    for client in 0..u64::from(clients) {
        let requests = Arc::clone(requests);
        // Keeps the request numbers of different clients apart.
        tasks.spawn(async move { one(address, end, client << 32, requests).await });
    }
    let mut latency_us = Histogram::new_with_max(LONGEST_US, 2)?;
    let mut failed = 0;
    while let Some(joined) = tasks.join_next().await {
        let (latencies, failures) = joined.context("a client panicked")??;
        latency_us.add(&latencies)?;
        failed += failures;
    }
    Ok(CrowdMeasurement { latency_us, failed, elapsed: started.elapsed() })
}

async fn one(
    address: SocketAddr,
    end: Instant,
    first: u64,
    requests: Requests,
) -> anyhow::Result<(Histogram<u64>, u64)> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut latencies = Histogram::new_with_max(LONGEST_US, 2)?;
    let mut failed = 0;
    let mut answer = Vec::with_capacity(65_536);
    for number in first.. {
        let asked_at = Instant::now();
        if asked_at >= end {
            break;
        }
        stream.write_all(&requests(number)).await?;
        let status = read_answer(&mut stream, &mut answer).await?;
        latencies.saturating_record(u64::try_from(asked_at.elapsed().as_micros())?.max(1));
        failed += u64::from(!(200..300).contains(&status) && status != NOT_MODIFIED);
    }
    Ok((latencies, failed))
}

/// Sends requests at a steady pace until `end`, over several connections, so that a slow response does not delay the
/// next request. Returns the number of 2xx responses.
pub(super) async fn pace(
    address: SocketAddr,
    per_second: u32,
    end: Instant,
    requests: &Requests,
) -> anyhow::Result<u64> {
    let between = Duration::from_secs(1) / per_second.max(1);
    let start = Instant::now();
    let mut tasks = JoinSet::new();
    for client in 0..PACED_CLIENTS {
        let due = interval_at(start + between * client, between * PACED_CLIENTS);
        let numbers = (u64::from(client)..).step_by(PACED_CLIENTS as usize);
        let requests = Arc::clone(requests);
        tasks.spawn(async move { one_paced(address, due, end, numbers, requests).await });
    }
    let mut done = 0;
    while let Some(joined) = tasks.join_next().await {
        done += joined.context("a client panicked")??;
    }
    Ok(done)
}

async fn one_paced(
    address: SocketAddr,
    mut due: Interval,
    end: Instant,
    numbers: impl Iterator<Item = u64>,
    requests: Requests,
) -> anyhow::Result<u64> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (mut answer, mut done) = (Vec::new(), 0);
    for number in numbers {
        if timeout_at(end, due.tick()).await.is_err() || Instant::now() >= end {
            break;
        }
        stream.write_all(&requests(number)).await?;
        let status = read_answer(&mut stream, &mut answer).await?;
        done += u64::from((200..300).contains(&status));
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;
    use tokio::net::TcpListener;

    use super::*;

    /// One connection alone would get ten responses.
    #[tokio::test]
    async fn slow_responses_do_not_lower_the_request_rate() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    while stream.read_u8().await.is_ok() {
                        tokio::time::sleep(Duration::from_millis(100)).await;
                        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
                    }
                });
            }
        });
        let request: Requests = Arc::new(|_| vec![b'x']);
        let done = pace(address, 100, Instant::now() + Duration::from_secs(1), &request).await.unwrap();
        assert!(done > 30, "{done}");
    }
}
