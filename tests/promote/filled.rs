//! An installation that holds something of everything: made through the API and by an import, then stopped.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::moments::in_ms;
use crate::support::pages::{component, create_component, id_of, new_component, new_page, statuspage};
use crate::support::planned::{in_state, planned};
use crate::support::server::Server;
use crate::support::{create, service, until_checks};

const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 1_440 * MINUTE_MS;
/// A picture of one dot.
const DOT: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0,
    0, 1, 8, 6, 0, 0, 0, 0x1f, 0x15, 0xc4, 0x89, 0, 0, 0, 0x0d, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63,
    0x60, 0x60, 0x60, 0x60, 0, 0, 0, 5, 0, 1, 0xa5, 0xf6, 0x45, 0x40, 0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44,
    0xae, 0x42, 0x60, 0x82,
];

/// An installation and the ids of its services.
pub(crate) struct Filled {
    pub(crate) server: Server,
    pub(crate) services: Vec<String>,
    page: String,
    slug: String,
    /// Midnight before the first imported result.
    from_ms: i64,
}

/// A stopped installation with this number of imported results; the server's settings beside the usual ones.
pub(crate) async fn filled(results: i64) -> Filled {
    let mut server = Server::start();
    let client = server.client();
    let services = add_services(&client).await;
    add_incidents(&client, &services);
    let (page, slug) = add_page(&client, &services);
    let rival = server.tenant("team");
    claim_host(&rival, &new_page(&rival));
    server.member(&server.organisation("team"), "services.view");
    server.kill();
    let from_ms = (in_ms(0).day() - 3) * DAY_MS;
    import(&server, &services, (from_ms, results));
    Filled { server, services, page, slug, from_ms }
}

async fn add_services(client: &Client) -> Vec<String> {
    let quiet = json!({"interval_seconds": 604_800, "retries": 0});
    let mut secret = quiet.clone();
    secret["config"] = json!({"auth": {"type": "bearer", "token": "old-token"}, "headers": {"X-Key": "v"}});
    let watched = |name: &str, check_type: &str, target: &str, settings: &Value| {
        let tags = json!(["env:Prod", format!("name:{name}")]);
        let body = json!({"name": name, "check_type": check_type, "target": target, "settings": settings, "tags": tags});
        create(client, &body)
    };
    let services = vec![
        watched("Shöp \u{1f6d2}", "tcp", "127.0.0.1:9", &quiet),
        watched("API", "http", "http://127.0.0.1:9/", &secret),
        watched("Paused", "tcp", "127.0.0.1:9", &quiet),
        create(client, &json!({"name": "Office", "check_type": "manual"})),
        create(
            client,
            &json!({"name": "Backup", "check_type": "heartbeat",
            "settings": {"interval_seconds": 604_800}}),
        ),
        create(client, &json!({"name": "Draft", "check_type": "http", "target": "http://127.0.0.1:9/"})),
    ];
    for id in &services[..3] {
        until_checks(client, id, 1).await;
    }
    client.post(&format!("{}/pause", service(&services[2])), &json!({"reason": "later"})).expect(200);
    let body = json!({"status": "degraded", "reason": "slow"});
    client.post(&format!("{}/status-override", service(&services[0])), &body).expect(200);
    let shown = client.get(&service(&services[4])).expect(200).data();
    let address = shown["heartbeat"]["ping_url"].as_str().unwrap();
    client.without_token().send("POST", &address[address.find("/ping/").unwrap()..], &[], b"").expect(200);
    let gone = create(client, &json!({"name": "Gone", "check_type": "manual"}));
    client.delete(&service(&gone));
    services
}

fn add_incidents(client: &Client, services: &[String]) {
    for (number, resolve) in [(0, true), (1, false), (2, true)] {
        let body = json!({"title": format!("Outage {number}"), "message": "We look \"into\" it.\n",
            "service_ids": [services[number]], "severity": "major"});
        let lines = ["Content-Type: application/json", &*format!("Idempotency-Key: outage-{number}")];
        let made =
            client.send("POST", "/v1/incidents", &lines, body.to_string().as_bytes()).expect(201).data();
        let path = format!("/v1/incidents/{}", id_of(&made));
        client
            .post(&format!("{path}/updates"), &json!({"status": "identified", "message": "Found."}))
            .expect(201);
        if resolve {
            client.post(&format!("{path}/resolve"), &json!({"message": "Over."})).expect(200);
        }
    }
    let covered: Vec<&str> = services.iter().take(2).map(String::as_str).collect();
    for status in ["scheduled", "completed", "cancelled"] {
        in_state(client, status, &covered);
    }
    planned(client, &json!({"service_ids": [services[3]]}));
}

fn add_page(client: &Client, services: &[String]) -> (String, String) {
    let made = client
        .post("/v1/statuspages", &json!({"name": "Shop status", "slug": "shop-one"}))
        .expect(201)
        .data();
    let page = id_of(&made);
    let path = format!("/v1/statuspages/{page}");
    // The child is older than its group.
    let child = new_component(client, &page, &json!({"service_id": services[0]}));
    let group = id_of(&create_component(client, &page, &json!({"is_group": true})));
    client.patch(&component(&page, &child), &json!({"parent_id": group})).expect(200);
    let tags = client.get("/v1/tags").expect(200).data();
    let tag = tags.as_array().unwrap().iter().find(|tag| tag["key"] == "env").unwrap()["id"].clone();
    create_component(client, &page, &json!({"is_group": true, "sync_tag_id": tag}));
    let head = "--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x.png\"\r\n\r\n";
    let form = [head.as_bytes(), DOT, b"\r\n--XX--\r\n"].concat();
    let lines = ["Content-Type: multipart/form-data; boundary=XX"];
    client.send("POST", &format!("{path}/assets/logo"), &lines, &form).expect(200);
    claim_host(client, &page);
    let slug = client.patch(&path, &json!({"slug": "shop-two"})).expect(200).data()["slug"].clone();
    (page, slug.as_str().unwrap().to_owned())
}

/// Claims the host name that every page here claims.
fn claim_host(client: &Client, page: &str) {
    let domain = json!({"hostname": "status.example.com"});
    client.post(&format!("{}/custom-domains", statuspage(page)), &domain).expect(201);
}

/// Results of two services from two places, a quarter of a minute apart; every hundredth is down.
fn import(server: &Server, services: &[String], (from_ms, results): (i64, i64)) {
    let mut csv = String::from("service,location,time,status,response_time_ms,error_message\n");
    for number in 0..results {
        let (id, place) =
            (&services[usize::from(number % 2 == 0)], ["fra", "nyc"][usize::from(number % 4 > 1)]);
        let at = from_ms + number / 4 * (2 * DAY_MS * 4 / results.max(4));
        let is_down = number / 4 % 100 == 99;
        let outcome = if is_down { "down,,refused".into() } else { format!("up,{}.5,", 20 + number % 80) };
        writeln!(csv, "{id},{place},{at},{outcome}").unwrap();
    }
    let file = server.data().join("results.csv");
    std::fs::write(&file, csv).unwrap();
    let done = server.command_json(&["import", "--interval", "60", file.to_str().unwrap()]);
    assert_eq!(done["stored"], results);
    std::fs::remove_file(file).unwrap();
}

impl Filled {
    /// Output of the API, a page and the command line; figures that go up to now are left out.
    pub(crate) fn seen(&self) -> Vec<(String, String)> {
        let client = self.server.client();
        let mut seen = Vec::new();
        let mut look = |path: String| {
            let answer = client.get(&path).expect(200);
            let data = answer.json()["data"].clone();
            // Addresses of its own follow the port that it listens on.
            let text = without_now(data).to_string().replace(&format!(":{}", client.address.port()), ":PORT");
            seen.push((path, text));
        };
        for path in
            ["/v1/services?per_page=100", "/v1/tags", "/v1/incidents", "/v1/maintenances", "/v1/statuspages"]
        {
            look(path.to_owned());
        }
        let page = format!("/v1/statuspages/{}", self.page);
        for path in ["", "/components", "/custom-domains"] {
            look(format!("{page}{path}"));
        }
        let (from, to) = (in_text(self.from_ms), in_text(self.from_ms + 2 * DAY_MS));
        for id in &self.services {
            let path = service(id);
            look(path.clone());
            look(format!("{path}/checks?per_page=100"));
            look(format!("{path}/checks?per_page=100&from={from}&to={to}"));
            look(format!("{path}/incidents"));
        }
        for id in &self.services[..2] {
            look(format!("{}/response-times?from={from}&to={to}", service(id)));
            look(format!("{}/uptime?from={}&to={}", service(id), &from[..10], &to[..10]));
        }
        let logo = client.get(&page).expect(200).data()["logo_url"].as_str().unwrap().to_owned();
        let host = format!("{}.localhost", self.slug);
        let path = &logo[logo.find("/assets/").unwrap()..];
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        seen.push((path.to_owned(), format!("{:?}", raw(&client, &request))));
        for arguments in [["org", "list"], ["token", "list"]] {
            seen.push((arguments.join(" "), self.server.command_json(&arguments).to_string()));
        }
        seen
    }
}

/// The body as received, which may be a picture.
fn raw(client: &Client, request: &str) -> Vec<u8> {
    use std::io::{Read as _, Write as _};
    let mut stream = std::net::TcpStream::connect(client.address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    assert!(bytes.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&bytes));
    let body = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    bytes.split_off(body)
}

/// A time as an argument of a query.
fn in_text(ms: i64) -> String {
    watchkeeper::clock::Timestamp::from_ms(ms).to_string()
}

/// Leaves out what differs from second to second.
fn without_now(mut value: Value) -> Value {
    match &mut value {
        Value::Array(values) => {
            // A day that is not over changes with every second.
            values.retain(|value| value["date"] != in_text(in_ms(0).ms())[..10]);
            values.iter_mut().for_each(|value| *value = without_now(value.take()));
        }
        Value::Object(map) => {
            map.retain(|key, _| !key.contains("uptime") && key != "duration_seconds");
            map.iter_mut().for_each(|(_, value)| *value = without_now(value.take()));
        }
        _ => {}
    }
    value
}
