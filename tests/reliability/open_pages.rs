//! Visitors who have a status page open cost little memory: 1,000 of them, with `WATCHKEEPER_ENDURE=1` 5,000, at most 20 KiB
//! each, and each still hears of a change.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::json;
use socket2::{Domain, Socket, Type};

use crate::durable_answers::pause;
use crate::endures;
use crate::slow_clients::raise_limit_of_files;
use crate::support::client::Client;
use crate::support::pages::{create_page, get_at, host_of, id_of, new_component};
use crate::support::server::Server;
use crate::support::{create, service};

const QUICK: usize = 1_000;
const LONG: usize = 5_000;
const VISITOR_MAX_KIB: u64 = 20;
/// Longest wait for an event; only a failure takes so long.
const PATIENCE: Duration = Duration::from_secs(120);

fn memory_kib(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.process())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse().unwrap()
}

/// Opens the stream of a page from one of 250 addresses, for a client has only a part of the room, and reads its first event.
fn open(client: &Client, host: &str, place: usize) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    let last = u8::try_from(place % 250 + 1).unwrap();
    socket.bind(&SocketAddr::from(([127, 0, 0, last], 0)).into()).unwrap();
    socket.connect(&client.address.into()).unwrap();
    let mut stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(format!("GET /events HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).unwrap();
    until(&mut stream, "event: hello");
    stream
}

fn until(stream: &mut TcpStream, wanted: &str) {
    let (mut text, mut buffer) = (String::new(), [0; 16_384]);
    while !text.contains(wanted) {
        let read = stream.read(&mut buffer).unwrap();
        assert!(read > 0, "no `{wanted}` in {text}");
        text += &String::from_utf8_lossy(&buffer[..read]);
    }
}

#[test]
fn open_pages_cost_little_memory() {
    raise_limit_of_files();
    let server = Server::with("", &[]);
    let client = server.client();
    let page = create_page(&client, &json!({"slug": "crowded"}));
    let host = host_of(&page);
    let till = create(&client, &json!({"name": "Till", "check_type": "manual"}));
    new_component(&client, &id_of(&page), &json!({"name": "Till", "service_id": till}));
    let state = |status: &str| {
        let stated = json!({"status": status, "reason": "Seen"});
        client.post(&format!("{}/status-override", service(&till)), &stated).expect(200);
    };
    state("up");
    get_at(&client, &host, "/").expect(200);
    // What the first visitors make the server keep for all.
    let mut streams: Vec<TcpStream> = (0..50).map(|place| open(&client, &host, place)).collect();
    pause(Duration::from_secs(1));
    let before = memory_kib(&server);
    let visitors = if endures() { LONG } else { QUICK };
    streams.extend((0..visitors).map(|place| open(&client, &host, place)));
    pause(Duration::from_secs(1));
    let opened = memory_kib(&server).saturating_sub(before);
    state("down");
    for stream in &mut streams {
        until(stream, "event: change");
    }
    let told = memory_kib(&server).saturating_sub(before);
    let visitors = u64::try_from(visitors).unwrap();
    println!("{visitors} visitors: {opened} KiB, {told} KiB after a change");
    for kib in [opened, told] {
        assert!(kib <= visitors * VISITOR_MAX_KIB, "{kib} KiB for {visitors} visitors");
    }
}
