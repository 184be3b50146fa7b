//! Creates services through the API of a measured server, over several connections.

use std::net::SocketAddr;

use anyhow::{Context as _, ensure};
use futures_util::future::try_join_all;
use indicatif::ProgressBar;
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::bench::response::read_answer;
use crate::bench::server::post;

/// Number of connections.
const WRITERS: u32 = 16;

/// A server that is measured, and a token that may write.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeasuredServer<'a> {
    pub(super) address: SocketAddr,
    pub(super) token: &'a str,
}

impl MeasuredServer<'_> {
    /// Creates `count` services, of which `body` returns the bodies by their numbers. Returns what `part` takes from the view of
    /// each, in no particular order.
    pub(super) async fn create_services(
        self,
        count: u32,
        body: impl Fn(u32) -> Value,
        part: impl Fn(&Value) -> Option<String>,
        bar: &ProgressBar,
    ) -> anyhow::Result<Vec<String>> {
        let (body, part) = (&body, &part);
        let parts = (0..WRITERS).map(|writer| async move {
            let mut stream = TcpStream::connect(self.address).await?;
            stream.set_nodelay(true)?;
            let (mut answer, mut made) = (Vec::new(), Vec::new());
            for number in (writer..count).step_by(WRITERS as usize) {
                let request = post(self.address, self.token, "/v1/services", &body(number));
                stream.write_all(&request).await?;
                let status = read_answer(&mut stream, &mut answer).await?;
                let text = String::from_utf8_lossy(&answer);
                ensure!(status == 201, "a service was not created: {text}");
                let (_, body) = text.split_once("\r\n\r\n").context("no HTTP response")?;
                let view = &serde_json::from_str::<Value>(body)?["data"];
                made.push(part(view).with_context(|| format!("an unexpected service: {view}"))?);
                bar.inc(1);
            }
            anyhow::Ok(made)
        });
        Ok(try_join_all(parts).await?.into_iter().flatten().collect())
    }
}

/// The id of a service.
pub(super) fn id_of(service: &Value) -> Option<String> {
    service["id"].as_str().map(str::to_owned)
}

/// The path of the ping address of a service with heartbeats.
pub(super) fn ping_path(service: &Value) -> Option<String> {
    let url = service["heartbeat"]["ping_url"].as_str()?;
    Some(format!("/ping/{}", url.rsplit('/').next()?))
}
