//! Open status pages follow the present state over a stream.

use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::event_reader::EventReader;
use crate::support::pages::{create_page, fresh, get_at, host_of, id_of, new_component};
use crate::support::server::Server;
use crate::support::{create, service};

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
    let mut open = EventReader::open(&client, "/events", &[&format!("Host: {host}")]);
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
    let mut first = EventReader::open(&client, "/events", &[&format!("Host: {host}")]);
    first.next("hello");
    let refused = get_at(&client, &host, "/events");
    assert_eq!((refused.status, refused.header("retry-after").is_some()), (503, true));
    assert_eq!(server.terminate().await, Some(0));
    first.end();
}
