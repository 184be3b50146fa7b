//! People and the engine write the same incidents at the same moment, on PostgreSQL: nobody waits in a circle, and who does
//! all the same is not told.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use watchkeeper::clock::Clock;

use crate::notification_channels::webhook;
use crate::support::client::Client;
use crate::support::postgres::Postgres;
use crate::support::server::Server;
use crate::support::{eventually, service};

/// Services of each of the two tags.
const SERVICES: usize = 6;
const ROUNDS: usize = 12;
const CHANNELS: &str = "/v1/notification-channels";

fn server_on(postgres: &Postgres) -> Server {
    let url = postgres.url();
    Server::with("", &[("WATCHKEEPER_DATABASE_URL", &url), ("WATCHKEEPER_HISTORY_URL", &url)])
}

/// One that waits for a lock for as long as a test needs.
fn patient_server_on(postgres: &Postgres) -> Server {
    let url = postgres.url();
    let variables = [
        ("WATCHKEEPER_DATABASE_URL", &*url),
        ("WATCHKEEPER_HISTORY_URL", &url),
        ("WATCHKEEPER_DATABASE__LOCK_TIMEOUT_SECONDS", "60"),
        ("WATCHKEEPER_DATABASE__STATEMENT_TIMEOUT_SECONDS", "60"),
    ];
    Server::with("", &variables)
}

fn made(client: &Client, path: &str, body: &Value) -> String {
    client.post(path, body).expect(201).data()["id"].as_str().unwrap().to_owned()
}

/// Services that are down one moment and up the next, as their engine would say it.
fn flip(postgres: &Postgres, round: usize) {
    let (from, to) = if round.is_multiple_of(2) { (1, 3) } else { (3, 1) };
    postgres.ask(&format!(
        "INSERT INTO status_change (service_id, at, from_status, to_status, cause) \
        SELECT id, {round} + (extract(epoch FROM now()) * 1000)::bigint, {from}, {to}, 1 FROM service ORDER BY id DESC"
    ));
}

/// Says that it is over, also when what it guards fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The number of statements that wait for a lock.
fn waiting(postgres: &Postgres) -> u32 {
    let count = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    postgres.ask(count).parse().unwrap()
}

fn deadlocks(postgres: &Postgres) -> String {
    postgres.ask("SELECT sum(deadlocks) FROM pg_stat_database")
}

/// Services fail, recover and are deleted, while people edit, resolve and reopen the incidents.
#[test]
fn edits_and_automatic_changes_do_not_deadlock() {
    let Some(postgres) = Postgres::start() else { return };
    let server = server_on(&postgres);
    let client = server.client();
    let policies = client.get("/v1/incident-policies").expect(200).data();
    let path = format!("/v1/incident-policies/{}", policies[0]["id"].as_str().unwrap());
    client.patch(&path, &json!({"group_by": "parent_or_tags"})).expect(200);
    let create = |number: usize| {
        let tags = json!(["all", format!("half:{}", number % 2)]);
        made(&client, "/v1/services", &json!({"name": "Shop", "check_type": "manual", "tags": tags}))
    };
    (0..SERVICES).for_each(|number| drop(create(number)));
    let is_over = AtomicBool::new(false);
    let open = || client.get("/v1/incidents?per_page=100").expect(200).data().as_array().unwrap().clone();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _over = Over(&is_over);
            for round in 0..ROUNDS {
                flip(&postgres, round);
                std::thread::park_timeout(Duration::from_millis(300));
            }
        });
        scope.spawn(|| {
            for number in 0.. {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                let gone = create(number);
                let status = client.delete(&service(&gone)).status;
                assert_eq!(status, 200);
                let rows = client.get("/v1/services?per_page=100").expect(200).data();
                let oldest = rows[0]["id"].as_str().unwrap().to_owned();
                create(number);
                assert_eq!(client.delete(&service(&oldest)).status, 200);
            }
        });
        for person in 0..2 {
            let (open, is_over, client) = (&open, &is_over, &client);
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    for incident in open() {
                        let path = format!("/v1/incidents/{}", incident["id"].as_str().unwrap());
                        let word = if person == 0 { "resolved" } else { "identified" };
                        let entry = json!({"status": word, "message": "m"});
                        let status = client.post(&format!("{path}/updates"), &entry).status;
                        assert!([201, 404].contains(&status), "an entry: {status}");
                        let title = json!({"title": "t", "severity": "critical"});
                        let status = client.patch(&path, &title).status;
                        assert!([200, 404].contains(&status), "a title: {status}");
                    }
                }
            });
        }
    });
    assert_eq!(deadlocks(&postgres), "0", "{}", server.log());
    assert!(!server.log().contains("cannot update incidents"), "{}", server.log());
}

/// Another process locks in another order: the aborted transaction of the server is repeated.
#[tokio::test]
async fn a_write_aborted_by_a_deadlock_is_repeated() {
    let Some(postgres) = Postgres::start() else { return };
    // Time enough for the other one to complete the cycle before the server, which waits first, detects the deadlock.
    postgres.ask("ALTER ROLE postgres SET deadlock_timeout = '10s'");
    let server = patient_server_on(&postgres);
    let client = server.client();
    let id = made(&client, "/v1/services", &json!({"name": "Shop", "check_type": "manual"}));
    let mut other = postgres.hold("SELECT 1 FROM service FOR UPDATE");
    std::thread::scope(|scope| {
        let change = scope.spawn(|| client.patch(&service(&id), &json!({"name": "Store"})));
        while waiting(&postgres) == 0 {
            assert!(!change.is_finished(), "it did not wait");
        }
        // It gets this lock when the server's transaction has been given up, and ends.
        other.go_on("SELECT 1 FROM organisation FOR UPDATE");
        other.release();
        let changed = change.join().unwrap();
        assert_eq!((changed.status, &changed.data()["name"]), (200, &json!("Store")), "{}", server.log());
    });
    eventually("the server counts what it gave up", || (deadlocks(&postgres) == "1").then_some(())).await;
    assert_eq!(client.get(&service(&id)).expect(200).data()["name"], "Store");
}

/// A channel is written under the lock of the organisation, which every change of an incident holds: the recipients of an incident are
/// decided before the write or after it, never beside it.
#[test]
fn a_channel_is_not_changed_while_an_incident_is() {
    let Some(postgres) = Postgres::start() else { return };
    let server = patient_server_on(&postgres);
    let client = server.client();
    let hook = webhook("http://127.0.0.1:9/", &json!({}));
    let channel = format!("{CHANNELS}/{}", made(&client, CHANNELS, &hook));
    let incident = json!({"title": "t", "message": "m"});
    let incident_waits = || client.post("/v1/incidents", &incident).status;
    let create = || client.post(CHANNELS, &hook).status;
    let change = || client.patch(&channel, &json!({"name": "Other"})).status;
    let delete = || client.delete(&channel).status;
    let writes: [(&str, &(dyn Fn() -> u16 + Sync)); 4] =
        [("incident", &incident_waits), ("create", &create), ("change", &change), ("delete", &delete)];
    for (name, write) in writes {
        let mut other = postgres.hold("SELECT 1 FROM organisation FOR NO KEY UPDATE");
        std::thread::scope(|scope| {
            let written = scope.spawn(write);
            while waiting(&postgres) == 0 {
                assert!(!written.is_finished(), "{name} did not wait");
            }
            other.release();
            let status = written.join().unwrap();
            assert!([200, 201].contains(&status), "{name}: {status}");
        });
    }
}

/// An entry has the time at which its turn came: what was written while it waited precedes it.
#[test]
fn an_entry_is_not_older_than_what_it_waited_for() {
    let Some(postgres) = Postgres::start() else { return };
    let server = patient_server_on(&postgres);
    let client = server.client();
    let id = made(&client, "/v1/incidents", &json!({"title": "Shop", "message": "We look into it."}));
    let path = format!("/v1/incidents/{id}/updates");
    let entry = json!({"status": "identified", "message": "We know why."});
    let mut other = postgres.hold("SELECT 1 FROM organisation FOR NO KEY UPDATE");
    std::thread::scope(|scope| {
        let posted = scope.spawn(|| client.post(&path, &entry));
        while waiting(&postgres) == 0 {
            assert!(!posted.is_finished(), "it did not wait");
        }
        // `waiting` starts a psql, so more than a millisecond has passed since the request began to wait.
        let turn = Clock::System.now().to_string();
        other.release();
        let seen = posted.join().unwrap().expect(201).data();
        let at = seen["updates"][1]["created_at"].as_str().unwrap();
        assert!(at >= turn.as_str(), "{at} is before {turn}");
    });
}
