//! Open status pages follow the present state over a stream.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::pages::{create_page, fresh, get_at, host_of, id_of, new_component};
use crate::support::server::Server;
use crate::support::{create, service};

/// Longest wait for an event; only a failure takes so long.
const PATIENCE: Duration = Duration::from_secs(60);

/// The stream of an open page.
struct OpenPage {
    stream: TcpStream,
    text: String,
}

impl OpenPage {
    fn open(client: &Client, host: &str, path: &str) -> Self {
        let mut stream = TcpStream::connect(client.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).unwrap();
        Self { stream, text: String::new() }
    }

    /// Reads until this text arrives; returns everything up to its end.
    fn until(&mut self, wanted: &str) -> String {
        let mut buffer = [0; 65_536];
        loop {
            if let Some(at) = self.text.find(wanted) {
                let rest = self.text.split_off(at + wanted.len());
                return std::mem::replace(&mut self.text, rest);
            }
            let read = self.stream.read(&mut buffer).unwrap();
            assert!(read > 0, "no `{wanted}` in {}", self.text);
            self.text += &String::from_utf8_lossy(&buffer[..read]);
        }
    }

    /// The data of the next event of this kind.
    fn next(&mut self, kind: &str) -> String {
        self.until(&format!("event: {kind}\ndata: "));
        self.until("\n\n").trim_end().to_owned()
    }

    /// Reads until the end of the stream.
    fn end(mut self) {
        let mut rest = Vec::new();
        self.stream.read_to_end(&mut rest).unwrap();
    }
}

fn page(client: &Client) -> (String, String) {
    let page = create_page(client, &json!({"slug": fresh("live")}));
    (id_of(&page), host_of(&page))
}

#[test]
fn a_change_reaches_an_open_page() {
    let client = Server::shared_client();
    let (id, host) = page(&client);
    let till = create(&client, &json!({"name": "Till", "check_type": "manual"}));
    let component = new_component(&client, &id, &json!({"name": "Till", "service_id": till}));
    let html = get_at(&client, &host, "/").expect(200).body;
    let mut open = OpenPage::open(&client, &host, "/events");
    let head = open.until("\r\n\r\n").to_lowercase();
    assert!(head.contains("text/event-stream") && head.contains("cache-control: no-store"), "{head}");
    let revision = open.next("hello");
    assert!(html.contains(&format!("data-revision=\"{revision}\"")), "{html}");

    let stated = json!({"status": "down", "reason": "Seen"});
    client.post(&format!("{}/status-override", service(&till)), &stated).expect(200);
    let change: Value = serde_json::from_str(&open.next("change")).unwrap();
    let fragments = change["fragments"].as_array().unwrap();
    let ids: Vec<&str> = fragments.iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["overall", &format!("c-{component}")]);
    assert!(fragments[1]["html"].as_str().unwrap().contains("Major outage"), "{change}");
    let html = get_at(&client, &host, "/").expect(200).body;
    assert!(html.contains(&format!("data-revision=\"{}\"", change["revision"].as_str().unwrap())));
    for fragment in fragments {
        assert!(html.contains(fragment["html"].as_str().unwrap().trim()), "{fragment}");
    }

    let incident =
        json!({"title": "Till is slow", "message": "We look.", "is_published": true, "service_ids": [till]});
    client.post("/v1/incidents", &incident).expect(201);
    assert!(open.next("change").contains("Till is slow"));
    new_component(&client, &id, &json!({"name": "Search"}));
    open.until("event: reload\n");
}

#[tokio::test]
async fn streams_are_limited_and_end_with_the_server() {
    let mut server = Server::with("[events]\npage_listeners = 1\n", &[]);
    let client = server.client();
    let (_, host) = page(&client);
    let mut first = OpenPage::open(&client, &host, "/events");
    first.next("hello");
    let refused = get_at(&client, &host, "/events");
    assert_eq!((refused.status, refused.header("retry-after").is_some()), (503, true));
    assert_eq!(server.terminate().await, Some(0));
    first.end();
}
