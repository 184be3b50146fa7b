//! docs/monitoring: the alerts are understood by Prometheus and fire in their cases, and no query there uses a metric
//! that no process has.
//!
//! promtool is Debian's, of the package `prometheus`. Where it is missing the tests say so, and with
//! `WATCHKEEPER_TESTS_REQUIRE_PROMTOOL=1` that is a failure.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::server::Server;

const REQUIRED: &str = "WATCHKEEPER_TESTS_REQUIRE_PROMTOOL";
const ALERTS: &str = include_str!("../../docs/monitoring/alerts.yml");
const DASHBOARD: &str = include_str!("../../docs/monitoring/dashboard.json");
const CASES: &str = include_str!("alerts/alerts_test.yml");
/// Numbers that only a process with a NATS server has, or a node among others.
const AMONG_OTHERS: [&str; 4] = [
    "watchkeeper_bus_connected",
    "watchkeeper_nodes_cut_off",
    "watchkeeper_partitions_owned",
    "watchkeeper_partitions_unowned",
];

/// Runs promtool in this folder; false where it is not installed.
fn promtool(folder: &Path, arguments: &[&str], input: &str) -> bool {
    let started = Command::new("promtool")
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut running) = started else {
        let required = std::env::var_os(REQUIRED).is_some_and(|value| value == "1");
        assert!(!required, "{REQUIRED}=1, but promtool is not installed");
        // Past the test harness, which shows what a passing test prints to nobody.
        let _ = writeln!(std::io::stderr(), "!!! promtool is not installed: alerts are NOT TESTED");
        return false;
    };
    // One that reads nothing may have ended before.
    let _ = running.stdin.take().unwrap().write_all(input.as_bytes());
    let ended = running.wait_with_output().unwrap();
    let said = [ended.stdout, ended.stderr].concat();
    assert!(ended.status.success(), "promtool {arguments:?}: {}", String::from_utf8_lossy(&said));
    true
}

/// The queries of the dashboard, with its variables filled in.
fn queries() -> Vec<String> {
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let queries = targets.map(|target| target["expr"].as_str().unwrap());
    let filled = |query: &str| query.replace("$__rate_interval", "5m").replace("$instance", ".*");
    let queries: Vec<_> = queries.map(filled).collect();
    assert!(queries.len() >= panels.len(), "every panel shows something");
    queries
}

/// The names of numbers of ours in a text.
fn names(text: &str) -> BTreeSet<&str> {
    let is_part = |c: char| c.is_ascii_lowercase() || c == '_';
    text.split(|c| !is_part(c)).filter(|word| word.starts_with("watchkeeper_")).collect()
}

#[test]
fn alert_rules_fire_in_their_test_cases() {
    let alerts = ALERTS.lines().filter_map(|line| line.trim().strip_prefix("- alert: "));
    for alert in alerts {
        assert!(CASES.contains(&format!("alertname=\"{alert}\"")), "{alert} has no case");
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("alerts.yml"), ALERTS).unwrap();
    std::fs::write(folder.path().join("alerts_test.yml"), CASES).unwrap();
    if promtool(folder.path(), &["check", "rules", "alerts.yml"], "") {
        promtool(folder.path(), &["test", "rules", "alerts_test.yml"], "");
    }
}

#[test]
fn the_queries_of_the_dashboard_are_valid() {
    let folder = tempfile::tempdir().unwrap();
    let mut rules = "groups:\n- name: dashboard\n  rules:\n".to_owned();
    for (number, query) in queries().into_iter().enumerate() {
        let query = Value::from(query);
        rules += &format!("  - {{record: 'panel:{number}', expr: {query}}}\n");
    }
    std::fs::write(folder.path().join("dashboard.yml"), rules).unwrap();
    promtool(folder.path(), &["check", "rules", "dashboard.yml"], "");
}

#[test]
fn the_server_exports_every_queried_metric() {
    let page = Server::shared_client().without_token().get("/metrics").expect(200).body;
    let known: BTreeSet<_> =
        page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    let queries = queries().join("\n");
    for name in names(ALERTS).union(&names(&queries)) {
        let family = name.strip_suffix("_bucket").unwrap_or(name);
        assert!(known.contains(family) || AMONG_OTHERS.contains(&family), "{name} is no number of ours");
    }
}

#[test]
fn the_metrics_page_is_valid() {
    let page = Server::shared_client().without_token().get("/metrics").expect(200).body;
    promtool(Path::new("/"), &["check", "metrics"], &page);
}
