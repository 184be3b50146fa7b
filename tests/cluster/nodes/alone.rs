//! A process without NATS on the databases of several nodes: it would watch everything a second time.

use std::fs::File;
use std::process::Command;

use crate::bus::history::NAMES;
use crate::bus::node::Nodes;
use crate::nodes::JOINED;
use crate::support::databases::URLS;
use crate::support::eventually;
use crate::support::server::binary;

/// A process that ended by itself, or was killed once it answered.
struct Ended {
    /// `None` = it was killed.
    code: Option<i32>,
    log: String,
}

/// Starts one with these arguments.
async fn serve(nodes: &Nodes, arguments: &[&str]) -> Ended {
    let data = tempfile::tempdir().unwrap();
    let mut command = Command::new(binary());
    command.args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]).arg(data.path()).args(arguments);
    command.env_clear().env("WATCHKEEPER_SECRET_KEY", "5e".repeat(32));
    command.env("WATCHKEEPER_PROBE__REFERENCE_TARGETS", "none");
    command.envs(URLS.into_iter().zip(NAMES.map(|name| nodes.postgres.url_of(name))));
    let [said, log] = ["said", "log"].map(|name| data.path().join(name));
    let mut process =
        command.stdout(File::create(&said).unwrap()).stderr(File::create(&log).unwrap()).spawn().unwrap();
    let answers = || std::fs::read_to_string(&said).unwrap().contains("answers at");
    eventually("it ends or answers", || (process.try_wait().unwrap().is_some() || answers()).then_some(()))
        .await;
    // It may have ended.
    let _ = process.kill();
    Ended { code: process.wait().unwrap().code(), log: std::fs::read_to_string(&log).unwrap() }
}

#[tokio::test]
async fn a_process_without_nats_refuses_shared_databases() {
    let Some(mut nodes) = Nodes::start(1).await else { return };
    nodes.until_even(&[0], JOINED).await;
    let Ended { code, log } = serve(&nodes, &[]).await;
    assert_eq!(code, Some(2), "{log}");
    assert!(log.contains("Set nats_url") && log.contains("--alone"), "{log}");

    nodes.server_mut(0).kill();
    // Said once, it holds for the next starts as well.
    for arguments in [&["--alone"][..], &[]] {
        let Ended { code, log } = serve(&nodes, arguments).await;
        assert_eq!(code, None, "it ended by itself: {log}");
    }
    let rows = nodes.postgres.answer(NAMES[1], &["SELECT count(*) FROM partition_hold"]);
    assert_eq!(rows.trim(), "0");
}
