//! `/v1/sla-targets/{id}/report`: the figures of a period, in three formats, and their visibility.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::moments::moment;
use crate::support::scoped::{World, ids, made};
use crate::support::server::Server;
use crate::support::{create, service};

const PATH: &str = "/v1/sla-targets";

/// A manual service with an incident that counts as downtime from two hours to one hour ago.
fn down_for_an_hour(client: &Client) -> (String, String) {
    let id = create(client, &json!({"name": "=Shop, \"<b>\"", "check_type": "manual"}));
    let incident = made(
        client,
        "/v1/incidents",
        &json!({"title": "Down", "message": "We look.",
        "status": "resolved", "started_at": moment(-7_200), "resolved_at": moment(-3_600), "service_ids": [id],
        "sla_counts_as_downtime": true}),
    );
    (id, incident)
}

fn target(client: &Client, subject: (&str, &str), objective: f64) -> String {
    let body = json!({"name": "Shop", subject.0: subject.1, "objective": objective, "period": "rolling",
        "rolling_days": 30, "time_zone": "Europe/Berlin"});
    made(client, PATH, &body)
}

fn report(client: &Client, target: &str, query: &str) -> Value {
    client.get(&format!("{PATH}/{target}/report{query}")).expect(200).data()
}

fn seconds(value: &Value) -> f64 {
    value.as_f64().unwrap().round()
}

/// A manual service has only its stated statuses: it is up since the override says so, and down in an incident that counts.
#[test]
fn an_incident_that_counts_uses_up_the_budget() {
    let client = Server::shared().tenant("business");
    let (id, incident) = down_for_an_hour(&client);
    let target = target(&client, ("service_id", &id), 99.9);
    let report = report(&client, &target, "");
    assert_eq!(report["target"]["id"], json!(target));
    assert_eq!(report["period"]["is_over"], false);
    let total = &report["total"];
    assert_eq!((seconds(&total["down_seconds"]), &total["outages"]), (3_600.0, &json!(1)));
    assert_eq!((&total["is_met"], &total["availability"]), (&json!(false), &json!(0.0)));
    let budget = &total["error_budget"];
    assert_eq!(
        (seconds(&budget["used_seconds"]), budget["left_seconds"].as_f64().unwrap() < 0.0),
        (3_600.0, true)
    );
    let of_service = &report["services"][0];
    assert_eq!(of_service["service"]["id"], json!(id));
    assert_eq!(seconds(&of_service["outages"][0]["down_seconds"]), 3_600.0);
    assert_eq!(of_service["incidents"][0]["id"], json!(incident));
    // It is over, so that no alert is needed at once; the budget is gone all the same.
    assert_eq!(report["burn"]["rules"][0]["is_firing"], false);
    assert_eq!(report["burn"]["rules"][0]["threshold"], json!(14.4));

    let other = json!({"sla_counts_as_downtime": false});
    client.patch(&format!("/v1/incidents/{incident}"), &other).expect(200);
    let without = self::report(&client, &target, "?period=current");
    assert_eq!((&without["total"]["down_seconds"], &without["total"]["outages"]), (&json!(0.0), &json!(0)));
    assert_eq!(without["services"][0]["incidents"], json!([]));
}

/// A service that a person adds to an incident is down from then on, and not since that began.
#[test]
fn a_service_that_joins_an_incident_is_down_from_then_on() {
    let client = Server::shared().tenant("business");
    let [first, added] =
        ["A", "B"].map(|name| create(&client, &json!({"name": name, "check_type": "manual"})));
    let incident = made(
        &client,
        "/v1/incidents",
        &json!({"title": "Down", "message": "We look.", "started_at": moment(-3_600), "service_ids": [first],
        "sla_counts_as_downtime": true}),
    );
    let path = format!("/v1/incidents/{incident}");
    client.patch(&path, &json!({"service_ids": [first, added]})).expect(200);
    let down_seconds = |id: &str| {
        let target = target(&client, ("service_id", id), 99.9);
        report(&client, &target, "")["total"]["down_seconds"].as_f64().unwrap()
    };
    assert!(down_seconds(&first) >= 3_600.0, "it was there from the start");
    assert!(down_seconds(&added) < 600.0, "it was added just now");
    // Services that were affected from the start follow it.
    client.patch(&path, &json!({"started_at": moment(-7_200)})).expect(200);
    assert!(down_seconds(&first) >= 7_200.0);
    assert!(down_seconds(&added) < 600.0);
}

/// A pause is left out, and listed with its reason.
#[test]
fn excluded_time_is_listed() {
    let client = Server::shared().tenant("business");
    let id = create(&client, &json!({"name": "Shop", "check_type": "manual"}));
    client.post(&format!("{}/pause", service(&id)), &json!({})).expect(200);
    let target = target(&client, ("service_id", &id), 99.9);
    let report = report(&client, &target, "");
    let left_out = report["services"][0]["left_out"].as_array().unwrap();
    assert_eq!((left_out.len(), &left_out[0]["reason"]), (1, &json!("pause")));
    assert_eq!(report["total"]["left_out_seconds"], left_out[0]["seconds"]);
    assert_eq!(report["total"]["availability"], Value::Null);
    assert_eq!((&report["total"]["is_met"], &report["total"]["burn_rate"]), (&Value::Null, &Value::Null));
}

#[rstest]
#[case("?period=previous", true)]
#[case("?period=2026-01-31", true)]
#[case("?period=current&format=json", false)]
fn a_report_covers_the_requested_period(#[case] query: &str, #[case] is_over: bool) {
    let client = Server::shared().tenant("business");
    let (id, _) = down_for_an_hour(&client);
    let target = target(&client, ("service_id", &id), 99.9);
    let report = report(&client, &target, query);
    assert_eq!((&report["period"]["is_over"], report["burn"].is_null()), (&json!(is_over), is_over));
    assert_eq!(report["total"]["to_come_seconds"], 0.0);
}

#[rstest]
#[case(
    "?period=2196-01-01",
    "period",
    "Use current, previous or a day such as 2026-11-30 that is not in the future."
)]
#[case("?period=x", "period", "Use current, previous or a day such as 2026-11-30 that is not in the future.")]
#[case("?format=pdf", "format", "Unknown value. Allowed: json, csv, html.")]
fn an_invalid_query_is_refused(#[case] query: &str, #[case] path: &str, #[case] text: &str) {
    let client = Server::shared().tenant("business");
    let (id, _) = down_for_an_hour(&client);
    let target = target(&client, ("service_id", &id), 99.9);
    let refused = client.get(&format!("{PATH}/{target}/report{query}"));
    assert_eq!(refused.errors(), [(path.to_owned(), text.to_owned())]);
}

/// A table and a page: by `format`, or by `Accept`; no text becomes a formula or an element.
#[test]
fn a_report_is_a_table_and_a_page() {
    let client = Server::shared().tenant("business");
    let (id, _) = down_for_an_hour(&client);
    let target = target(&client, ("service_id", &id), 99.9);
    let path = format!("{PATH}/{target}/report");
    let table = client.get(&format!("{path}?format=csv")).expect(200);
    assert_eq!(table.header("content-type"), Some("text/csv; charset=utf-8"));
    let kinds: Vec<&str> = table.body.lines().map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(kinds, ["kind", "total", "service", "outage", "incident"]);
    assert!(table.body.contains("\"'=Shop, \"\"<b>\"\"\""), "{}", table.body);

    let page = client.send("GET", &path, &["Accept: text/html"], b"").expect(200);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(page.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
    assert!(page.body.contains("@media print") && page.body.contains("1:00:00"), "{}", page.body);
    assert!(!page.body.contains("<b>"), "{}", page.body);
}

/// A confined token sees the targets of its scope, with the same figures as others, and cannot write any.
#[test]
fn a_confined_token_sees_the_targets_of_its_scope() {
    let World { admin, confined, inside, outside, tags, .. } = World::new();
    let of = |kind, id: &str| target(&admin, (kind, id), 99.0);
    let seen = [of("service_id", &inside), of("tag_id", &tags[0])];
    let unseen = [of("service_id", &outside), of("tag_id", &tags[1])];
    assert_eq!(ids(&confined, PATH), seen);
    for target in &seen {
        let services = |client| report(client, target, "")["services"][0]["service"].clone();
        assert_eq!(services(&confined), services(&admin));
        confined.patch(&format!("{PATH}/{target}"), &json!({})).expect(403);
    }
    for target in &unseen {
        confined.get(&format!("{PATH}/{target}")).expect(404);
        confined.get(&format!("{PATH}/{target}/report")).expect(404);
    }
}
