//! What an operator does: start, stop, look whether it is alive, and read its numbers.
//!
//! `/healthz`, `/readyz` and `/metrics` need no token; bad configuration is one line and exit code 2.

use rstest::rstest;
use serde_json::json;

use crate::support::server::{Server, failing_start};
use crate::support::target::Target;
use crate::support::{create_watched, until_checks};

#[test]
fn the_process_says_that_it_lives_and_is_ready() {
    let client = Server::shared_client().without_token();
    assert_eq!(client.get("/healthz").expect(200).json(), json!({"status": "ok"}));
    let ready = json!({"status": "ready", "databases": {"main": "ok", "history": "ok"}});
    assert_eq!(client.get("/readyz").expect(200).json(), ready);
}

#[rstest]
fn health_can_be_asked_without_a_body(#[values("/healthz", "/readyz", "/metrics")] path: &str) {
    let answer = Server::shared_client().without_token().send("HEAD", path, &[], b"").expect(200);
    assert_eq!(answer.body, "");
}

#[tokio::test]
async fn the_numbers_count_checks_and_requests() {
    let (server, target) = (Server::start(), Target::start());
    let client = server.client();
    let id = create_watched(&client, &target.url(), &json!({"interval_seconds": 3600}));
    until_checks(&client, &id, 1).await;
    let page = client.without_token().get("/metrics").expect(200);
    assert_eq!(page.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let samples = page.body.lines().filter(|line| !line.starts_with('#'));
    for sample in samples.clone() {
        let (name, value) = sample.rsplit_once(' ').unwrap();
        assert!(name.starts_with("watchkeeper_"), "{sample}");
        assert!(value.parse::<f64>().is_ok(), "{sample}");
    }
    let counted = samples.filter(|sample| sample.contains("checks") && sample.contains("\"http\""));
    assert!(counted.into_iter().any(|sample| sample.ends_with(" 1")), "{}", page.body);
}

#[test]
fn a_separate_address_takes_the_numbers_away_from_the_public_one() {
    let server = Server::with("", &[("WATCHKEEPER_METRICS_LISTEN", "127.0.0.1:0")]);
    server.client().get("/metrics").expect(404);
}

#[tokio::test]
async fn sigterm_ends_the_process_with_code_0_and_a_later_start_has_everything() {
    let target = Target::start();
    let mut server = Server::start();
    let id = create_watched(&server.client(), &target.url(), &json!({"interval_seconds": 1}));
    let before = until_checks(&server.client(), &id, 2).await;
    let asked_at = tokio::time::Instant::now();
    assert_eq!(server.terminate().await, Some(0), "{}", server.log());
    assert!(asked_at.elapsed().as_secs() < 10);
    server.restart();
    let after = until_checks(&server.client(), &id, before.len()).await;
    assert!(before.iter().all(|check| after.contains(check)));
}

#[test]
fn the_first_token_is_kept_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let server = Server::shared();
    for file in ["token", "secret.key"] {
        let mode = std::fs::metadata(server.data().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}

/// One line that names the key, the value and what is allowed.
#[rstest]
#[case("", &[("WATCHKEEPER_LISTEN", "nowhere")], &["WATCHKEEPER_LISTEN", "\"nowhere\"", "127.0.0.1:8080"])]
#[case("", &[("WATCHKEEPER_RATE_LIMIT_PER_MINUTE", "0")], &["RATE_LIMIT", "\"0\"", "from 1"])]
#[case("", &[("WATCHKEEPER_EGRESS", "all")], &["EGRESS", "\"all\"", "public-only"])]
#[case("", &[("WATCHKEEPER_DATABASE_URL", "mysql://x")], &["DATABASE_URL", "\"mysql://x\"", "postgres:"])]
#[case("", &[("WATCHKEEPER_LOG", "a=b=c")], &["log", "a=b=c", "info"])]
#[case("", &[("WATCHKEEPER_LOCATION", "Not A Code")], &["location", "Not A Code"])]
#[case("listne = 1", &[], &["settings.toml", "listne"])]
#[case("not toml", &[], &["settings.toml"])]
#[case("[plans.gold]\nservices = 1", &[], &["plans.gold", "business"])]
#[case("[plans.team]\nservices = -1", &[], &["plans.team.services", "\"-1\"", "unlimited"])]
#[case("[[probe.locations]]\ncode = 'Ä'", &[], &["probe.locations", "Ä"])]
fn bad_configuration_is_one_line_and_exit_code_2(
    #[case] file: &str,
    #[case] variables: &[(&str, &str)],
    #[case] words: &[&str],
) {
    let (code, said) = failing_start(file, variables);
    assert_eq!((code, said.trim_end().lines().count()), (Some(2), 1), "{said}");
    for word in words {
        assert!(said.contains(word), "{word}: {said}");
    }
}

/// A second organisation is refused until somebody has decided what checks may reach.
#[test]
fn a_second_organisation_needs_a_decision_about_egress() {
    let server = Server::with("", &[]);
    let create = ["org", "create", "--name", "Second"];
    assert!(server.command(&create).status.success());
    let undecided = server.command_without("WATCHKEEPER_EGRESS", &create);
    assert_eq!(undecided.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&undecided.stderr).contains("WATCHKEEPER_EGRESS"));
}

/// Wrong usage is exit code 2, like bad configuration.
#[rstest]
#[case(&["org", "create", "--name", " "], "--name")]
#[case(&["org", "create", "--name", "x", "--plan", "gold"], "business")]
#[case(&["org", "create", "--name", "x", "--languages", "EN"], "de-AT")]
#[case(&["token", "create", "--org", "short", "--name", "x"], "--org")]
#[case(&["token", "create", "--org", "AAAAAAAAAAAAAAAAAAAAA", "--name", ""], "--name")]
#[case(&["token", "create", "--org", "AAAAAAAAAAAAAAAAAAAAA", "--name", "x", "--permissions", "all,x"], "services.view")]
#[case(&["serve", "--listn", "x"], "--listn")]
fn wrong_usage_is_exit_code_2(#[case] arguments: &[&str], #[case] word: &str) {
    let output = Server::shared().command(arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(word), "{said}");
}

/// Two servers on one folder would check and record everything twice.
#[test]
fn a_data_folder_is_served_by_one_process() {
    let server = Server::with("", &[]);
    let folder = server.data().to_string_lossy().into_owned();
    let (code, said) = failing_start("", &[("WATCHKEEPER_DATA_DIR", &folder)]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("another Watchkeeper serves the data folder"), "{said}");
}
