//! Reliability 7: SIGTERM ends the process within 10 s, whatever it does: under load no request is cut and nothing
//! acknowledged is lost; during a start it does not wait for the start.
//!
//! It is ended twice, with `WATCHKEEPER_ENDURE=1` twenty times.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::crowd::{Crowd, ROOM, now, number};
use crate::support::client::Client;
use crate::support::eventually;
use crate::support::server::Server;

const CLIENTS: usize = 8;
const LONGEST: Duration = Duration::from_secs(10);

fn rounds() -> u64 {
    if std::env::var("WATCHKEEPER_ENDURE").is_ok_and(|value| value == "1") { 20 } else { 2 }
}

/// Creates services on new connections until there is no server any more; returns the ids that were answered.
fn create_until_it_ends(client: &Client, cut: &Mutex<Vec<String>>, is_over: &AtomicBool) -> Vec<String> {
    let body = json!({"name": "One", "check_type": "manual"}).to_string();
    let head = format!(
        "POST /v1/services HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        client.token.as_deref().unwrap(),
        body.len(),
    );
    let mut created = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let Some(answer) = ask(client.address, &head) else { continue };
        match whole_answer(&answer) {
            Some(answer) => created.push(answer["data"]["id"].as_str().unwrap().to_owned()),
            None => cut.lock().unwrap().push(answer),
        }
    }
    created
}

/// The answer; nothing when the connection was never accepted.
fn ask(address: SocketAddr, request: &str) -> Option<String> {
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1)).ok()?;
    stream.write_all(request.as_bytes()).ok()?;
    let mut bytes = Vec::new();
    // A reset before the first byte: it waited in the queue of a listener that was closed.
    let _ = stream.read_to_end(&mut bytes);
    (!bytes.is_empty()).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

fn whole_answer(text: &str) -> Option<Value> {
    let (head, body) = text.split_once("\r\n\r\n")?;
    head.starts_with("HTTP/1.1 201").then(|| serde_json::from_str(body).ok())?
}

#[tokio::test]
async fn sigterm_under_load_cuts_no_request_and_loses_nothing() {
    let mut server = Server::with(&format!("{ROOM}tags = 10000\n"), &[]);
    let crowd = Crowd::gather(&server.client(), 100);
    for round in 0..rounds() {
        let client = server.client();
        eventually("results are acknowledged", || {
            (number(&client, "results_acked_total") > 100).then_some(())
        })
        .await;
        let (cut, is_over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| {
                let (client, cut, is_over) = (client.clone(), Arc::clone(&cut), Arc::clone(&is_over));
                std::thread::spawn(move || create_until_it_ends(&client, &cut, &is_over))
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(700)).await;
        let acknowledged = number(&client, "results_acked_total");
        let (asked_at, stopped_at) = (Instant::now(), now());
        assert_eq!(server.terminate().await, Some(0), "{}", server.log());
        let took = asked_at.elapsed();
        assert!(took < LONGEST, "{took:?}");
        is_over.store(true, Ordering::Relaxed);
        let created: Vec<String> = clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
        assert_eq!(*cut.lock().unwrap(), Vec::<String>::new(), "an answer was cut");
        assert!(!created.is_empty());
        server.restart();
        let client = server.client();
        for id in &created {
            client.get(&format!("/v1/services/{id}")).expect(200);
        }
        let seen = crowd.seen_before(&client, stopped_at);
        assert!(seen.checks as u64 >= acknowledged, "{} of {acknowledged}", seen.checks);
        println!("round {round}: ended after {took:?}, {} requests were answered", created.len());
    }
}

#[tokio::test]
async fn sigterm_during_the_start_does_not_wait_for_the_start() {
    // A database that accepts and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://nobody@{}/none", silent.local_addr().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_watchkeeper"));
    command.env_clear().current_dir(folder.path()).env("WATCHKEEPER_PROBE__REFERENCE_TARGETS", "none");
    command.envs([("WATCHKEEPER_LISTEN", "127.0.0.1:0"), ("WATCHKEEPER_DATABASE_URL", &url)]);
    let mut child = command.arg("serve").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // Held open: a database that closes would end the start by itself.
    let _held = silent.accept().unwrap();
    let asked_at = Instant::now();
    let order = format!("kill -TERM {}", child.id());
    assert!(Command::new("sh").args(["-c", &order]).status().unwrap().success());
    let status = eventually("the process ends", || child.try_wait().unwrap()).await;
    assert_eq!(status.code(), Some(0));
    assert!(asked_at.elapsed() < Duration::from_secs(1), "{:?}", asked_at.elapsed());
}
