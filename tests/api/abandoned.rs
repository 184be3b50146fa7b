//! A deleted service (contract 4.3.9): the check that is under way is abandoned, and nothing of it is seen any more.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use serde_json::json;

use crate::support::server::Server;
use crate::support::{create_watched, eventually, service};

/// The first visitor of a listener that has sent its request.
async fn visitor(listener: &TcpListener) -> TcpStream {
    listener.set_nonblocking(true).unwrap();
    let accepted = eventually("the check arrives", || listener.accept().ok());
    let (mut stream, _) = accepted.await;
    stream.set_nonblocking(false).unwrap();
    assert!(stream.read(&mut [0; 4_096]).unwrap() > 0);
    stream
}

/// A number of `/metrics`.
fn number(server: &Server, name: &str) -> f64 {
    let text = server.client().without_token().get("/metrics").expect(200).body;
    let lines = text.lines().filter(|line| line.starts_with(name));
    lines.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
}

#[tokio::test]
async fn a_running_check_is_abandoned() {
    let server = Server::start();
    let client = server.client();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let settings = json!({"interval_seconds": 3600, "timeout_seconds": 60, "retries": 5});
    let id = create_watched(&client, &url, &settings);
    let mut stream = visitor(&listener).await;
    let acked = number(&server, "watchkeeper_results_acked_total");

    client.delete(&service(&id)).expect(200);
    client.get(&service(&id)).expect(404);
    client.get(&format!("{}/checks", service(&id))).expect(404);

    // An answer that would be a bad result, and five more attempts.
    let answer = b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let _ = stream.write_all(answer);
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let ended = stream.read(&mut [0; 16]);
    assert!(
        !matches!(&ended, Err(error) if error.kind() == ErrorKind::WouldBlock),
        "the probe holds on: {ended:?}"
    );
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(listener.accept().is_err(), "nobody looks again");
    assert!((number(&server, "watchkeeper_results_acked_total") - acked).abs() < 0.5, "nothing was recorded");
    assert!(!server.log().contains("ERROR"), "{}", server.log());
}
