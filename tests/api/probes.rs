//! `GET /v1/probes` (contract 4.1, 1.4): a whole collection, paged only on request.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener};

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::server::Server;
use crate::support::{create_watched, eventually};

const THREE: &str = "[[probe.locations]]\ncode = 'hel'\nname = 'Helsinki'\nlocation = 'Finland'\ncountry_code = 'FI'\n\
    [[probe.locations]]\ncode = 'fra'\n[[probe.locations]]\ncode = 'ams'\n";

#[test]
fn the_one_location_of_a_fresh_installation_is_local() {
    let server = Server::shared();
    let list = server.client().get("/v1/probes").expect(200).json();
    let mut row = list["data"][0].clone();
    assert!(row["last_seen_at"].take().is_string());
    let expected = json!({"code": "local", "name": "local", "location": "", "country_code": "ZZ", "kind": "public",
        "status": "online", "last_seen_at": null});
    assert_eq!(row.to_string(), expected.to_string());
    let path = format!("{}/v1/probes", server.base());
    let link = format!("{path}?page=1");
    assert_eq!(list["links"], json!({"first": link, "last": link, "prev": null, "next": null}));
    let meta = json!({"current_page": 1, "per_page": 1, "total": 1, "last_page": 1, "from": 1, "to": 1, "path": path});
    assert_eq!(list["meta"], meta);
}

/// Contract 1.4: all rows without paging parameters, ordered by code; the normal rules with one.
#[test]
fn locations_are_ordered_by_code_and_paged_only_on_request() {
    let server = Server::with(THREE, &[]);
    for (query, codes, per_page) in [
        ("", json!(["ams", "fra", "hel"]), 3),
        ("?x=1", json!(["ams", "fra", "hel"]), 3),
        ("?page=1", json!(["ams", "fra", "hel"]), 15),
        ("?per_page=2", json!(["ams", "fra"]), 2),
        ("?per_page=2&page=2", json!(["hel"]), 2),
        ("?page=3", json!([]), 15),
    ] {
        let list = server.client().get(&format!("/v1/probes{query}")).expect(200).json();
        let found: Vec<&Value> = list["data"].as_array().unwrap().iter().map(|row| &row["code"]).collect();
        assert_eq!((json!(found), &list["meta"]["per_page"]), (codes, &json!(per_page)), "{query}");
    }
    let helsinki = &server.client().get("/v1/probes").expect(200).data()[2];
    assert_eq!((&helsinki["name"], &helsinki["country_code"]), (&json!("Helsinki"), &json!("FI")));
}

/// Contract 4.3.4: order and codes of `assigned_probes`, and the roles of several locations.
#[rstest]
#[case(json!(["hel", "ams", "hel"]), Value::Null, json!(["hel", "ams"]))]
#[case(Value::Null, json!({"fra": "reachability"}), Value::Null)]
fn locations_are_assigned_in_their_order(#[case] sent: Value, #[case] roles: Value, #[case] read: Value) {
    let server = Server::with(THREE, &[]);
    let settings = json!({"interval_seconds": 604_800, "assigned_probes": sent, "probe_roles": roles});
    let body = json!({"name": "x", "check_type": "tcp", "target": "127.0.0.1:9", "settings": settings});
    let made = server.client().post("/v1/services", &body).expect(201).data();
    assert_eq!((&made["settings"]["assigned_probes"], &made["settings"]["probe_roles"]), (&read, &roles));
}

/// Evidence is weighed per organisation: what one sees of a location is not shown to another.
#[tokio::test]
async fn a_location_that_contradicts_all_others_is_impaired_per_organisation() {
    let location = |number: u8| {
        format!("[[probe.locations]]\ncode = 'l{number}'\nsource_address = '127.0.8.{number}'\n")
    };
    let server = Server::embedded(&(1..=3).map(location).collect::<String>(), &[]);
    let (client, neighbour) = (server.client(), server.tenant("team"));
    let target = unfriendly_target([127, 0, 8, 2].into());
    let settings = json!({"interval_seconds": 1, "retries": 0});
    for _ in 0..5 {
        create_watched(&client, &format!("http://{target}/"), &settings);
    }
    let standings = |client: &Client| {
        let probes = client.get("/v1/probes").expect(200).data();
        let status = |probe: &Value| probe["status"].as_str().unwrap().to_owned();
        probes.as_array().unwrap().iter().map(status).collect::<Vec<_>>()
    };
    let is_suspect = || (standings(&client) == ["online", "impaired", "online"]).then_some(());
    eventually("the second location is impaired", is_suspect).await;
    assert_eq!(standings(&neighbour), ["online"; 3]);
    let told = client.get("/metrics").expect(200).body;
    assert!(told.contains("watchkeeper_location_suspect{location=\"l2\"} 1\n"), "{told}");
    assert!(told.contains("watchkeeper_location_impaired{location=\"l2\"} 0\n"), "its network works: {told}");
}

/// A web server that answers every address but one, to which it responds with 500.
pub(crate) fn unfriendly_target(to: IpAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        while let Ok((mut stream, from)) = listener.accept() {
            let _ = stream.read(&mut [0; 4_096]);
            let status = if from.ip() == to { 500 } else { 200 };
            let answer = format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    address
}
