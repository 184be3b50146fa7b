//! The reader of the log is gone: lines are lost, and nothing else. Regression: a log write panicked, the
//! service first and then every actor that logged it.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::support::client::Client;
use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{create_watched, until_checks, until_status};

#[tokio::test]
async fn an_unread_log_pipe_loses_only_log_lines() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_watchkeeper"));
    command.env_clear().current_dir(folder.path()).env("WATCHKEEPER_PROBE__REFERENCE_TARGETS", "none");
    command.envs([("WATCHKEEPER_LISTEN", "127.0.0.1:0"), ("WATCHKEEPER_LOG", "debug")]);
    let mut child = command.arg("serve").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    let log = child.stderr.take().unwrap();
    // Both readers are closed: later writes fail with EPIPE.
    drop((log, output));
    let address = line.trim().strip_prefix("Watchkeeper answers at http://").unwrap().parse().unwrap();
    let token = std::fs::read_to_string(folder.path().join("data/token")).unwrap();
    let client = Client { address, token: Some(token.trim().to_owned()), _server: None };
    let mut target = Target::start();
    let id = create_watched(&client, &target.url(), &json!({"interval_seconds": 1, "retries": 0}));
    until_status(&client, &id, "up").await;
    target.stop();
    until_status(&client, &id, "down").await;
    let other = create_watched(&client, &target.url(), &json!({"interval_seconds": 1, "retries": 0}));
    until_checks(&client, &other, 1).await;
    client.get("/readyz").expect(200);
    let page = client.get("/metrics").expect(200).body;
    let panics = page.lines().filter(|line| line.starts_with("watchkeeper_actor_panics_total"));
    assert!(panics.clone().count() > 3 && panics.into_iter().all(|line| line.ends_with(" 0")), "{page}");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Regression: a name with a line break wrote a line of its own into the log.
#[tokio::test]
async fn a_name_cannot_forge_a_log_line() {
    let (server, target) = (Server::start(), Target::start());
    let client = server.client();
    let body = json!({
        "name": "Shop\nERROR forged: everything burns",
        "check_type": "http",
        "target": target.url(),
        "settings": {"interval_seconds": 1},
    });
    let created = client.post("/v1/services", &body);
    if created.status == 422 {
        // Then no such name exists at all.
        return;
    }
    let id = created.expect(201).data()["id"].as_str().unwrap().to_owned();
    until_status(&client, &id, "up").await;
    let log = server.log();
    assert!(log.contains("everything burns"), "{log}");
    assert!(!log.lines().any(|line| line.starts_with("ERROR forged")), "{log}");
}
