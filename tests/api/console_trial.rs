//! The console's buttons *Try it* and *Check now*.

use rstest::rstest;
use serde_json::json;

use crate::support::console::ConsoleUser;
use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{create_watched, until_checks};

#[rstest]
#[case("en", &["Result of the trial", "Status code", "Waiting for the first byte", "Nothing was saved."])]
#[case("de", &["Ergebnis des Versuchs", "Statuscode", "Es wurde nichts gespeichert."])]
fn a_new_service_is_tried_before_it_is_added(#[case] language: &str, #[case] words: &[&str]) {
    let client = Server::shared().tenant("business");
    let user = ConsoleUser::invited(&client, "editor");
    user.post("/settings", &[("what", "profile"), ("name", "Anna"), ("language", language)]).expect(303);
    let target = Target::start();
    let url = target.url();
    let fields = [("paste", url.as_str()), ("name", "My shop"), ("interval", "90"), ("try", "true")];
    let page = user.post("/services/new", &fields).expect(200).body;
    for word in words {
        assert!(page.contains(word), "{word}: {page}");
    }
    assert!(page.contains("value=\"My shop\"") && page.contains("value=\"90\""), "{page}");
    assert_eq!(client.get("/v1/services").expect(200).json()["meta"]["total"], 0);
    let page =
        user.post("/services/new", &[("paste", "cron nightly backup"), ("try", "true")]).expect(422).body;
    assert!(page.contains("id=\"problem\""), "{page}");
}

#[test]
fn a_changed_service_is_tried_before_it_is_saved() {
    let client = Server::shared().tenant("business");
    let user = ConsoleUser::invited(&client, "editor");
    let mut target = Target::start();
    let url = target.url();
    let id = create_watched(&client, &url, &json!({"interval_seconds": 3600}));
    let form = user.get(&format!("/services/{id}/edit")).expect(200).body;
    assert!(form.contains("name=\"try\""), "{form}");
    target.stop();
    let fields = [
        ("name", "Renamed"),
        ("target", url.as_str()),
        ("settings.interval_seconds", "3600"),
        ("settings.timeout_seconds", "5"),
        ("settings.retries", "0"),
        ("settings.config.method", "GET"),
        ("try", "true"),
    ];
    let page = user.post(&format!("/services/{id}/edit"), &fields).body;
    assert!(page.contains("value=\"Renamed\""), "{page}");
    let stored = client.get(&format!("/v1/services/{id}")).expect(200).data();
    assert_ne!(stored["name"], "Renamed", "nothing is saved");
}

#[tokio::test]
async fn a_responder_lets_a_service_be_checked_now() {
    let client = Server::shared().tenant("business");
    let target = Target::start();
    let id = create_watched(&client, &target.url(), &json!({"interval_seconds": 3600}));
    until_checks(&client, &id, 1).await;
    let (path, button) = (format!("/services/{id}"), "<button data-key=\"c\">");
    let viewer = ConsoleUser::invited(&client, "viewer");
    assert!(!viewer.get(&path).expect(200).body.contains(button));
    let user = ConsoleUser::invited(&client, "responder");
    assert!(user.get(&path).expect(200).body.contains(button));
    user.post(&format!("{path}/check-now"), &[]).expect(303);
    until_checks(&client, &id, 2).await;
    user.post(&format!("{path}/check-now"), &[]).expect(429);
}
