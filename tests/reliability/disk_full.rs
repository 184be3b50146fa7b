//! Reliability 5: a full disk stops only writes, and when there is space again everything continues by itself.
//!
//! The data folder is a small file system in memory, which the test fills and empties.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::json;
use tokio::time::Instant;

use crate::crowd::{Crowd, ROOM, now, number};
use crate::support::client::Client;
use crate::support::eventually;
use crate::support::server::Server;

const REQUIRED: &str = "WATCHKEEPER_TESTS_REQUIRE_MOUNT";

/// A small disk.
struct Disk {
    folder: tempfile::TempDir,
}

impl Disk {
    /// `None` where this process may not mount.
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=24m", "tmpfs"]).arg(folder.path()).stderr(Stdio::null());
        if mount.status().is_ok_and(|status| status.success()) {
            return Some(Self { folder });
        }
        let is_required = std::env::var_os(REQUIRED).is_some_and(|value| value == "1");
        assert!(!is_required, "{REQUIRED}=1, but tmpfs cannot be mounted");
        // Past the test harness, which shows what a passing test prints to nobody.
        let _ = writeln!(std::io::stderr(), "!!! tmpfs cannot be mounted: a full disk is NOT TESTED");
        None
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn ballast(&self) -> PathBuf {
        self.folder.path().join("ballast")
    }

    /// Leaves not a byte.
    fn fill(&self) {
        let mut ballast = File::options().create(true).append(true).open(self.ballast()).unwrap();
        for size in [1 << 20, 1 << 12, 1] {
            while ballast.write_all(&vec![0; size]).is_ok() {}
        }
    }

    fn free(&self) {
        fs::remove_file(self.ballast()).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // The server may just be ending; a lazy unmount waits for it.
        let _ = Command::new("umount").arg("-l").arg(self.folder.path()).status();
    }
}

/// `/readyz`, which stays 200, and the view of operators name the disk and what waits.
fn assert_warned(client: &Client, operator: &Client, folder: &str) {
    let warning = format!("the disk of {folder} is full since ");
    let ready = client.without_token().get("/readyz").expect(200).json();
    let warnings = ready["warnings"].as_array().cloned().unwrap_or_default();
    let found = warnings.iter().filter_map(|told| told.as_str()).find(|told| told.starts_with(&warning));
    assert!(found.is_some_and(|told| told.contains(" results wait in memory")), "{ready}");
    let engine = operator.get("/v1/engine").expect(200).data();
    assert!(engine["warnings"][0].as_str().is_some_and(|told| told.starts_with(&warning)), "{engine}");
}

/// Replaced connections are logged with their reason, once a minute and database at most.
fn assert_log_is_short(log: &str, began: Instant) {
    let replaced: Vec<&str> =
        log.lines().filter(|line| line.contains("write connection replaced after a failure")).collect();
    assert!(
        !replaced.is_empty() && replaced.iter().all(|line| line.contains("disk is full")),
        "{replaced:?}"
    );
    let limit = 2 * (1 + usize::try_from(began.elapsed().as_secs()).unwrap() / 60);
    assert!(replaced.len() <= limit, "one a minute and database: {replaced:?}");
    assert!(!log.contains("cannot reach the main database"), "it can");
}

#[tokio::test]
async fn a_full_disk_stops_only_writes() {
    let Some(disk) = Disk::mount() else { return };
    let data = disk.data().display().to_string();
    let server = Server::with(ROOM, &[("WATCHKEEPER_DATA_DIR", &data)]);
    let (client, began) = (server.client(), Instant::now());
    let operator = server.member(&server.organisation("business"), "engine.view");
    let crowd = Crowd::gather(&client, 100);
    let id = &crowd.ids[0];
    let path = format!("/v1/services/{id}");
    eventually("results are acknowledged", || (number(&client, "results_acked_total") > 300).then_some(()))
        .await;
    for round in 0..3 {
        disk.fill();
        let failures = number(&client, "history_failures_total");
        eventually("a write fails", || {
            disk.fill();
            (number(&client, "history_failures_total") > failures + 2).then_some(())
        })
        .await;
        let acknowledged = number(&client, "results_acked_total");
        let filled_at = now();
        let (mut refused, mut unexplained) = (0, Vec::new());
        for attempt in 0..20 {
            let name = format!("name {round} {attempt}");
            let answer = client.patch(&path, &json!({"name": name}));
            let shown = client.get(&path).expect(200).data()["name"] == *name;
            // A page of the log may still have been free: then it is true.
            assert!(answer.status == 503 && !shown || answer.status == 200 && shown, "{answer:?} {shown}");
            refused += usize::from(answer.status == 503);
            if answer.status == 503 && !answer.body.contains("The disk of the server is full") {
                unexplained.push(answer.body);
            }
        }
        assert!(refused > 0, "no write met the full disk");
        assert_eq!(unexplained, Vec::<String>::new(), "each refusal says why");
        assert_warned(&client, &operator, &data);

        disk.free();
        let freed_at = Instant::now();
        eventually("a write is done", || {
            (client.patch(&path, &json!({"name": format!("free {round}")})).status == 200).then_some(())
        })
        .await;
        let writes_after = freed_at.elapsed();
        eventually("no disk is full", || {
            let ready = client.without_token().get("/readyz").expect(200).body;
            (!ready.contains("is full since")).then_some(())
        })
        .await;
        eventually("results are acknowledged again", || {
            (number(&client, "results_acked_total") > acknowledged).then_some(())
        })
        .await;
        let results_after = freed_at.elapsed();
        println!(
            "round {round}: {refused} refused; writes after {writes_after:?}, results after {results_after:?}"
        );
        assert!(
            results_after.as_secs() < 5 && writes_after.as_secs() < 5,
            "{writes_after:?} {results_after:?}"
        );
        let seen = crowd.seen_before(&client, filled_at);
        assert!(seen.checks as u64 >= acknowledged && seen.checks == seen.distinct);
    }
    assert_eq!(number(&client, "results_shed_total"), 0);
    assert_log_is_short(&server.log(), began);
    crowd.assert_nobody_down(&client);
}
