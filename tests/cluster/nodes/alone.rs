//! A process without NATS on the databases of several nodes: it would watch everything a second time.

use std::process::{Command, Output, Stdio};

use crate::bus::history::NAMES;
use crate::bus::node::Nodes;
use crate::nodes::JOINED;
use crate::support::databases::URLS;
use crate::support::eventually;
use crate::support::server::binary;

/// Starts one with these arguments; it ends by itself, or is told to when it has started.
async fn serve(nodes: &Nodes, arguments: &[&str]) -> Output {
    let data = tempfile::tempdir().unwrap();
    let mut command = Command::new(binary());
    command.args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]).arg(data.path()).args(arguments);
    command.env_clear().env("WATCHKEEPER_SECRET_KEY", "5e".repeat(32));
    command.envs(URLS.into_iter().zip(NAMES.map(|name| nodes.postgres.url_of(name))));
    let log = data.path().join("log");
    let file = std::fs::File::create(&log).unwrap();
    let mut process = command.stderr(file).stdout(Stdio::piped()).spawn().unwrap();
    let has_started = || std::fs::read_to_string(&log).unwrap().contains("watches alone");
    eventually("it ends or has started", || {
        (process.try_wait().unwrap().is_some() || has_started()).then_some(())
    })
    .await;
    // It may have ended.
    let _ = process.kill();
    let mut output = process.wait_with_output().unwrap();
    output.stderr = std::fs::read(&log).unwrap();
    output
}

#[tokio::test]
async fn a_process_without_nats_does_not_watch_what_others_share() {
    let Some(mut nodes) = Nodes::start(1).await else { return };
    nodes.until_even(&[0], JOINED).await;
    let refused = serve(&nodes, &[]).await;
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("Set nats_url") && said.contains("--alone"), "{said}");

    nodes.server_mut(0).kill();
    let taken = serve(&nodes, &["--alone"]).await;
    assert_eq!(
        taken.status.code(),
        None,
        "it ran until it was killed: {}",
        String::from_utf8_lossy(&taken.stderr)
    );
    let rows = nodes.postgres.answer(NAMES[1], &["SELECT count(*) FROM partition_hold"]);
    assert_eq!(rows.trim(), "0");
}
