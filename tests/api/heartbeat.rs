//! Heartbeat services (contract 4.3.11): they are created with an address, and report themselves by calling it.
//!
//! Deadlines are played on a paused clock in `tests/engine`; here one real one passes, over a kill.

use std::iter;

use rstest::rstest;
use sea_orm::ConnectionTrait as _;
use serde_json::{Value, json};
use watchkeeper::clock::Timestamp;

use crate::support::client::{Answer, Client};
use crate::support::moments::{in_ms, ms_between};
use crate::support::server::{Server, failing_start};
use crate::support::{
    UNKNOWN_ID, create, create_unconfigured, eventually, service, until_checks, until_status,
};

fn tenant() -> Client {
    let server = Server::shared();
    Client { _server: Some(std::sync::Arc::clone(&server)), ..server.tenant("business") }
}

fn heartbeat(client: &Client) -> Value {
    client.post("/v1/services", &json!({"name": "Backup", "check_type": "heartbeat"})).expect(201).data()
}

fn path(shown: &Value) -> String {
    service(shown["id"].as_str().unwrap())
}

/// The path of the ping address.
pub(crate) fn address(shown: &Value) -> String {
    let url = shown["heartbeat"]["ping_url"].as_str().unwrap();
    url[url.find("/ping/").unwrap()..].to_owned()
}

pub(crate) fn ping(client: &Client, method: &str, path: &str) -> Answer {
    client.without_token().send(method, path, &[], b"")
}

/// Contract 4.2.1, 4.2.2: the catalogue entry.
#[test]
fn the_catalogue_describes_heartbeats() {
    let types = Server::shared_client().get("/v1/meta/check-types").expect(200).data();
    let entry = &types["heartbeat"];
    assert_eq!(entry["target_required"], false);
    assert_eq!(entry["interval"], json!({"default": 300, "min": 30, "max": 604_800}));
    assert_eq!(entry["conditions"], json!({"fields": [], "defaults": []}));
    let field = &entry["fields"][0];
    for (key, value) in [
        ("name", json!("grace_seconds")),
        ("type", json!("number")),
        ("required", json!(false)),
        ("secret", json!(false)),
        ("default", json!(60)),
    ] {
        assert_eq!(field[key], value, "{key}");
    }
    assert_eq!(entry["fields"].as_array().unwrap().len(), 1);
}

/// Contract 4.3.11: configured from the start, every default stored, an address of 43 characters.
#[test]
fn without_settings_a_heartbeat_has_the_defaults() {
    let shown = heartbeat(&Server::shared_client());
    for (key, value) in [
        ("check_type_label", json!("Heartbeat")),
        ("target", Value::Null),
        ("status", json!("unknown")),
        ("effective_status", json!("unknown")),
        ("is_configured", json!(true)),
        ("configured_at", shown["created_at"].clone()),
        ("last_check_at", Value::Null),
    ] {
        assert_eq!(shown[key], value, "{key}");
    }
    let expected = json!({"interval_seconds": 300, "timeout_seconds": 10, "retries": 2, "assigned_probes": null,
        "probe_roles": null, "config": {"grace_seconds": 60, "conditions": []},
        "confirmation": "majority", "recovery_checks": 1, "flapping_changes": 6, "flapping_minutes": 30});
    assert_eq!(shown["settings"], expected);
    assert_eq!(shown["heartbeat"]["last_ping_at"], Value::Null);
    let secret = address(&shown).strip_prefix("/ping/").unwrap().to_owned();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    assert!(secret.len() == 43 && secret.bytes().all(is_plain), "{secret}");
}

/// Contract 4.3.4: settings are accepted and echoed, those without use too.
#[test]
fn a_heartbeat_echoes_its_settings() {
    let client = Server::shared_client();
    let settings = json!({"interval_seconds": 30, "timeout_seconds": 7, "retries": 5, "assigned_probes": ["local"],
        "probe_roles": {"local": "full"}, "config": {"grace_seconds": 0},
        "confirmation": "any", "recovery_checks": 2, "flapping_changes": 0, "flapping_minutes": 5});
    let body = json!({"name": "x", "check_type": "heartbeat", "target": "the backup", "settings": settings});
    let shown = client.post("/v1/services", &body).expect(201).data();
    let mut expected = settings;
    expected["config"]["conditions"] = json!([]);
    assert_eq!((&shown["settings"], &shown["target"]), (&expected, &json!("the backup")));
    let changed = client.patch(&path(&shown), &json!({"settings": {"config": {"grace_seconds": 86_400}}}));
    expected["config"]["grace_seconds"] = 86_400.into();
    assert_eq!(changed.expect(200).data()["settings"], expected);
}

#[rstest]
#[case(json!({}), "settings.interval_seconds", "This field is required.")]
#[case(json!({"interval_seconds": 29}), "settings.interval_seconds", "The smallest allowed value is 30.")]
#[case(json!({"interval_seconds": 604_801}), "settings.interval_seconds", "The largest allowed value is 604800.")]
#[case(json!({"interval_seconds": 60, "config": {"grace_seconds": -1}}), "settings.config.grace_seconds", "The smallest allowed value is 0.")]
#[case(json!({"interval_seconds": 60, "config": {"grace_seconds": 86_401}}), "settings.config.grace_seconds", "The largest allowed value is 86400.")]
#[case(json!({"interval_seconds": 60, "config": {"grace_seconds": "1"}}), "settings.config.grace_seconds", "This value must be a whole number.")]
#[case(json!({"interval_seconds": 60, "config": {"method": "GET"}}), "settings.config.method", "Unknown field.")]
fn wrong_settings_are_refused(#[case] settings: Value, #[case] key: &str, #[case] text: &str) {
    let body = json!({"name": "x", "check_type": "heartbeat", "settings": settings});
    let errors = Server::shared_client().post("/v1/services", &body).errors();
    assert_eq!(errors, [(key.to_owned(), text.to_owned())]);
}

/// Contract 4.3.11: each of the methods marks it up, and what is answered is in force; 1.1: one trailing slash is removed.
#[rstest]
fn a_ping_marks_the_service_up(
    #[values("GET", "HEAD", "POST")] method: &str,
    #[values("", "/")] slash: &str,
) {
    let client = Server::shared_client();
    let shown = heartbeat(&client);
    let answer = ping(&client, method, &format!("{}{slash}", address(&shown))).expect(200);
    assert_eq!(answer.header("content-type"), Some("application/json; charset=utf-8"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.body, if method == "HEAD" { "" } else { r#"{"ok":true}"# });
    let seen = client.get(&path(&shown)).expect(200).data();
    assert_eq!((&seen["status"], &seen["effective_status"]), (&json!("up"), &json!("up")));
    assert_eq!(seen["heartbeat"]["last_ping_at"], seen["last_check_at"]);
    assert_eq!(seen["updated_at"], shown["updated_at"]);
}

/// Contract 4.3.11, 4.8: one entry for each ping, from the location `push`.
#[tokio::test]
async fn the_history_has_one_entry_for_each_ping() {
    let client = Server::shared_client();
    let shown = heartbeat(&client);
    for suffix in ["", "/fail", ""] {
        ping(&client, "POST", &format!("{}{suffix}", address(&shown))).expect(200);
    }
    let id = shown["id"].as_str().unwrap();
    let checks = until_checks(&client, id, 3).await;
    let entries: Vec<_> =
        checks.iter().map(|check| (&check["probe"], &check["status"], &check["error_code"])).collect();
    let (push, up) = (&json!("push"), &json!("up"));
    assert_eq!(
        entries,
        [
            (push, up, &Value::Null),
            (push, &json!("down"), &json!("heartbeat_fail")),
            (push, up, &Value::Null)
        ]
    );
    assert_eq!((&checks[0]["attempt"], &checks[0]["response_time_ms"]), (&json!(1), &Value::Null));
    assert!(checks[1]["error_message"].is_string());
    let only = |query: &str| {
        let found = client.get(&format!("{}/checks?{query}", service(id))).expect(200).data();
        found.as_array().unwrap().len()
    };
    assert_eq!((only("probe=push"), only("probe=local"), only("status=down")), (3, 0, 1));
    let metrics = client.get(&format!("{}/metrics", service(id))).expect(200).data();
    assert_eq!((&metrics["total_checks"], &metrics["failed_checks"]), (&json!(3), &json!(1)));
    assert_eq!(metrics["avg_ms"], Value::Null);
}

/// Contract 4.1: `push` is no location that one could choose.
#[test]
fn push_is_no_location() {
    let client = Server::shared_client();
    let probes = client.get("/v1/probes").expect(200).data();
    assert!(probes.as_array().unwrap().iter().all(|probe| probe["code"] != "push"));
    let settings = json!({"interval_seconds": 60, "assigned_probes": ["push"]});
    let body = json!({"name": "x", "check_type": "heartbeat", "settings": settings});
    let errors = client.post("/v1/services", &body).errors();
    assert_eq!(errors[0].1, "No active location with the code push exists.");
}

#[test]
fn no_location_is_called_push() {
    let (code, said) = failing_start("", &[("WATCHKEEPER_LOCATION", "push")]);
    assert_ne!(code, Some(0));
    assert!(said.contains("no location can have the code 'push'"), "{said}");
}

/// Contract 4.3.11: an unknown secret is not there, in whatever form.
#[rstest]
#[case("/ping/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")]
#[case("/ping/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/fail")]
#[case("/ping/short")]
#[case("/ping/")]
#[case("/ping")]
fn an_unknown_secret_is_not_found(#[case] path: &str) {
    let client = Server::shared_client();
    let answer = ping(&client, "GET", path).expect(404);
    assert_eq!(answer.message(), "The requested resource does not exist.");
    let known = address(&heartbeat(&client));
    let refused = ping(&client, "DELETE", &known).expect(405);
    assert_eq!(refused.header("allow"), Some("GET, HEAD, POST"));
    assert_eq!(refused.json()["request_id"].as_str(), refused.header("x-request-id"));
    assert_eq!(refused.header("cache-control"), Some("no-store"));
    assert_eq!(refused.header("x-content-type-options"), Some("nosniff"));
    ping(&client, "GET", &format!("{known}/other")).expect(404);
    ping(&client, "GET", &format!("{known}//")).expect(404);
}

/// Contract 1.1: exactly one trailing slash is forgiven, also outside `/v1`.
#[rstest]
#[case("/", 200)]
#[case("/fail/", 200)]
#[case("//", 404)]
#[case("/fail//", 404)]
fn one_trailing_slash_of_the_address_is_ignored(#[case] suffix: &str, #[case] status: u16) {
    let client = Server::shared_client();
    let known = address(&heartbeat(&client));
    ping(&client, "GET", &format!("{known}{suffix}")).expect(status);
    client.without_token().get("/healthz/").expect(200);
}

/// Contract 4.3.11: more than ten within a second are refused, and another secret is not held back.
#[test]
fn a_flood_of_pings_is_refused() {
    let client = Server::shared_client();
    let known = address(&heartbeat(&client));
    let answers: Vec<Answer> = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..60).map(|_| scope.spawn(|| ping(&client, "POST", &known))).collect();
        asking.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let refused = answers.iter().find(|answer| answer.status == 429).expect("60 pings at once are too many");
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert!(answers.iter().all(|answer| matches!(answer.status, 200 | 429)));
    assert!(answers.iter().filter(|answer| answer.status == 200).count() >= 10);
    ping(&client, "POST", &address(&heartbeat(&client))).expect(200);
}

/// Contract 4.3.11: the address is shown to those who may edit.
#[test]
fn the_address_is_a_secret() {
    let server = Server::shared();
    let organisation = server.organisation("business");
    let (editor, viewer) =
        (server.member(&organisation, "all"), server.member(&organisation, "services.view,services.create"));
    let shown = heartbeat(&editor);
    let seen = viewer.get(&path(&shown)).expect(200).data();
    assert_eq!(seen["heartbeat"], json!({"ping_url": null, "last_ping_at": null}));
    assert_eq!(viewer.get("/v1/services").expect(200).data()[0]["heartbeat"]["ping_url"], Value::Null);
    assert_eq!(editor.get("/v1/services").expect(200).data()[0]["heartbeat"], shown["heartbeat"]);
    viewer.post(&format!("{}/heartbeat/rotate", path(&shown)), &json!({})).expect(403);
    assert_eq!(heartbeat(&viewer)["heartbeat"]["ping_url"], Value::Null);
}

/// Contract 4.3.11: a rotated address works at once, the old one no more.
#[test]
fn a_rotation_replaces_the_address() {
    let client = Server::shared_client();
    let before = heartbeat(&client);
    ping(&client, "GET", &address(&before)).expect(200);
    let after = client.post(&format!("{}/heartbeat/rotate", path(&before)), &json!({})).expect(200).data();
    assert_ne!(address(&after), address(&before));
    assert_eq!(after["status"], "up");
    ping(&client, "GET", &address(&before)).expect(404);
    ping(&client, "GET", &address(&after)).expect(200);
    assert_eq!(client.get(&path(&before)).expect(200).data()["status"], "up");
}

#[test]
fn only_heartbeats_have_an_address() {
    let client = tenant();
    let id = create_unconfigured(&client);
    assert_eq!(client.get(&service(&id)).expect(200).data()["heartbeat"], Value::Null);
    let refused = client.post(&format!("{}/heartbeat/rotate", service(&id)), &json!({})).errors();
    let text = "Only heartbeat services have a ping address.";
    assert_eq!(refused, [("check_type".to_owned(), text.to_owned())]);
    client.post(&format!("{}/heartbeat/rotate", service(UNKNOWN_ID)), &json!({})).expect(404);
}

/// Contract 4.3.11: a paused service ignores pings; after a resumption it is unknown until the next one.
#[test]
fn a_paused_heartbeat_ignores_pings() {
    let client = Server::shared_client();
    let shown = heartbeat(&client);
    ping(&client, "GET", &address(&shown)).expect(200);
    let before = client.get(&path(&shown)).expect(200).data()["heartbeat"].clone();
    client.post(&format!("{}/pause", path(&shown)), &json!({})).expect(200);
    ping(&client, "GET", &format!("{}/fail", address(&shown))).expect(200);
    let paused = client.get(&path(&shown)).expect(200).data();
    assert_eq!((&paused["status"], &paused["heartbeat"]), (&json!("paused"), &before));
    let resumed = client.post(&format!("{}/resume", path(&shown)), &json!({})).expect(200).data();
    assert_eq!(resumed["status"], "unknown");
    assert_eq!(client.get(&path(&shown)).expect(200).data()["status"], "unknown");
    ping(&client, "GET", &address(&shown)).expect(200);
    assert_eq!(client.get(&path(&shown)).expect(200).data()["status"], "up");
}

#[test]
fn a_deleted_heartbeat_has_no_address() {
    let client = Server::shared_client();
    let shown = heartbeat(&client);
    client.delete(&path(&shown)).expect(200);
    ping(&client, "GET", &address(&shown)).expect(404);
}

/// `ping_base_url` is shown to clients; the part before `/ping` is handled by a proxy.
#[test]
fn the_address_starts_as_configured() {
    let server = Server::with("", &[("WATCHKEEPER_PING_BASE_URL", "https://ping.example.com/in/")]);
    let shown = heartbeat(&server.client());
    assert!(
        shown["heartbeat"]["ping_url"].as_str().unwrap().starts_with("https://ping.example.com/in/ping/")
    );
    ping(&server.client(), "GET", &address(&shown)).expect(200);
}

/// Reliability 4: a ping that was answered is known after a kill, and is in the history once, also where the history has lost
/// it. A deadline that passes while nobody runs is no data, since the ping may have been lost; the next one, an interval after the
/// start, decides. Each later deadline is in the history once.
#[tokio::test]
async fn a_deadline_survives_a_kill() {
    let mut server = Server::start();
    let id = create(&server.client(), &expected_every(30));
    let silent = heartbeat(&server.client());
    let shown = server.client().get(&service(&id)).expect(200).data();
    ping(&server.client(), "GET", &address(&shown)).expect(200);
    let pinged = server.client().get(&service(&id)).expect(200).data()["heartbeat"].clone();
    server.kill_and_restart();
    let seen = server.client().get(&service(&id)).expect(200).data();
    assert_eq!(
        (&seen["status"], &seen["heartbeat"]["last_ping_at"]),
        (&json!("up"), &pinged["last_ping_at"])
    );
    let checks = until_checks(&server.client(), &id, 1).await;
    let pings = checks.iter().filter(|check| check["error_code"].is_null());
    let times: Vec<&Value> = pings.map(|check| &check["checked_at"]).collect();
    assert_eq!(times, [&pinged["last_ping_at"]]);
    server.kill();
    // The next ping is expected in a second.
    let deadline = in_ms(1_000);
    let pinged_at = deadline.plus_ms(-30_000);
    pretend_last_ping(&server, pinged_at).await;
    eventually("the deadline passes", || (in_ms(0) > deadline).then_some(())).await;
    let earliest = in_ms(30_000);
    server.restart();
    let latest = in_ms(30_000);
    let client = server.client();
    assert_eq!(client.get(&service(&id)).expect(200).data()["status"], "unknown");
    let incidents = format!("{}/incidents", service(&id));
    assert_eq!(
        client.get(&incidents).expect(200).data(),
        json!([]),
        "nobody is called for what nobody heard"
    );
    until_status(&client, &id, "down").await;
    let mut checks = until_checks(&client, &id, 2).await;
    checks.reverse();
    // The interval counts from the moment at which the process listens again.
    let next = pinged_at.plus_ms(ms_between(&shown_time(pinged_at), &checks[1]["scheduled_at"]));
    assert!(earliest <= next && next <= latest, "{next} is not an interval after the start");
    // On a slow machine further deadlines have passed by now.
    let missed =
        (0_i64..).map(|periods| (json!("heartbeat_missed"), shown_time(next.plus_ms(periods * 30_000))));
    let expected: Vec<_> =
        iter::once((Value::Null, shown_time(pinged_at))).chain(missed).take(checks.len()).collect();
    assert_eq!(entries_of(&checks), expected, "the ping, and no deadline of the stop");
    assert_eq!(client.get(&path(&silent)).expect(200).data()["status"], "unknown");
    let opened = || (client.get(&incidents).expect(200).data() != json!([])).then_some(());
    eventually("an incident begins", opened).await;
}

/// A process that is killed after a deadline may not have stored that it was missed: the next one judges it, although nobody was
/// absent when the ping was expected.
#[tokio::test]
async fn a_deadline_missed_during_a_kill_is_reported() {
    let mut server = Server::start();
    let id = create(&server.client(), &expected_every(3_600));
    let shown = server.client().get(&service(&id)).expect(200).data();
    ping(&server.client(), "GET", &address(&shown)).expect(200);
    until_checks(&server.client(), &id, 1).await;
    server.kill();
    let pinged_at = in_ms(-5_400_000);
    pretend_last_ping(&server, pinged_at).await;
    server.restart();
    let client = server.client();
    assert_eq!(client.get(&service(&id)).expect(200).data()["status"], "down");
    let mut checks = until_checks(&client, &id, 2).await;
    checks.reverse();
    let missed = (json!("heartbeat_missed"), shown_time(pinged_at.plus_ms(3_600_000)));
    assert_eq!(entries_of(&checks), [(Value::Null, shown_time(pinged_at)), missed]);
}

/// A heartbeat that pings at this interval, without any grace.
fn expected_every(seconds: u32) -> Value {
    let settings = json!({"interval_seconds": seconds, "config": {"grace_seconds": 0}});
    json!({"name": "x", "check_type": "heartbeat", "settings": settings})
}

/// The error code of each entry of the history, and when it was due.
fn entries_of(checks: &[Value]) -> Vec<(Value, Value)> {
    checks.iter().map(|check| (check["error_code"].clone(), check["scheduled_at"].clone())).collect()
}

/// A moment as answers show it.
fn shown_time(at: Timestamp) -> Value {
    json!(at.to_string())
}

/// Lets the last ping of a server that does not run have come at this moment: the service is up since then, and the history has
/// lost the entry. The services are made older than the ping, because a history shows nothing from before its service was
/// configured (contract 4.8).
pub(crate) async fn pretend_last_ping(server: &Server, at: Timestamp) {
    let [main, history] = server.urls();
    let (at, made) = (at.ms(), at.plus_ms(-3_600_000).ms());
    run(&main, &format!("UPDATE heartbeat SET last_ping_at = {at} WHERE last_ping_at > 0")).await;
    run(&main, &format!("UPDATE service SET created_at = {made}, configured_at = {made}")).await;
    run(&history, &format!("UPDATE status_change SET at = {at}")).await;
    run(&history, "DELETE FROM fresh_check").await;
}

/// Runs a statement on a database of a server.
pub(crate) async fn run(url: &str, statement: &str) {
    let database = sea_orm::Database::connect(url.to_owned()).await.unwrap();
    database.execute_unprepared(statement).await.unwrap();
    database.close().await.unwrap();
}

/// Invented secrets from the same address do not prevent a valid ping.
#[test]
fn a_valid_ping_is_accepted_among_invented_ones() {
    let server = Server::with("", &[("WATCHKEEPER_RATE_LIMIT_PER_MINUTE", "20")]);
    let client = server.client();
    let (known, fresh) = (heartbeat(&client), heartbeat(&client));
    ping(&client, "POST", &address(&known)).expect(200);
    let mut seen = std::collections::BTreeSet::new();
    for number in 0..60 {
        let made_up = format!("/ping/{number:0>43}");
        seen.insert(ping(&client, "GET", &made_up).status);
        if number == 40 {
            ping(&client, "POST", &address(&fresh)).expect(200);
        }
    }
    assert!(seen.contains(&404) && seen.is_subset(&[404, 429].into()), "{seen:?}");
    ping(&client, "POST", &address(&known)).expect(200);
    ping(&client, "POST", &address(&fresh)).expect(200);
}
