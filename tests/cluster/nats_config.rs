//! `watchkeeper nats-config`, the command itself: what it says, and that a server starts with what it wrote.

use std::path::Path;
use std::process::{Command, Output};

use watchkeeper::bus::connection::{BusConnection, BusServers};
use watchkeeper::bus::credentials::BusCredentials;
use watchkeeper::config::limits::BusLimits;

use crate::bus::nats::{self, NatsServer};

fn nats_config(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_watchkeeper"));
    command.args(["nats-config", "--out"]).arg(folder).args(arguments).output().unwrap()
}

fn output_text(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[tokio::test]
async fn a_second_node_connects_to_the_server_of_the_first_run() {
    let Some(program) = nats::program() else { return };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("nats");
    let port = nats::free_port();
    let listen = format!("127.0.0.1:{port}");
    let first = output_text(&nats_config(&folder, &["--node", "a", "--listen", &listen]));
    assert!(first.contains("anyone who has it can act as node a (new)"), "{first}");
    let _server = NatsServer::start(program, &folder.join("nats-server.conf"), port).await;
    let before = std::fs::read_to_string(folder.join("nodes/a.creds")).unwrap();
    let second = output_text(&nats_config(&folder, &["--node", "b"]));
    assert!(second.contains("node a (kept)") && second.contains("node b (new)"), "{second}");
    assert_eq!(std::fs::read_to_string(folder.join("nodes/a.creds")).unwrap(), before);
    let configuration = std::fs::read_to_string(folder.join("nats-server.conf")).unwrap();
    assert!(configuration.contains(&format!("listen: \"{listen}\"")), "{configuration}");
    let servers =
        BusServers { url: format!("tls://localhost:{port}"), ca_file: Some(folder.join("tls/ca.pem")) };
    for node in ["a", "b"] {
        let credentials = BusCredentials::read(&folder.join(format!("nodes/{node}.creds"))).unwrap();
        let connection = BusConnection::open(&servers, credentials, &BusLimits::default()).await.unwrap();
        assert!(connection.jetstream().query_account().await.is_ok());
    }
}

#[test]
fn wrong_usage_is_one_line_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("nats");
    for (arguments, line) in [
        (&[][..], "watchkeeper: --node is missing: name at least one engine node\n"),
        (
            &["--node", "a", "--max-bytes", "64MiB"],
            "watchkeeper: --max-bytes: the streams need at least 6176MiB\n",
        ),
    ] {
        let output = nats_config(&folder, arguments);
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(String::from_utf8_lossy(&output.stderr), line);
        assert!(!folder.exists());
    }
}
