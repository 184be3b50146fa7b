//! A server with a NATS URL joins the servers, or reports in one line why it cannot.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rstest::rstest;

use crate::bus::nats::free_port;
use crate::bus::{Bus, messages, until};

/// A server, killed at the end.
struct Server {
    process: Child,
    port: u16,
}

impl Server {
    fn start(bus: &Bus, data: &Path) -> Self {
        let port = free_port();
        let (_, credentials, _) = &bus.files.nodes[0];
        let process = serve(data, port)
            .env("WATCHKEEPER_NATS_URL", bus.url())
            .env("WATCHKEEPER_NATS_CREDENTIALS", credentials)
            .env("WATCHKEEPER_NATS_CA_FILE", &bus.files.authority)
            .spawn()
            .unwrap();
        Self { process, port }
    }

    /// The value of a metric without labels; `None` while the server does not answer.
    fn metric(&self, name: &str) -> Option<u64> {
        let answer = self.get("/metrics")?;
        let value = answer.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        value.parse().ok()
    }

    /// The whole answer; `None` while the server does not answer.
    fn get(&self, path: &str) -> Option<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        Some(answer)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn serve(data: &Path, port: u16) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_watchkeeper"));
    command.args(["serve", "--listen", &format!("127.0.0.1:{port}"), "--data-dir"]).arg(data);
    command.env("WATCHKEEPER_PROBE__REFERENCE_TARGETS", "none");
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

#[tokio::test]
async fn a_server_joins_the_bus_and_shows_its_connection() {
    let Some(mut bus) = Bus::start().await else { return };
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(&bus, data.path());
    let connected = || std::future::ready(server.metric("watchkeeper_bus_connected") == Some(1));
    until("the server is connected", connected).await;
    let node = bus.connect(bus.node_credentials("b")).await.unwrap();
    assert_eq!(messages(&node, "WK_RESULTS").await.0, 0, "the streams are there");
    bus.server.kill();
    let lost = || std::future::ready(server.metric("watchkeeper_bus_connected") == Some(0));
    until("the server notices", lost).await;
    let ready = server.get("/readyz").unwrap();
    assert!(ready.starts_with("HTTP/1.1 200") && ready.contains("the NATS server is unavailable"), "{ready}");
    bus.server.resume().await;
    until("it is connected again", connected).await;
    assert!(!server.get("/readyz").unwrap().contains("warnings"));
}

/// Exit code 2 and a line with the remedy: the settings are wrong. Exit code 1: there is no server.
#[rstest]
#[case::no_credentials(&[], 2, "nats_url is set, so nats_credentials must be set")]
#[case::no_such_file(&["--nats-credentials", "/nowhere/node.creds"], 1, "/nowhere/node.creds")]
fn a_server_that_cannot_join_shows_the_reason(
    #[case] arguments: &[&str],
    #[case] code: i32,
    #[case] expected: &str,
) {
    let data = tempfile::tempdir().unwrap();
    let mut command = serve(data.path(), 0);
    command.args(["--nats-url", "tls://127.0.0.1:1"]).args(arguments).stderr(Stdio::piped());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert!(said.contains(expected), "{said}");
}
