//! `watchkeeper doctor`: what is fine, what is not, and what to do next; nothing is made or changed.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::create_unconfigured;
use crate::support::server::Server;

/// Doctor on this folder, with a free address; as JSON.
fn doctor(folder: &Path, more: &[(&str, &str)]) -> Output {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let mut command = Command::new(env!("CARGO_BIN_EXE_watchkeeper"));
    command.args(["doctor", "--json", "--listen", &free, "--data-dir"]).arg(folder);
    command.envs(more.iter().copied()).current_dir(folder.parent().unwrap()).output().unwrap()
}

/// The verdicts of a check, and all that was said of it.
fn found(output: &Output, check: &str) -> (Vec<String>, String) {
    let told: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let findings = told["findings"].as_array().unwrap();
    let of_check: Vec<&Value> = findings.iter().filter(|finding| finding["check"] == check).collect();
    let verdicts = of_check.iter().map(|finding| finding["verdict"].as_str().unwrap().to_owned()).collect();
    (verdicts, of_check.iter().map(|finding| finding.to_string()).collect())
}

/// Names and sizes of everything in a folder.
fn content(folder: &Path) -> Vec<(String, u64)> {
    let mut all: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len()))
        .collect();
    all.sort();
    all
}

#[test]
fn a_missing_installation_is_a_problem_and_none_is_created() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("data");
    let output = doctor(&folder, &[]);
    assert_eq!(output.status.code(), Some(1));
    let (verdicts, said) = found(&output, "installation");
    assert_eq!(verdicts, ["problem"], "{said}");
    assert!(said.contains("watchkeeper serve"), "{said}");
    assert_eq!(content(parent.path()), []);
}

/// A stopped installation: sound, then with a key that others can read, then damaged, then without its key.
#[tokio::test]
async fn a_stopped_installation_is_examined_without_changes() {
    let mut server = Server::embedded("", &[]);
    create_unconfigured(&server.client());
    let folder = server.data();
    // It is asked at an address at which no server listens.
    let (verdicts, said) = found(&doctor(&folder, &[]), "server");
    assert_eq!(verdicts, ["unknown"], "{said}");
    assert!(said.contains("one runs on "), "{said}");
    let beside = doctor(&folder, &[("WATCHKEEPER_LISTEN_UNKNOWN", "x")]);
    assert_eq!(found(&beside, "main database").0, ["fine"], "beside the running server");
    assert_eq!(found(&beside, "settings").0, ["warning"], "a variable that is no setting");
    server.terminate().await;
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    let before = content(&folder);
    let output = doctor(&folder, &[]);
    for check in [
        "settings",
        "main database",
        "history database",
        "secret key",
        "server",
        "descriptors",
        "data folder",
    ] {
        let (verdicts, said) = found(&output, check);
        assert_eq!(verdicts, ["fine"], "{check}: {said}");
    }
    assert_eq!(output.status.code(), Some(i32::from(found(&output, "name servers").0 == ["problem"])));
    assert_eq!(content(&folder), before, "nothing is changed");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    let (verdicts, said) = found(&doctor(&folder, &[]), "data folder");
    assert!(verdicts == ["problem"] && said.contains("main.db"), "{said}");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    let key = folder.join("secret.key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    let (verdicts, said) = found(&doctor(&folder, &[]), "data folder");
    assert!(verdicts == ["problem"] && said.contains("chmod 600"), "{said}");
    let main = folder.join("main.db");
    let mut bytes = fs::read(&main).unwrap();
    bytes[4_096..8_192].fill(0x5a);
    fs::write(&main, bytes).unwrap();
    let output = doctor(&folder, &[]);
    let (verdicts, said) = found(&output, "main database");
    assert!(verdicts == ["problem"] && said.contains("restore"), "{said}");
    assert_eq!(output.status.code(), Some(1));
    fs::remove_file(&main).unwrap();
    let (verdicts, said) = found(&doctor(&folder, &[]), "installation");
    assert!(verdicts == ["problem"] && said.contains("main.db is missing"), "{said}");
}

/// Opening a pipe without a writer waits, as everything does on an unavailable file system.
#[tokio::test]
async fn a_file_that_cannot_be_opened_delays_no_other_check() {
    let mut server = Server::embedded("", &[]);
    create_unconfigured(&server.client());
    let folder = server.data();
    server.terminate().await;
    let key = folder.join("secret.key");
    fs::remove_file(&key).unwrap();
    nix::unistd::mkfifo(&key, nix::sys::stat::Mode::S_IRUSR | nix::sys::stat::Mode::S_IWUSR).unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let mut doctor = Command::new(env!("CARGO_BIN_EXE_watchkeeper"));
    doctor.args(["doctor", "--json", "--patience", "2", "--listen", &free, "--data-dir"]).arg(&folder);
    let output = doctor.output().unwrap();
    let (verdicts, said) = found(&output, "secret key");
    assert!(verdicts == ["unknown"] && said.contains("does not answer within 2 s"), "{said}");
    assert_eq!(found(&output, "main database").0, ["fine"]);
}

#[test]
fn a_running_server_is_reported_as_ready() {
    let server = Server::shared();
    let output = server.command(&["doctor", "--json", "--listen", &server.base().replace("http://", "")]);
    let (verdicts, said) = found(&output, "server");
    assert_eq!(verdicts.first().map(String::as_str), Some("fine"), "{said}");
    assert!(said.contains("ready"), "{said}");
    let words = server.command(&["doctor", "--listen", &server.base().replace("http://", "")]);
    let words = String::from_utf8(words.stdout).unwrap();
    assert!(words.contains("fine     server") && words.trim_end().ends_with(" fine."), "{words}");
}

/// The folder is mistyped, or that of a second installation, and the address is that of the first one.
#[test]
fn the_server_of_another_installation_is_recognised() {
    let (server, other) = (Server::shared(), Server::embedded("", &[]));
    let address = server.base().replace("http://", "");
    let place = tempfile::tempdir().unwrap();
    let mistyped = place.path().join("dta");
    for (folder, reason) in [(mistyped, "there is none in"), (other.data(), "runs at another address")] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_watchkeeper"));
        command.args(["doctor", "--json", "--listen", &address, "--data-dir"]).arg(&folder);
        let output = command.current_dir(place.path()).output().unwrap();
        let (verdicts, said) = found(&output, "server");
        assert_eq!(verdicts, ["problem"], "{said}");
        assert!(said.contains("another installation") && said.contains(reason), "{said}");
        assert!(said.contains("--data-dir") && said.contains(folder.to_str().unwrap()), "{said}");
    }
}

#[test]
fn databases_that_cannot_be_reached_are_named() {
    let parent = tempfile::tempdir().unwrap();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("postgres://nobody@{closed}/none");
    let nats = format!("tls://{closed}");
    let more = [
        ("WATCHKEEPER_DATABASE_URL", &*url),
        ("WATCHKEEPER_HISTORY_URL", &url),
        ("WATCHKEEPER_NATS_URL", &nats),
    ];
    let output = doctor(&parent.path().join("data"), &more);
    assert_eq!(output.status.code(), Some(1));
    for check in ["main database", "history database", "nats"] {
        let (verdicts, said) = found(&output, check);
        assert_eq!(verdicts, ["problem"], "{check}: {said}");
    }
    assert_eq!(content(parent.path()), [], "no folder is made");
}

/// An external database does not hide the other one.
#[test]
fn each_database_is_examined_at_its_location() {
    let parent = tempfile::tempdir().unwrap();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("postgres://nobody@{closed}/none");
    let output = doctor(&parent.path().join("data"), &[("WATCHKEEPER_DATABASE_URL", &*url)]);
    let (verdicts, said) = found(&output, "main database");
    assert!(verdicts == ["problem"] && said.contains("PostgreSQL"), "{said}");
    let (verdicts, said) = found(&output, "history database");
    assert!(verdicts == ["problem"] && said.contains("history.db is missing"), "{said}");
    assert_eq!(found(&output, "secret key").0, ["unknown"]);
}

/// Something accepts on the address of the server and says nothing.
#[test]
fn a_server_that_does_not_answer_is_a_problem() {
    let parent = tempfile::tempdir().unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let mut command = Command::new(env!("CARGO_BIN_EXE_watchkeeper"));
    command.args(["doctor", "--json", "--listen", &address, "--data-dir", "data"]);
    let output = command.current_dir(parent.path()).output().unwrap();
    let (verdicts, said) = found(&output, "server");
    assert!(verdicts == ["problem"] && said.contains("does not answer"), "{said}");
    assert_eq!(output.status.code(), Some(1));
}

/// Only root can become another user.
#[test]
fn unreadable_files_are_reported_as_unknown() {
    use std::os::unix::process::CommandExt as _;
    let server = Server::embedded("", &[]);
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let mut command = Command::new(env!("CARGO_BIN_EXE_watchkeeper"));
    command.args(["doctor", "--json", "--listen", &free, "--data-dir"]).arg(server.data());
    let Ok(output) = command.uid(65_534).current_dir("/").output() else {
        eprintln!("NOT RUN: only root can become another user");
        return;
    };
    let (verdicts, said) = found(&output, "installation");
    assert!(verdicts == ["unknown"] && said.contains("user of the server"), "{said}");
    assert!(!said.contains("watchkeeper serve"), "{said}");
}

/// Answers every connection with this text, as long as the test runs; in HTTP the client sends first.
fn answering(text: String) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            if text.starts_with("HTTP") {
                let _ = stream.read(&mut [0; 4_096]);
            }
            let _ = stream.write_all(text.as_bytes());
            // Until the other side has had it.
            let _ = stream.shutdown(Shutdown::Write);
            let _ = stream.read_to_end(&mut Vec::new());
        }
    });
    address
}

/// The mail servers of channels are contacted without a login, except those of disabled channels.
#[test]
fn mail_servers_of_channels_are_contacted() {
    let server = Server::embedded("", &[]);
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (greeting, refusing) = (answering("220 mail ready\r\n".into()), answering("554 no\r\n".into()));
    for (address, is_enabled) in [(greeting, true), (greeting, true), (refusing, true), (closed, false)] {
        let settings = json!({
            "host": "127.0.0.1", "port": address.port(), "encryption": "none", "from": "a@example.org", "to": ["b@example.org"],
        });
        let channel =
            json!({"kind": "email", "name": "Mails", "settings": settings, "is_enabled": is_enabled});
        server.client().post("/v1/notification-channels", &channel).expect(201);
    }
    let output = server.command(&["doctor", "--json", "--listen", &server.base().replace("http://", "")]);
    let (mut verdicts, said) = found(&output, "mail server");
    verdicts.sort();
    assert_eq!(verdicts, ["fine", "problem"], "{said}");
    assert!(
        said.contains(&format!("127.0.0.1:{} refuses, or is not a mail server: 554 no", refusing.port())),
        "{said}"
    );
}

/// The clock of the server at the public address is read from its response.
#[test]
fn the_clock_is_compared_with_the_public_address() {
    let parent = tempfile::tempdir().unwrap();
    let date = "Sat, 01 Jan 2000 00:00:00 GMT";
    let answer = format!("HTTP/1.1 200 OK\r\nDate: {date}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    let url = format!("http://{}", answering(answer));
    let output = doctor(&parent.path().join("data"), &[("WATCHKEEPER_PUBLIC_API_URL", &url)]);
    let (verdicts, said) = found(&output, "clock");
    assert!(verdicts == ["warning"] && said.contains("s ahead of that of") && said.contains("NTP"), "{said}");
    assert_eq!(found(&doctor(&parent.path().join("data"), &[]), "clock").0, [""; 0]);
}
