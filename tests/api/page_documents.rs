//! The documents of a status page besides its root: components with their past days, months, incidents, maintenances, feeds.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::moments::in_ms;
use crate::support::pages::{create_page, fresh, get_at, host_of, id_of, new_component, statuspage};
use crate::support::server::Server;
use crate::support::{create, service, until_checks};

fn page(client: &Client) -> (String, String) {
    let page = create_page(client, &json!({"slug": fresh("documents")}));
    (id_of(&page), host_of(&page))
}

fn html(client: &Client, host: &str, path: &str) -> String {
    get_at(client, host, path).expect(200).body
}

fn announce(client: &Client, fields: &Value) -> String {
    let mut body = json!({"title": "Till is slow", "message": "We *look*.", "is_published": true});
    for (key, value) in fields.as_object().unwrap() {
        body[key] = value.clone();
    }
    id_of(&client.post("/v1/incidents", &body).expect(201).data())
}

/// A service that was checked once, and failed.
async fn checked_once(client: &Client) -> String {
    let settings = json!({"interval_seconds": 604_800, "retries": 0});
    let body = json!({"name": "Shop", "check_type": "tcp", "target": "127.0.0.1:9", "settings": settings});
    let id = create(client, &body);
    until_checks(client, &id, 1).await;
    id
}

/// A service with ten imported minutes three days ago, of which the fourth and the fifth were down, on a page of a server of
/// its own.
async fn with_past() -> (Server, String, String, String) {
    let mut server = Server::with("", &[]);
    let client = server.client();
    let id = checked_once(&client).await;
    let (page, host) = page(&client);
    let component = new_component(&client, &page, &json!({"service_id": id}));
    server.kill();
    let path = server.data().join("past.csv");
    let mut text = "service,location,time,status,response_time_ms\n".to_owned();
    for minute in 0..10 {
        let status = if (3..5).contains(&minute) { "down" } else { "up" };
        let at = in_ms(-3 * 86_400_000 + minute * 60_000);
        text += &format!("{id},fra,{at},{status},80\n");
    }
    std::fs::write(&path, text).unwrap();
    server.command_json(&["import", "--interval", "60", path.to_str().unwrap()]);
    server.restart();
    (server, id, host, component)
}

#[tokio::test]
async fn a_component_has_its_past_days_with_exact_edges() {
    let (server, id, host, component) = with_past().await;
    let client = server.client();
    let home = html(&client, &host, "/");
    assert!(home.contains(&format!("<a class=\"bar\" href=\"/components/{component}\"")), "{home}");
    assert!(home.contains("<path class=\"major_outage\"") && home.contains("class=\"gap\""), "{home}");
    let shown = html(&client, &host, &format!("/components/{component}"));
    let changes = client.get(&format!("{}/status-changes", service(&id))).expect(200).data();
    let found = |status: &str| {
        let changes = changes.as_array().unwrap();
        changes.iter().find(|one| one["to"] == status && one["until"].is_string()).unwrap().clone()
    };
    for (status, word) in [("down", "Down"), ("no_data", "No data")] {
        let change = found(status);
        let [from, to] = ["at", "until"].map(|key| change[key].as_str().unwrap());
        let edges = format!("{word}</span> <time datetime=\"{from}\">");
        assert!(shown.contains(&edges) && shown.contains(&format!("<time datetime=\"{to}\">")), "{shown}");
    }
    assert!(shown.contains(", 2 min</li>"), "{shown}");
    let date = in_ms(-3 * 86_400_000).date();
    assert!(shown.contains(&format!("<th scope=\"row\">{date}</th>")), "{shown}");
    let hidden =
        client.patch(&component_path(&client, &host, &component), &json!({"show_uptime_bars": false}));
    hidden.expect(200);
    assert!(!html(&client, &host, "/").contains("class=\"bar\""));
    assert!(!html(&client, &host, &format!("/components/{component}")).contains("<table"));
}

/// Locations and the agreed availability are shown where the page wants them.
#[tokio::test]
async fn a_page_shows_locations_and_agreements_if_it_wants_to() {
    let server = Server::with("", &[]);
    let client = server.client();
    let id = checked_once(&client).await;
    let (page, host) = page(&client);
    let component = new_component(&client, &page, &json!({"service_id": id}));
    let target = json!({"name": "Internal name", "objective": 99.9, "period": "month", "time_zone": "UTC",
        "service_id": id});
    client.post("/v1/sla-targets", &target).expect(201);
    let path = format!("/components/{component}");
    let plain = html(&client, &host, &path);
    assert!(!plain.contains("Not reachable") && !plain.contains("<meter"), "{plain}");
    client.patch(&statuspage(&page), &json!({"show_locations": true, "show_sla": true})).expect(200);
    let shown = html(&client, &host, &path);
    let name = client.get("/v1/probes").expect(200).data()[0]["name"].as_str().unwrap().to_owned();
    assert!(shown.contains(&format!("Not reachable</span> {name}, <time")), "{shown}");
    assert!(shown.contains("This month: ") && shown.contains("agreed 99.90%. <meter"), "{shown}");
    assert!(shown.contains("of permitted downtime used") && !shown.contains("Internal name"), "{shown}");
}

/// A service may have several components: each shows the days, and what is over names all of them.
#[tokio::test]
async fn every_component_of_a_service_has_days_and_is_named() {
    let server = Server::with("", &[]);
    let client = server.client();
    let id = checked_once(&client).await;
    let (page, host) = page(&client);
    for name in ["Till", "Checkout"] {
        new_component(&client, &page, &json!({"name": name, "service_id": id}));
    }
    assert_eq!(html(&client, &host, "/").matches("<a class=\"bar\"").count(), 2);
    let incident = announce(&client, &json!({"service_ids": [id]}));
    client.post(&format!("/v1/incidents/{incident}/resolve"), &json!({"message": "Oiled."})).expect(200);
    let shown = html(&client, &host, &format!("/incidents/{incident}"));
    assert!(shown.contains("Till") && shown.contains("Checkout"), "{shown}");
}

/// Months before the page was created are shown if something was entered for them.
#[test]
fn an_incident_of_the_past_has_its_month() {
    let client = Server::shared().tenant("business");
    let (id, host) = page(&client);
    get_at(&client, &host, "/history/2020-02").expect(404);
    let past = json!({"title": "Long ago", "started_at": "2020-03-05T12:00:00Z", "statuspage_ids": [id]});
    announce(&client, &past);
    assert!(html(&client, &host, "/history/2020-03").contains("Long ago"));
    get_at(&client, &host, "/history/2020-02").expect(404);
    assert!(html(&client, &host, "/history/2020-04").contains("href=\"/history/2020-03\""));
}

/// The path of a component in the API.
fn component_path(client: &Client, host: &str, component: &str) -> String {
    let summary = get_at(client, host, "/api/v2/status.json").expect(200).json();
    format!("/v1/statuspages/{}/components/{component}", summary["page"]["id"].as_str().unwrap())
}

#[test]
fn only_visible_components_of_the_page_have_a_document() {
    let client = Server::shared_client();
    let ((id, host), (other, _)) = (page(&client), page(&client));
    let group = new_component(&client, &id, &json!({"name": "Payments", "is_group": true}));
    let inside = new_component(&client, &id, &json!({"name": "Till <b>", "parent_id": group}));
    let hidden = new_component(&client, &id, &json!({"name": "Secret", "is_visible": false}));
    let foreign = new_component(&client, &other, &json!({"name": "Foreign"}));
    let shown = html(&client, &host, &format!("/components/{group}"));
    assert!(shown.contains("Payments") && shown.contains("Till &#60;b&#62;"), "{shown}");
    html(&client, &host, &format!("/components/{inside}"));
    for unknown in [&hidden, &foreign] {
        get_at(&client, &host, &format!("/components/{unknown}")).expect(404);
        get_at(&client, &host, &format!("/components/{unknown}/history.atom")).expect(404);
    }
}

#[test]
fn incidents_have_a_document_and_a_month() {
    let client = Server::shared_client();
    let (id, host) = page(&client);
    let seen = announce(&client, &json!({"title": "Seen <script>", "statuspage_ids": [id]}));
    let draft = announce(&client, &json!({"is_published": false, "statuspage_ids": [id]}));
    let elsewhere = announce(&client, &json!({"title": "Elsewhere"}));
    let shown = html(&client, &host, &format!("/incidents/{seen}"));
    assert!(
        shown.contains("<h1><bdi>Seen &#60;script&#62;</bdi>") && shown.contains("<em>look</em>"),
        "{shown}"
    );
    for unknown in [&draft, &elsewhere] {
        get_at(&client, &host, &format!("/incidents/{unknown}")).expect(404);
    }
    get_at(&client, &host, &format!("/maintenances/{seen}")).expect(404);
    client.post(&format!("/v1/incidents/{seen}/resolve"), &json!({"message": "Oiled."})).expect(200);
    let month = &in_ms(0).date()[..7];
    let home = html(&client, &host, "/");
    assert!(home.contains(&format!("href=\"/history/{month}\"")) && !home.contains("Seen"), "{home}");
    let past = html(&client, &host, &format!("/history/{month}"));
    assert!(
        past.contains(&format!("<a href=\"/incidents/{seen}\"><bdi>Seen &#60;script&#62;</bdi></a>")),
        "{past}"
    );
    assert!(past.contains("Oiled.") && !past.contains("Elsewhere"), "{past}");
    for unknown in ["2000-01", "2999-01", "2026-13", "x"] {
        get_at(&client, &host, &format!("/history/{unknown}")).expect(404);
    }
    client.patch(&statuspage(&id), &json!({"show_incident_history": false})).expect(200);
    get_at(&client, &host, &format!("/history/{month}")).expect(404);
    assert!(!html(&client, &host, "/").contains("/history/20"));
}

#[rstest]
#[case("history.atom", "application/atom+xml; charset=utf-8")]
#[case("history.rss", "application/rss+xml; charset=utf-8")]
#[case("feed.json", "application/feed+json; charset=utf-8")]
#[case("maintenances.ics", "text/calendar; charset=utf-8")]
fn every_feed_is_named_by_the_page_and_can_be_read_from_any_origin(#[case] name: &str, #[case] kind: &str) {
    let client = Server::shared_client();
    let (_, host) = page(&client);
    let media = kind.split(';').next().unwrap();
    let link = format!("<link rel=\"alternate\" type=\"{media}\" href=\"/{name}\">");
    assert!(html(&client, &host, "/").contains(&link));
    let feed = get_at(&client, &host, &format!("/{name}")).expect(200);
    assert_eq!(feed.header("content-type"), Some(kind));
    assert_eq!(feed.header("access-control-allow-origin"), Some("*"));
    assert_eq!(feed.header("cache-control"), Some("public, max-age=60, stale-if-error=86400"));
    assert!(feed.header("etag").is_some_and(|tag| tag.starts_with('"')));
}

#[test]
fn feeds_have_what_the_page_has() {
    let client = Server::shared_client();
    let (id, host) = page(&client);
    let till = create(&client, &json!({"name": "Till", "check_type": "manual"}));
    let one = new_component(&client, &id, &json!({"name": "Till", "service_id": till}));
    let other = new_component(&client, &id, &json!({"name": "Search"}));
    let seen = announce(&client, &json!({"title": "A & <b>", "service_ids": [till]}));
    let feed = |path: &str| html(&client, &host, path);
    let address = format!("/incidents/{seen}");
    for (path, is_in) in [
        ("/history.atom".to_owned(), true),
        ("/history.rss".to_owned(), true),
        ("/feed.json".to_owned(), true),
        (format!("/components/{one}/history.atom"), true),
        (format!("/components/{other}/history.atom"), false),
    ] {
        assert_eq!(feed(&path).contains(&address), is_in, "{path}");
    }
    let atom = feed("/history.atom");
    assert!(
        atom.contains(&format!(":Incident/{seen}</id>")) && atom.contains("A &#38; &#60;b&#62;"),
        "{atom}"
    );
    assert!(atom.contains("&#60;strong&#62;Investigating&#60;/strong&#62; - We &#60;em&#62;look"), "{atom}");
    client.post(&format!("/v1/incidents/{seen}/resolve"), &json!({"message": "Oiled."})).expect(200);
    assert_eq!(feed("/history.atom").matches("<entry>").count(), 1);
    assert_eq!(feed("/history.atom?each=update").matches("<entry>").count(), 2);
}

#[test]
fn a_maintenance_that_is_called_off_stays_in_the_calendar_as_cancelled() {
    let client = Server::shared_client();
    let (id, host) = page(&client);
    let planned = json!({"title": "Upgrade, all; night", "message": "We *upgrade*.", "statuspage_ids": [id],
        "scheduled_start": in_ms(86_400_000).to_string(), "scheduled_end": in_ms(90_000_000).to_string()});
    let maintenance = id_of(&client.post("/v1/maintenances", &planned).expect(201).data());
    let calendar = || html(&client, &host, "/maintenances.ics");
    let before = calendar();
    assert!(
        before.contains("SUMMARY:Upgrade\\, all\\; night\r\n") && before.contains("STATUS:CONFIRMED"),
        "{before}"
    );
    assert!(before.contains("SEQUENCE:0\r\n") && before.contains(&format!("UID:{maintenance}@")), "{before}");
    client.post(&format!("/v1/maintenances/{maintenance}/cancel"), &json!({})).expect(200);
    let after = calendar();
    assert!(after.contains("STATUS:CANCELLED") && after.contains("SEQUENCE:1\r\n"), "{after}");
    assert!(
        html(&client, &host, "/history.atom").contains(&maintenance),
        "readers hear that it was called off"
    );
}
