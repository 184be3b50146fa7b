//! `POST /v1/services/{id}/simulate`: what other settings and another policy would have made of what is stored.
//!
//! The responses are based on known results: they were imported from a location that the server knows, before it started again.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::moments::in_ms;
use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{UNKNOWN_ID, create, eventually, service, until_checks, until_status};

const MINUTE_MS: i64 = 60_000;
/// Minutes of imported results.
const MINUTES: i64 = 180;

/// A server that knows two locations, and a service of which every minute is known: `u` up, `d` down, by location.
struct World {
    server: Server,
    client: Client,
    id: String,
    start_ms: i64,
}

/// Minutes in which a location sees the service down.
fn is_down(location: &str, minute: i64) -> bool {
    match location {
        "a" => (60..90).contains(&minute) || (120..122).contains(&minute),
        _ => (60..90).contains(&minute),
    }
}

impl World {
    async fn new() -> Self {
        let locations =
            "[[probe.locations]]\ncode = 'a'\nname = 'a'\n[[probe.locations]]\ncode = 'b'\nname = 'b'\n";
        let mut server = Server::with(locations, &[]);
        let settings = json!({"interval_seconds": 60, "retries": 0, "confirmation": "any"});
        let body =
            json!({"name": "Shop", "check_type": "tcp", "target": "127.0.0.1:9", "settings": settings});
        let id = create(&server.client(), &body);
        until_checks(&server.client(), &id, 1).await;
        server.kill();
        let start_ms = (in_ms(0).ms() / MINUTE_MS - MINUTES - 30) * MINUTE_MS;
        let mut text = "service,location,time,status,response_time_ms\n".to_owned();
        for minute in 0..MINUTES {
            for (place, code) in [(0, "a"), (1, "b")] {
                let time = start_ms + minute * MINUTE_MS + place * MINUTE_MS / 2;
                let word = if is_down(code, minute) { "down," } else { "up,12" };
                text += &format!("{id},{code},{time},{word}\n");
            }
        }
        let path = server.data().join("past.csv");
        std::fs::write(&path, text).unwrap();
        let done = server.command_json(&["import", "--interval", "60", path.to_str().unwrap()]);
        assert_eq!(done["stored"], 2 * MINUTES);
        server.restart();
        Self { client: server.client(), server, id, start_ms }
    }

    /// The imported time.
    fn period(&self) -> Value {
        let at = |minute: i64| watchkeeper::clock::Timestamp::from_ms(self.start_ms + minute * MINUTE_MS);
        json!({"from": at(5).to_string(), "to": at(MINUTES - 1).to_string()})
    }

    fn simulate(&self, further: &Value) -> Value {
        let mut body = self.period();
        body.as_object_mut().unwrap().extend(further.as_object().unwrap().clone());
        self.client.post(&format!("{}/simulate", service(&self.id)), &body).expect(200).data()
    }
}

/// Checks the figures of a simulated period. The results were measured at other moments than this service is due, so edges are off by less
/// than an interval.
#[track_caller]
fn assert_came_to(account: &Value, outages: u64, minutes: f64, incidents: usize) {
    let down = account["down_seconds"].as_f64().unwrap();
    assert_eq!(account["outages"], outages, "{account:#}");
    assert_eq!(account["incidents"].as_array().unwrap().len(), incidents, "{account:#}");
    assert!((down - minutes * 60.0).abs() < 60.0 * f64::from(u32::try_from(outages).unwrap()), "{account:#}");
}

#[tokio::test]
async fn changed_settings_change_the_simulated_period() {
    let world = World::new().await;
    let now = world.simulate(&json!({}));
    assert_came_to(&now["after"], 2, 32.0, 2);
    assert_eq!(now["locations"][0]["code"], "a");
    assert!(now["results"].as_u64().unwrap() >= 2 * MINUTES.unsigned_abs() - 20, "{now:#}");
    let severity = &now["after"]["incidents"][0]["severity"];
    assert_eq!(severity, "major");

    let all = world.simulate(&json!({"settings": {"confirmation": "all"}}));
    assert_came_to(&all["after"], 1, 30.0, 1);
    assert_eq!(all["before"], now["before"], "what was stays as it was");

    let alone = world.simulate(&json!({"settings": {"assigned_probes": ["b"]}}));
    assert_came_to(&alone["after"], 1, 30.0, 1);
    assert_eq!(
        (&alone["locations"][0]["used"], &alone["locations"][1]["used"]),
        (&json!(false), &json!(true))
    );

    let patient = world.simulate(&json!({"incident_policy": {"open_after_seconds": 600}}));
    assert_came_to(&patient["after"], 2, 32.0, 1);
    let quiet = world.simulate(&json!({"incident_policy": {"down_severity": null}}));
    assert_came_to(&quiet["after"], 2, 32.0, 0);
    assert_eq!(quiet["after"]["detection_seconds"], Value::Null);

    // Nothing of it is stored.
    let shown = world.client.get(&service(&world.id)).expect(200).data();
    assert_eq!(shown["settings"]["confirmation"], "any");
    assert_eq!(world.client.get("/v1/incident-policies").expect(200).data()[0]["open_after_seconds"], 0);
    drop(world.server);
}

#[rstest]
#[case(json!({"settings": {"config": {"conditions": []}}}), "settings.config", "Stored results do not tell what this would have changed.")]
#[case(json!({"settings": {"timeout_seconds": 60}}), "settings.timeout_seconds", "Stored results do not tell what this would have changed.")]
#[case(json!({"settings": {"retries": 9}}), "settings.retries", "The largest allowed value is 5.")]
#[case(json!({"settings": {"assigned_probes": ["mars"]}}), "settings.assigned_probes.0", "No active location with the code mars exists.")]
#[case(json!({"incident_policy": {"down_severity": "bad"}}), "incident_policy.down_severity", "Unknown value. Allowed: minor, major, critical.")]
#[case(json!({"incident_policy": 3}), "incident_policy", "This value must be an object.")]
#[case(json!({"settings": {"retires": 1}}), "settings.retires", "Unknown field.")]
#[case(json!({"incident_policy": {"open_after": 1}}), "incident_policy.open_after", "Unknown field.")]
#[case(json!({"from": "yesterday"}), "from", "This is not a valid ISO 8601 date or date-time between 1970 and 2200.")]
#[case(json!({"to": "2199-01-01"}), "to", "This time must not be in the future.")]
#[case(json!({"from": "2025-02-02", "to": "2025-02-01"}), "to", "This time must be later than from.")]
#[case(json!({"from": "2025-01-01", "to": "2025-03-01"}), "from", "The period may have at most 31 days.")]
#[case(json!({"from": "2001-01-01", "to": "2001-01-02"}), "to", "No results of this period are kept.")]
fn an_unsupported_simulation_is_refused(#[case] body: Value, #[case] field: &str, #[case] words: &str) {
    let client = Server::shared_client();
    let settings = json!({"interval_seconds": 604_800, "retries": 0, "config": {"conditions": [
        {"field": "response_time_ms", "operator": "gt", "value": 100, "status": "degraded"}]}});
    let sent = json!({"name": "Shop", "check_type": "tcp", "target": "127.0.0.1:9", "settings": settings});
    let id = create(&client, &sent);
    let refused = client.post(&format!("{}/simulate", service(&id)), &body).expect(422).json();
    assert_eq!(refused["errors"][field][0], words, "{refused:#}");
}

#[rstest]
#[case(json!({"name": "Page", "check_type": "manual"}))]
#[case(json!({"name": "Job", "check_type": "heartbeat"}))]
#[case(json!({"name": "Not yet", "check_type": "tcp", "target": "127.0.0.1:9"}))]
fn services_without_location_checks_cannot_be_simulated(#[case] body: Value) {
    let client = Server::shared_client();
    let id = create(&client, &body);
    let refused = client.post(&format!("{}/simulate", service(&id)), &json!({})).expect(422).json();
    assert_eq!(refused["errors"]["check_type"][0], "Only services that locations check can be simulated.");
}

/// The real engine, a real target: a replay by the present settings says what was recorded, also about the incident.
#[tokio::test]
async fn the_current_settings_reproduce_the_record() {
    let server = Server::start();
    let client = server.client();
    let mut target = Target::start();
    let body = json!({"name": "Shop", "check_type": "http", "target": target.url(),
        "settings": {"interval_seconds": 1, "retries": 0}});
    let id = create(&client, &body);
    until_status(&client, &id, "up").await;
    target.stop();
    until_status(&client, &id, "down").await;
    eventually("the incident", || {
        let rows = client.get("/v1/incidents").expect(200).data();
        (!rows.as_array().unwrap().is_empty()).then_some(())
    })
    .await;
    target.start_again();
    until_status(&client, &id, "up").await;
    let path = format!("{}/simulate", service(&id));
    let changes = |account: &Value| {
        let rows = account["status_changes"].as_array().unwrap();
        rows.iter().map(|row| (row["from"].clone(), row["to"].clone())).collect::<Vec<_>>()
    };
    let mut seen = Value::Null;
    for _ in 0..40 {
        seen = client.post(&path, &json!({})).expect(200).data();
        if changes(&seen["before"]).len() >= 3 && changes(&seen["after"]) == changes(&seen["before"]) {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(250)).await;
    }
    assert_eq!(changes(&seen["before"]), changes(&seen["after"]), "{seen:#}");
    let differing = seen["fidelity"]["differing_seconds"].as_f64().unwrap();
    assert!(differing <= 3.0, "{seen:#}");
    for account in ["before", "after"] {
        assert_eq!(seen[account]["incidents"].as_array().unwrap().len(), 1, "{seen:#}");
    }
    let unwanted = client.post(&path, &json!({"incident_policy": {"open_after_seconds": 3_600}})).expect(200);
    assert_eq!(unwanted.data()["after"]["incidents"], json!([]));
    client.post(&format!("/v1/services/{UNKNOWN_ID}/simulate"), &json!({})).expect(404);
}

/// The command requests the same, and draws the record and the simulation.
#[tokio::test]
async fn the_command_draws_two_bars() {
    let world = World::new().await;
    let (base, period) = (world.server.base(), world.period());
    let simulate = |further: &[&str]| {
        let time = |name: &str| period[name].as_str().unwrap().to_owned();
        let (from, to) = (time("from"), time("to"));
        let asked = ["simulate", "--service", "shop", "--url", &base, "--from", &from, "--to", &to];
        let done = world.server.command(&[&asked[..], further].concat());
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (done.status.code(), text(done.stdout), text(done.stderr))
    };
    let (code, picture, said) = simulate(&["--set", "confirmation=all", "--policy", "open_after_seconds=60"]);
    assert_eq!(code, Some(0), "{said}");
    let line = |name: &str| picture.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    let down = |name: &str| line(name).split_whitespace().last().unwrap().matches('d').count();
    assert!((12..=14).contains(&down("after ")), "half an hour of three: {picture}");
    assert!(line("uptime").contains(" % ") && line("outages").ends_with(" 1"), "{picture}");
    assert!(line("incidents").ends_with(" 1") && !picture.contains('\u{1b}'), "{picture}");
    assert!(picture.contains("A replay by the present settings agrees with the record"), "{picture}");

    let (_, raw, _) = simulate(&["--json"]);
    let raw: Value = serde_json::from_str(&raw).unwrap();
    assert_eq!(raw["after"]["outages"], 2);

    let (code, _, said) = simulate(&["--set", "retries=99", "--policy", "open_after_seconds=-1"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("settings.retries: The largest allowed value is 5."), "{said}");
    assert!(said.contains("incident_policy.open_after_seconds: ") && said.lines().count() == 1, "{said}");
    let (code, _, said) = simulate(&["--set", "retries"]);
    assert!(code == Some(2) && said.contains("NAME=VALUE"), "{said}");
    let (code, _, said) = simulate(&["--token", "wk_nobody"]);
    assert!(code == Some(1) && said.contains("the token is unknown"), "{said}");
}
