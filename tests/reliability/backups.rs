//! A backup under load contains everything that was acknowledged before it started, and can be started.
//!
//! The quick form does it twice; with `WATCHKEEPER_ENDURE=1` 20 times under 2,000 checks a second.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::crowd::{Crowd, ROOM, now, number};
use crate::endures;
use crate::support::client::Client;
use crate::support::create;
use crate::support::eventually;
use crate::support::server::Server;

/// Rows move into segments, and segments are merged, all the time.
const COMPACTING: [(&str, &str); 3] = [
    ("WATCHKEEPER_COMPACTION__PASS_MS", "200"),
    ("WATCHKEEPER_COMPACTION__ROWS_PER_BUCKET", "1"),
    ("WATCHKEEPER_COMPACTION__RESULT_SETTLE_MS", "1000"),
];

fn rounds() -> usize {
    if endures() { 20 } else { 2 }
}

fn services() -> usize {
    if endures() { 2_000 } else { 200 }
}

/// Makes tags and services until it is stopped; returns the names of the tags that were acknowledged.
fn write_until(stop: &AtomicBool, client: &Client, round: usize) -> Vec<String> {
    let mut written = Vec::new();
    while !stop.load(Ordering::Acquire) {
        let name = format!("r{round}-{}", written.len());
        client.post("/v1/tags", &json!({"key": name})).expect(201);
        create(client, &json!({"name": name, "check_type": "manual"}));
        written.push(name);
    }
    written
}

fn tags(client: &Client) -> Vec<String> {
    let mut found = Vec::new();
    for page in 1.. {
        let shown = client.get(&format!("/v1/tags?per_page=100&page={page}")).expect(200).data();
        let shown = shown.as_array().unwrap().clone();
        if shown.is_empty() {
            break;
        }
        found.extend(shown.iter().map(|tag| tag["key"].as_str().unwrap().to_owned()));
    }
    found
}

#[tokio::test]
async fn a_backup_under_load_contains_all_acknowledged_data() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::with(ROOM, &COMPACTING);
    let crowd = Crowd::gather(&server.client(), services());
    for round in 0..rounds() {
        let client = server.client();
        eventually("results are acknowledged and sealed", || {
            let [acked, sealed] =
                ["results_acked_total", "results_sealed_total"].map(|name| number(&client, name));
            (acked > 0 && sealed > 0).then_some(())
        })
        .await;
        let backup = folder.path().join(format!("{round}"));
        let stop = AtomicBool::new(false);
        let (known, known_tags, moment) = std::thread::scope(|scope| {
            let writer = scope.spawn(|| write_until(&stop, &client, round));
            let moment = now();
            let known = crowd.seen_before(&client, moment);
            let known_tags = tags(&client);
            let made = server.command(&["backup", "--to", backup.to_str().unwrap(), "--with-key"]);
            stop.store(true, Ordering::Release);
            assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
            writer.join().unwrap();
            (known, known_tags, moment)
        });
        server.kill();
        std::fs::remove_dir_all(server.data()).unwrap();
        let restored = server.command(&["restore", backup.to_str().unwrap()]);
        assert!(restored.status.success(), "{}", String::from_utf8_lossy(&restored.stderr));
        server.restart();

        let client = server.client();
        let seen = crowd.seen_before(&client, moment);
        println!(
            "round {round}: {} checks and {} tags known, {} checks there",
            known.checks,
            known_tags.len(),
            seen.checks
        );
        assert!(seen.checks >= known.checks, "round {round}: {} of {}", seen.checks, known.checks);
        assert_eq!(seen.checks, seen.distinct, "round {round}: a check is there twice");
        assert_eq!(seen.not_up, Vec::<Value>::new());
        let there = tags(&client);
        let lost: Vec<_> = known_tags.iter().filter(|name| !there.contains(name)).collect();
        assert!(lost.is_empty(), "round {round}: {lost:?}");
        // A new service has no past.
        let fresh = create(&client, &json!({"name": "fresh", "check_type": "manual"}));
        assert_eq!(client.get(&format!("/v1/services/{fresh}/checks")).expect(200).data(), json!([]));
        let released = server.command(&["notifications", "release"]);
        assert!(released.status.success());
    }
    crowd.assert_nobody_down(&server.client());
}
