//! Titles and messages in several languages (contract 1.11, 4.10).

use rstest::rstest;
use serde_json::{Value, json};

use crate::incidents::{id_of, incident};
use crate::support::client::{Answer, Client};
use crate::support::server::Server;
use crate::support::{create_unconfigured, service};

/// A client of an organisation with the languages English and German.
fn bilingual() -> Client {
    Server::shared().bilingual_tenant()
}

fn body() -> Value {
    json!({"title": {"en": "Slow", "de": " Langsam "}, "message": {"de": "Wir suchen.", "EN": "We look."}})
}

/// Asks in a language.
fn ask(client: &Client, method: &str, path: &str, (language, body): (&str, &Value)) -> Answer {
    let accept = format!("Accept-Language: {language}");
    let body = if body.is_null() { String::new() } else { body.to_string() };
    client.send(method, path, &[&accept, "Content-Type: application/json"], body.as_bytes())
}

#[track_caller]
fn check(answer: &Answer, language: &str, texts: (&str, &str)) {
    assert_eq!(answer.header("content-language"), Some(language));
    assert!(answer.header("vary").unwrap().contains("Accept-Language"));
    let seen = answer.data();
    assert_eq!((&seen["title"], &seen["updates"][0]["message"]), (&json!(texts.0), &json!(texts.1)));
    assert_eq!(seen["title_translations"], json!({"de": "Langsam", "en": "Slow"}));
    assert_eq!(seen["updates"][0]["message_translations"], json!({"de": "Wir suchen.", "en": "We look."}));
}

/// Contract 1.11: negotiation and headers, on every answer that shows an incident.
#[test]
fn an_incident_is_answered_in_the_language_of_the_reader() {
    let client = bilingual();
    let made = ask(&client, "POST", "/v1/incidents", ("de-AT, en;q=0.5", &body())).expect(201);
    check(&made, "de", ("Langsam", "Wir suchen."));
    let path = incident(&id_of(&made.data()));
    for (accept, language, texts) in [
        ("de", "de", ("Langsam", "Wir suchen.")),
        ("fr, *;q=0.1", "en", ("Slow", "We look.")),
        ("de;q=0", "en", ("Slow", "We look.")),
        ("de;q=x", "en", ("Slow", "We look.")),
    ] {
        check(&ask(&client, "GET", &path, (accept, &Value::Null)).expect(200), language, texts);
    }
    check(&client.get(&path).expect(200), "en", ("Slow", "We look."));
    check(&ask(&client, "PATCH", &path, ("de", &json!({}))).expect(200), "de", ("Langsam", "Wir suchen."));
    let published = json!({"is_published": true});
    check(&ask(&client, "PUT", &path, ("de", &published)).expect(200), "de", ("Langsam", "Wir suchen."));
    let entry = json!({"status": "monitoring", "message": {"en": "Better.", "de": "Besser."}});
    let posted = ask(&client, "POST", &format!("{path}/updates"), ("de", &entry)).expect(201);
    check(&posted, "de", ("Langsam", "Wir suchen."));
    assert_eq!(posted.data()["updates"][1]["message"], "Besser.");
    let over = json!({"message": {"en": "Over."}});
    let resolved = ask(&client, "POST", &format!("{path}/resolve"), ("de", &over)).expect(200);
    check(&resolved, "de", ("Langsam", "Wir suchen."));
    assert_eq!(resolved.data()["updates"][2]["message"], "Over.", "the default language stands in");
}

/// Contract 1.11: lists, too.
#[test]
fn lists_are_answered_in_the_language_of_the_reader() {
    let client = bilingual();
    let id = create_unconfigured(&client);
    let mut fields = body();
    fields["service_ids"] = json!([id]);
    client.post("/v1/incidents", &fields).expect(201);
    for path in ["/v1/incidents".to_owned(), format!("{}/incidents", service(&id))] {
        let list = ask(&client, "GET", &path, ("de", &Value::Null)).expect(200);
        assert_eq!(list.header("content-language"), Some("de"));
        assert!(list.header("vary").unwrap().contains("Accept-Language"));
        assert_eq!(list.data()[0]["title"], "Langsam");
        assert_eq!(list.data()[0]["title_translations"], json!({"de": "Langsam", "en": "Slow"}));
    }
}

/// Contract 1.11: either form replaces the whole field.
#[rstest]
#[case(json!("Fast"), json!({"en": "Fast"}))]
#[case(json!({"en": "Fast"}), json!({"en": "Fast"}))]
#[case(json!({"DE": "Schnell", "en": "Fast"}), json!({"de": "Schnell", "en": "Fast"}))]
#[case(json!({"en": "Fast", "de": "  "}), json!({"en": "Fast"}))]
fn a_new_title_replaces_every_language(#[case] title: Value, #[case] stored: Value) {
    let client = bilingual();
    let path = incident(&id_of(&client.post("/v1/incidents", &body()).expect(201).data()));
    let seen = client.patch(&path, &json!({"title": title})).expect(200).data();
    assert_eq!(seen["title_translations"], stored);
    assert_eq!(client.get(&path).expect(200).data(), seen);
}

/// Contract 1.11, input checks.
#[rstest]
#[case(json!({}), "", "A text in the default language (en) is required.")]
#[case(json!({"de": "Hallo"}), ".en", "A text in the default language (en) is required.")]
#[case(json!({"en": " ", "de": "Hallo"}), ".en", "A text in the default language (en) is required.")]
#[case(json!({"en": "Hi", "fr": "Salut"}), ".fr", "The organisation does not use the language fr.")]
#[case(json!({"en": "Hi", "de": 7}), ".de", "This value must be a string.")]
fn a_wrong_translation_is_refused(
    #[case] text: Value,
    #[case] suffix: &str,
    #[case] error: &str,
    #[values("title", "message")] field: &str,
) {
    let client = bilingual();
    let mut wrong = body();
    wrong[field] = text;
    let expected = [(format!("{field}{suffix}"), error.to_owned())];
    assert_eq!(client.post("/v1/incidents", &wrong).errors(), expected);
    let path = incident(&id_of(&client.post("/v1/incidents", &body()).expect(201).data()));
    wrong["status"] = "monitoring".into();
    if field == "title" {
        assert_eq!(client.patch(&path, &wrong).errors(), expected);
    } else {
        assert_eq!(client.post(&format!("{path}/updates"), &wrong).errors(), expected);
        assert_eq!(client.post(&format!("{path}/resolve"), &wrong).errors(), expected);
    }
}

/// Contract 1.11: limits hold for each language.
#[test]
fn a_text_that_is_too_long_is_refused_in_its_language() {
    let mut wrong = body();
    wrong["title"] = json!({"en": "Hi", "de": "x".repeat(256)});
    wrong["message"] = json!({"en": "x".repeat(10_001), "de": "Hallo"});
    let expected = [
        ("title.de".to_owned(), "Use at most 255 characters.".to_owned()),
        ("message.en".to_owned(), "Use at most 10000 characters.".to_owned()),
    ];
    assert_eq!(bilingual().post("/v1/incidents", &wrong).errors(), expected);
}
