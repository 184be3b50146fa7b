//! Reliability 9: each edge from up to down is one incident, whenever the process is killed.
//!
//! Targets go away and come back while the process is killed around the edges: three rounds, with `WATCHKEEPER_ENDURE=1` a
//! hundred. Nothing is half done: every incident has its service and its entries, and is over when the service is up.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::endures;
use crate::support::client::Client;
use crate::support::postgres::Postgres;
use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{create, eventually, service, until_status};

/// Services that are watched, each with a target of its own.
const SERVICES: usize = 6;

fn rounds() -> u64 {
    if endures() { 100 } else { 3 }
}

/// Any moment around an edge: milliseconds that differ from round to round (Knuth's multiplicative hash).
fn moment(round: u64) -> Duration {
    Duration::from_millis(round.wrapping_mul(2_654_435_761) % 1_500)
}

fn incidents(client: &Client) -> Vec<Value> {
    let mut found = Vec::new();
    for page in 1.. {
        let rows = client.get(&format!("/v1/incidents?per_page=100&page={page}")).expect(200).data();
        let rows = rows.as_array().unwrap().clone();
        if rows.is_empty() {
            break;
        }
        found.extend(rows);
    }
    found
}

/// Incidents by service: all, and those that are open.
fn counted(client: &Client) -> HashMap<String, (usize, usize)> {
    let mut counts: HashMap<String, (usize, usize)> = HashMap::new();
    // One that is opened meanwhile moves the others to the next page, where they are seen again.
    let by_id: HashMap<String, Value> =
        incidents(client).into_iter().map(|incident| (incident["id"].to_string(), incident)).collect();
    for incident in by_id.values() {
        let services = incident["services"].as_array().unwrap();
        assert_eq!(services.len(), 1, "half done, or grouped: {incident}");
        assert_eq!(
            incident["resolved_at"].is_null(),
            incident["status"] != "resolved",
            "half done: {incident}"
        );
        let path = format!("/v1/incidents/{}", incident["id"].as_str().unwrap());
        let updates = client.get(&path).expect(200).data()["updates"].as_array().unwrap().len();
        assert!(updates >= 1, "half done: {incident}");
        let (all, open) = counts.entry(services[0]["id"].as_str().unwrap().to_owned()).or_default();
        *all += 1;
        *open += usize::from(incident["resolved_at"].is_null());
    }
    counts
}

/// Waits until every service has this number of incidents, open or not.
async fn until_counted(client: &Client, ids: &[String], (all, open): (usize, usize)) {
    let what = format!("{all} incidents each, {open} of them open");
    let counts = eventually(&what, || {
        let counts = counted(client);
        let of = |id: &String| counts.get(id).copied().unwrap_or_default();
        let too_many = ids.iter().find(|id| of(id).0 > all);
        assert!(
            too_many.is_none(),
            "{what}: {}",
            too_many.map(|id| recent_history(client, id)).unwrap_or_default()
        );
        ids.iter().all(|id| of(id) == (all, open)).then_some(counts)
    })
    .await;
    assert_eq!(counts.len(), ids.len());
}

/// The last incidents and checks of a service, for diagnosis.
fn recent_history(client: &Client, id: &str) -> String {
    let last = |path: &str, keys: &[&str]| {
        let rows = client.get(&format!("{}/{path}", service(id))).expect(200).data();
        let line = |row: &Value| keys.iter().map(|key| row[*key].to_string()).collect::<Vec<_>>().join(" ");
        rows.as_array().unwrap().iter().map(line).collect::<Vec<_>>().join("\n")
    };
    let incidents =
        last("incidents?per_page=4", &["started_at", "created_at", "resolved_at", "service_impact"]);
    let checks = last("checks?per_page=30", &["scheduled_at", "checked_at", "status", "error_message"]);
    format!("of {id}:\n{incidents}\n{checks}")
}

async fn each_edge_is_one_incident(variables: &[(&str, &str)]) {
    let mut server = Server::with("", variables);
    let client = server.client();
    let policy = client.get("/v1/incident-policies").expect(200).data()[0]["id"].as_str().unwrap().to_owned();
    let rules = json!({"group_by": "none", "resolve_after_seconds": 0});
    client.patch(&format!("/v1/incident-policies/{policy}"), &rules).expect(200);
    let mut targets: Vec<Target> = (0..SERVICES).map(|_| Target::start()).collect();
    let watched = |target: &Target| {
        let body = json!({"name": "Shop", "check_type": "http", "target": target.url(),
            // So many edges are no flapping here.
            "settings": {"interval_seconds": 1, "retries": 0, "flapping_changes": 0}});
        create(&client, &body)
    };
    let ids: Vec<String> = targets.iter().map(watched).collect();
    for id in &ids {
        until_status(&client, id, "up").await;
    }
    for round in 1..=rounds() {
        targets.iter_mut().for_each(Target::stop);
        tokio::time::sleep(moment(2 * round)).await;
        server.kill_and_restart();
        let edges = usize::try_from(round).unwrap();
        until_counted(&server.client(), &ids, (edges, 1)).await;
        targets.iter_mut().for_each(Target::start_again);
        tokio::time::sleep(moment(2 * round + 1)).await;
        server.kill_and_restart();
        until_counted(&server.client(), &ids, (edges, 0)).await;
        println!("round {round}: {} incidents for as many edges", edges * SERVICES);
    }
}

#[tokio::test]
async fn each_edge_is_one_incident_on_sqlite() {
    each_edge_is_one_incident(&[]).await;
}

#[tokio::test]
async fn each_edge_is_one_incident_on_postgres() {
    let (Some(main), Some(history)) = (Postgres::start(), Postgres::start()) else { return };
    let (main, history) = (main.url(), history.url());
    each_edge_is_one_incident(&[("WATCHKEEPER_DATABASE_URL", &main), ("WATCHKEEPER_HISTORY_URL", &history)])
        .await;
}
