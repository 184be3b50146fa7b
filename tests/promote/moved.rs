//! A promotion moves everything: the same responses, the same keys, and new keys for new rows.

use serde_json::{Value, json};

use crate::database::{Database, text};
use crate::filled::{Filled, filled};
use crate::support::client::Client;
use crate::support::postgres::Postgres;
use crate::support::{create, service, until_checks};

/// Serves the installation from its present databases, queries it, and stops again.
fn seen(installed: &mut Filled) -> Vec<(String, String)> {
    installed.server.restart();
    let seen = installed.seen();
    installed.server.kill();
    seen
}

fn assert_same(before: &[(String, String)], after: &[(String, String)]) {
    assert_eq!(before.len(), after.len());
    for ((path, before), (_, after)) in before.iter().zip(after) {
        let same = before.bytes().zip(after.bytes()).take_while(|(before, after)| before == after).count();
        let around = |text: &str| text.chars().skip(same.saturating_sub(80)).take(160).collect::<String>();
        assert!(before == after, "{path}:\n{}\n{}", around(before), around(after));
    }
}

/// The whole way: rehearsed, moved, served from PostgreSQL; main and history in databases of their own, or in one.
#[tokio::test]
async fn a_promoted_installation_answers_as_before() {
    let Some(postgres) = Postgres::start() else { return };
    let (main, history) = (Database::empty(&postgres, "main_to"), Database::empty(&postgres, "history_to"));
    let mut installed = filled(20_000).await;
    let before = seen(&mut installed);
    let files = contents(&installed);
    let to_history = history.url();
    let arguments = ["--history-to", &*to_history, "--json"];

    let rehearsed = main.promote(&installed.server, &[&["--dry-run"][..], &arguments].concat());
    assert!(rehearsed.status.success(), "{}", text(&rehearsed));
    let rehearsed: Value = serde_json::from_slice(&rehearsed.stdout).unwrap();
    assert_eq!((&rehearsed["target"], &rehearsed["obstacles"]), (&json!("empty"), &json!([])));
    assert!(rehearsed["rows"].as_u64().unwrap() > 100, "{rehearsed}");
    assert!(rehearsed["estimate_seconds"].as_u64().unwrap() >= 1);
    assert_eq!((main.tables(), history.tables()), ("0".into(), "0".into()), "a dry run writes nothing");

    let moved = main.promote(&installed.server, &arguments);
    assert!(moved.status.success(), "{}", text(&moved));
    let moved: Value = serde_json::from_slice(&moved.stdout).unwrap();
    assert_eq!(moved["rows"], rehearsed["rows"]);
    assert_eq!(contents(&installed), files, "the embedded databases are as they were");
    let rows = |table: &str| {
        let tables = moved["tables"].as_array().unwrap().iter();
        let found = tables.into_iter().find(|found| found["name"] == table).unwrap();
        found["rows"].as_u64().unwrap()
    };
    for table in [
        "check_block",
        "check_rollup",
        "fresh_check",
        "status_change",
        "asset",
        "heartbeat",
        "slug_hold",
        "custom_domain",
        "idempotency_key",
        "service_window",
        "maintenance_service",
        "incident_update",
        "component",
        "service_tag",
        "clock_mark",
        "listening_span",
    ] {
        assert!(rows(table) > 0, "{table} was empty: the test shows nothing for it");
    }
    assert_eq!(rows("custom_domain"), 2, "two claims of one host name");
    assert_eq!(main.ask("SELECT count(*) FROM service"), rows("service").to_string());

    let again = main.promote(&installed.server, &["--history-to", &to_history]);
    assert!(again.status.success() && text(&again).contains("was moved already"), "{}", text(&again));

    installed.server.set("WATCHKEEPER_DATABASE_URL", &main.url());
    installed.server.set("WATCHKEEPER_HISTORY_URL", &to_history);
    let after = seen(&mut installed);
    assert_same(&before, &after);
    new_rows_get_new_keys(&mut installed, main).await;
}

/// Ids are drawn behind those that were ever drawn, those of deleted rows included; checks go on, secrets open.
async fn new_rows_get_new_keys(installed: &mut Filled, main: Database<'_>) {
    let newest: i64 = main.ask("SELECT max(id) FROM service").parse().unwrap();
    installed.server.restart();
    let client = installed.server.client();
    let settings = json!({"interval_seconds": 604_800, "retries": 0});
    let body = json!({"name": "New", "check_type": "tcp", "target": "127.0.0.1:9", "settings": settings});
    let made = create(&client, &body);
    let key: i64 = main.ask(&format!("SELECT id FROM service WHERE public_id = '{made}'")).parse().unwrap();
    assert!(key > newest + 1, "{key}: the key of the service that was deleted is not given again");
    until_checks(&client, &made, 1).await;
    client.post("/v1/tags", &json!({"key": "new"})).expect(201);
    client.post("/v1/incidents", &json!({"title": "New", "message": "New."})).expect(201);
    repeated(&client);
    // The sealed secrets open: a check with them runs, and is not ours to blame.
    let api = &installed.services[1];
    client.post(&format!("{}/pause", service(api)), &json!({})).expect(200);
    client.post(&format!("{}/resume", service(api)), &json!({})).expect(200);
    let newest = until_checks(&client, api, 100).await[0].clone();
    assert_eq!(newest["status"], "down", "{newest}");
}

/// A request that was answered by the embedded installation is answered again, and nothing happens twice.
fn repeated(client: &Client) {
    let count = || client.get("/v1/incidents?per_page=100").expect(200).data().as_array().unwrap().len();
    let before = count();
    let service = client.get("/v1/incidents?per_page=100").expect(200).data();
    let outage =
        service.as_array().unwrap().iter().find(|found| found["title"] == "Outage 1").unwrap().clone();
    let body = json!({"title": "Outage 1", "message": "We look \"into\" it.\n",
        "service_ids": [outage["services"][0]["id"]], "severity": "major"});
    let lines = ["Content-Type: application/json", "Idempotency-Key: outage-1"];
    let again = client.send("POST", "/v1/incidents", &lines, body.to_string().as_bytes()).expect(201);
    assert_eq!(again.data()["id"], outage["id"]);
    assert_eq!(count(), before);
}

/// Names and contents of the databases and segments; write-ahead logs are merged by the last process that opens them.
fn contents(installed: &Filled) -> Vec<(String, Vec<u8>)> {
    let files = installed.server.files().into_iter();
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "db"));
    let mut contents: Vec<_> =
        files.map(|path| (path.display().to_string(), std::fs::read(&path).unwrap())).collect();
    contents.sort();
    let names: Vec<&String> = contents.iter().map(|(name, _)| name).collect();
    assert!(contents.len() > 2, "there is a segment: {names:?}");
    contents
}

/// One database for both, and a server that is stopped by itself.
#[tokio::test]
async fn both_databases_may_become_one() {
    let Some(postgres) = Postgres::start() else { return };
    let target = Database::empty(&postgres, "both_to");
    let mut installed = filled(2_000).await;
    let before = seen(&mut installed);
    let moved = target.promote(&installed.server, &[]);
    assert!(moved.status.success(), "{}", text(&moved));
    let said = text(&moved);
    for part in ["WATCHKEEPER_DATABASE_URL=postgres://127.0.0.1", "WATCHKEEPER_HISTORY_URL=", "secret.key"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    installed.server.set("WATCHKEEPER_DATABASE_URL", &target.url());
    installed.server.set("WATCHKEEPER_HISTORY_URL", &target.url());
    assert_same(&before, &seen(&mut installed));
}
