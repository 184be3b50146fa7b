//! Tasks of an operator: start, stop, health checks and metrics.
//!
//! `/healthz`, `/readyz` and `/metrics` need no token; bad configuration is one line and exit code 2.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::server::{Server, failing_start};
use crate::support::target::Target;
use crate::support::tls_target::TlsTarget;
use crate::support::{create_watched, eventually, until_checks, until_status};

#[test]
fn health_and_readiness_are_reported() {
    let client = Server::shared_client().without_token();
    assert_eq!(client.get("/healthz").expect(200).json(), json!({"status": "ok"}));
    let ready = json!({"status": "ready", "databases": {"main": "ok", "history": "ok"}});
    assert_eq!(client.get("/readyz").expect(200).json(), ready);
}

#[rstest]
fn health_can_be_requested_without_a_body(#[values("/healthz", "/readyz", "/metrics")] path: &str) {
    let answer = Server::shared_client().without_token().send("HEAD", path, &[], b"").expect(200);
    assert_eq!(answer.body, "");
}

#[tokio::test]
async fn the_metrics_count_checks_and_requests() {
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
fn a_separate_address_removes_the_metrics_from_the_public_one() {
    let server = Server::with("", &[("WATCHKEEPER_METRICS_LISTEN", "127.0.0.1:0")]);
    server.client().get("/metrics").expect(404);
}

#[tokio::test]
async fn sigterm_ends_the_process_with_code_0_and_a_restart_has_all_data() {
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
fn the_first_token_file_is_readable_only_by_its_owner() {
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

/// The place is drawn below, as compilers draw it: the only error of more than one line.
#[test]
fn a_toml_error_shows_its_position() {
    let (code, said) = failing_start("interval = 1\nnot toml", &[]);
    assert_eq!(code, Some(2), "{said}");
    let lines: Vec<&str> = said.lines().map(str::trim_end).collect();
    assert!(lines[0].contains("settings.toml") && lines[0].contains("line 2"), "{said}");
    assert!(lines.iter().any(|line| line.ends_with("| not toml")), "{said}");
    assert!(lines.iter().any(|line| line.trim_start_matches([' ', '|']).starts_with('^')), "{said}");
}

/// A second organisation is refused until the egress policy is set.
#[test]
fn a_second_organisation_needs_a_decision_about_egress() {
    let server = Server::with("", &[]);
    let create = ["org", "create", "--name", "Second"];
    assert!(server.command(&create).status.success());
    let undecided = server.command_without("WATCHKEEPER_EGRESS", &create);
    assert_eq!(undecided.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&undecided.stderr).contains("WATCHKEEPER_EGRESS"));
}

/// Name, plan and languages change under a running server, which follows once it forgets what it knew of the token.
#[tokio::test]
async fn an_organisation_is_edited_by_its_name() {
    let server = Server::shared();
    let create = ["org", "create", "--name", "Before the edit", "--plan", "team"];
    let made = server.command_json(&create)[0].clone();
    let client = server.member(made["id"].as_str().unwrap(), "all");
    let german = json!({"name": {"en": "Shop", "de": "Laden"}});
    client.post("/v1/statuspages", &german).expect(422);
    let edit = ["org", "edit", "before THE edit", "--name", "After it", "--languages", "de,en"];
    let edited = server.command_json(&edit)[0].clone();
    assert_eq!((&edited["id"], &edited["plan"]), (&made["id"], &json!("team")), "what is not named stays");
    assert_eq!((&edited["name"], &edited["default_locale"]), (&json!("After it"), &json!("de")));
    let is_made = || (client.post("/v1/statuspages", &german).status == 201).then_some(());
    eventually("the server knows the language", is_made).await;
    let edited = server.command_json(&["org", "edit", made["id"].as_str().unwrap(), "--plan", "business"]);
    assert_eq!((&edited[0]["plan"], &edited[0]["locales"]), (&json!("business"), &json!(["de", "en"])));
    let token = server.command(&["token", "create", "--org", "After IT", "--name", "only-once-named"]);
    assert!(token.status.success());
    let revoked = server.command_json(&["token", "revoke", "Only-Once-Named"]);
    assert_eq!(revoked["revoked"], true);
}

/// A tenant's text can neither forge a log line nor control the terminal of its reader.
#[tokio::test]
async fn tenants_cannot_write_escape_codes_to_the_log() {
    let server = Server::with("", &[]);
    let (client, target) = (server.client(), Target::start());
    let settings = json!({"interval_seconds": 1, "timeout_seconds": 5, "retries": 0});
    let named = json!({"name": "red\u{1b}[31m\u{9b}2J", "check_type": "http", "target": target.url(), "settings": settings});
    let id = client.post("/v1/services", &named).expect(201).data()["id"].as_str().unwrap().to_owned();
    until_status(&client, &id, "up").await;
    let logged = || Some(server.log()).filter(|log| log.contains("red\\u001b[31m\\u009b2J"));
    let log = eventually("the change is logged", logged).await;
    assert!(!log.contains(['\u{1b}', '\u{9b}']), "{log}");
}

/// Wrong usage is exit code 2, like bad configuration.
#[rstest]
#[case(&["org", "create", "--name", " "], "--name")]
#[case(&["org", "create", "--name", "x", "--plan", "gold"], "business")]
#[case(&["org", "create", "--name", "x", "--languages", "EN"], "de-AT")]
#[case(&["org", "edit", "Nobody", "--plan", "team"], "there is no organisation 'Nobody'")]
#[case(&["org", "edit", "Nobody"], "--languages")]
#[case(&["token", "create", "--org", "Nobody", "--name", "x"], "watchkeeper org list")]
#[case(&["token", "revoke", "Nobody"], "watchkeeper token list")]
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

/// Also of a certificate that is refused: then it matters most.
#[test]
fn a_single_check_shows_its_findings() {
    let (server, target) = (Server::shared(), TlsTarget::ending_in_days(40));
    let address = target.address();
    let run = |further: &[&str]| server.command(&[&["check", "ssl", &address][..], further].concat());
    let shown = run(&["--json"]);
    assert_eq!(shown.status.code(), Some(1), "nobody trusts it");
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    let days = shown["metadata"]["days_until_expiry"].as_f64().unwrap();
    assert!((39.0..=40.0).contains(&days), "{shown}");
    let picture = String::from_utf8(run(&[]).stdout).unwrap();
    assert!(
        picture.contains("  metadata.chain_length  ") && picture.contains("metadata.dns_names"),
        "{picture}"
    );
    let odd =
        r#"{"conditions": [{"field": "days_until_expiry", "operator": "lt", "value": 9, "status": "down"}]}"#;
    let refused = run(&["--config", odd]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(2) && said.lines().count() == 1, "{said}");
    assert!(said.contains("did you mean metadata.days_until_expiry?"), "{said}");
}

/// It is one address of each family.
#[test]
fn localhost_is_a_valid_listen_address() {
    let server = Server::with("", &[("WATCHKEEPER_LISTEN", "localhost:0")]);
    let port: u16 = server.base().rsplit_once(':').unwrap().1.parse().unwrap();
    for host in ["127.0.0.1", "::1"] {
        if host == "127.0.0.1" || std::net::TcpListener::bind("[::1]:0").is_ok() {
            std::net::TcpStream::connect((host, port)).unwrap_or_else(|error| panic!("{host}: {error}"));
        }
    }
}

#[test]
fn an_invalid_listen_address_is_refused_with_valid_examples() {
    let (code, said) = failing_start("listen = \"example.net:80\"", &[]);
    let is_refused = code == Some(2) && said.contains("example.net:80");
    assert!(is_refused && said.contains("localhost:8080, or *:8080 for all addresses"), "{said}");
}
