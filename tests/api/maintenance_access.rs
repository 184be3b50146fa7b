//! Access to maintenances (contract 2.2, 6), isolation of tenants (1.5), and languages (1.11).

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::moments::moment;
use crate::support::planned::{id_of, in_state, maintenance, planned};
use crate::support::server::Server;
use crate::support::{UNKNOWN_ID, create_unconfigured, service};

/// Contract 2.2: exactly the permission of the table opens a route; the first missing one is named.
#[rstest]
#[case("GET", "/v1/maintenances", "maintenances.view", 200)]
#[case("POST", "/v1/maintenances", "maintenances.create", 400)]
#[case("GET", "/v1/maintenances/AAAAAAAAAAAAAAAAAAAAA", "maintenances.view", 404)]
#[case("PUT", "/v1/maintenances/AAAAAAAAAAAAAAAAAAAAA", "maintenances.edit", 404)]
#[case("PATCH", "/v1/maintenances/AAAAAAAAAAAAAAAAAAAAA", "maintenances.edit", 404)]
#[case("DELETE", "/v1/maintenances/AAAAAAAAAAAAAAAAAAAAA", "maintenances.delete", 404)]
#[case("POST", "/v1/maintenances/AAAAAAAAAAAAAAAAAAAAA/start", "maintenances.edit", 404)]
#[case("POST", "/v1/maintenances/AAAAAAAAAAAAAAAAAAAAA/complete", "maintenances.edit", 404)]
#[case("POST", "/v1/maintenances/AAAAAAAAAAAAAAAAAAAAA/extend", "maintenances.edit", 404)]
#[case("POST", "/v1/maintenances/AAAAAAAAAAAAAAAAAAAAA/cancel", "maintenances.edit", 404)]
fn a_route_needs_its_permission(
    #[case] method: &str,
    #[case] path: &str,
    #[case] permission: &str,
    #[case] status: u16,
) {
    let server = Server::shared();
    let organisation = server.organisation("business");
    let all = ["view", "create", "edit", "delete"].map(|act| format!("maintenances.{act}"));
    let others: Vec<String> = all.into_iter().filter(|held| held != permission).collect();
    server.member(&organisation, permission).send(method, path, &[], b"[]").expect(status);
    let refused = server.member(&organisation, &others.join(",")).send(method, path, &[], b"[]").expect(403);
    assert_eq!(refused.message(), format!("This token is missing the permission '{permission}'."));
}

/// Contract 2.2: the maintenances of a service need two permissions.
#[rstest]
#[case("services.view", "maintenances.view")]
#[case("maintenances.view", "services.view")]
#[case("incidents.view", "services.view")]
fn the_maintenances_of_a_service_need_both(#[case] held: &str, #[case] missing: &str) {
    let server = Server::shared();
    let organisation = server.organisation("business");
    let path = format!("{}/maintenances", service(UNKNOWN_ID));
    let refused = server.member(&organisation, held).get(&path).expect(403);
    assert_eq!(refused.message(), format!("This token is missing the permission '{missing}'."));
    server.member(&organisation, "services.view,maintenances.view").get(&path).expect(404);
}

/// Contract 1.5: a foreign id answers byte for byte like an unknown one, on every route.
#[test]
fn a_foreign_maintenance_answers_like_an_unknown_one() {
    let server = Server::shared();
    let (mine, theirs) = (server.tenant("business"), server.tenant("business"));
    let foreign = in_state(&theirs, "in_progress", &[]);
    let before = theirs.get(&maintenance(&foreign)).expect(200).body;
    for (method, rest, body) in [
        ("GET", "", ""),
        ("PUT", "", r#"{"title": "taken"}"#),
        ("PATCH", "", r#"{"title": ""}"#),
        ("DELETE", "", ""),
        ("POST", "/start", ""),
        ("POST", "/complete", ""),
        ("POST", "/cancel", ""),
        ("POST", "/extend", r#"{"scheduled_end": null}"#),
    ] {
        let ask = |id: &str| mine.send(method, &format!("{}{rest}", maintenance(id)), &[], body.as_bytes());
        let (unknown, foreign) = (ask(UNKNOWN_ID), ask(&foreign));
        assert_eq!(unknown.status, 404, "{method} {rest}");
        assert_eq!(foreign.without_request_id(), unknown.without_request_id(), "{method} {rest}");
    }
    assert_eq!(theirs.get(&maintenance(&foreign)).expect(200).body, before);
    assert_eq!(mine.get("/v1/maintenances").expect(200).json()["meta"]["total"], 0);
}

/// Contract 1.5: a foreign service is unknown in a body and ignored in a filter.
#[test]
fn a_foreign_service_cannot_be_covered_or_filtered() {
    let server = Server::shared();
    let (mine, theirs) = (server.tenant("business"), server.tenant("business"));
    let foreign = create_unconfigured(&theirs);
    let body = |id: &str| json!({"title": "x", "scheduled_start": moment(60), "service_ids": [id]});
    let text = |id: &str| vec![("service_ids.0".to_owned(), format!("No service with the ID {id} exists."))];
    for id in [foreign.as_str(), UNKNOWN_ID] {
        assert_eq!(mine.post("/v1/maintenances", &body(id)).errors(), text(id));
    }
    planned(&mine, &json!({}));
    assert_eq!(mine.get(&format!("/v1/maintenances?service_ids={foreign}")).expect(200).data(), json!([]));
    mine.get(&format!("{}/maintenances", service(&foreign))).expect(404);
}

/// Contract 1.11: texts are shown in the requested language, else in the default language.
#[rstest]
#[case("de-AT", "de", "Wartung", "Gleich.")]
#[case("fr, de;q=0.5", "de", "Wartung", "Gleich.")]
#[case("fr", "en", "Upgrade", "Soon.")]
#[case("", "en", "Upgrade", "Soon.")]
fn texts_are_shown_in_the_readers_language(
    #[case] wanted: &str,
    #[case] language: &str,
    #[case] title: &str,
    #[case] message: &str,
) {
    let server = Server::shared();
    let client = server.bilingual_tenant();
    let made = planned(
        &client,
        &json!({"title": {"de": "Wartung", "en": "Upgrade"}, "message": {"en": "Soon.", "DE": "Gleich."}}),
    );
    let line = format!("Accept-Language: {wanted}");
    let seen = client.send("GET", &maintenance(&id_of(&made)), &[&line], b"");
    assert_eq!(seen.header("content-language"), Some(language));
    assert_eq!(seen.header("vary"), Some("Accept-Language"));
    let data = seen.data();
    assert_eq!((&data["title"], &data["updates"][0]["message"]), (&json!(title), &json!(message)));
    assert_eq!(data["title_translations"], json!({"de": "Wartung", "en": "Upgrade"}));
    assert_eq!(data["updates"][0]["message_translations"], json!({"de": "Gleich.", "en": "Soon."}));
    let list = client.send("GET", "/v1/maintenances", &[&line], b"");
    assert_eq!((list.header("content-language"), &list.data()[0]["title"]), (Some(language), &json!(title)));
    let started = client.send("POST", &format!("{}/start", maintenance(&id_of(&made))), &[&line], b"");
    assert_eq!(
        (started.header("content-language"), &started.data()["title"]),
        (Some(language), &json!(title))
    );
    assert_eq!(started.data()["updates"][1]["message"], "The maintenance has started.");
}

/// Contract 1.11: either form replaces the whole text; a language of which nothing is left is left out.
#[rstest]
#[case(json!("Move"), json!({"en": "Move"}))]
#[case(json!({"en": "Move", "de": " "}), json!({"en": "Move"}))]
#[case(json!({"en": "Move", "de": "Umzug"}), json!({"de": "Umzug", "en": "Move"}))]
fn a_text_is_replaced_as_a_whole(#[case] title: Value, #[case] stored: Value) {
    let server = Server::shared();
    let client = server.bilingual_tenant();
    let made = planned(&client, &json!({"title": {"de": "Wartung", "en": "Upgrade"}}));
    let changed = client.patch(&maintenance(&id_of(&made)), &json!({"title": title})).expect(200).data();
    assert_eq!(changed["title_translations"], stored);
}
