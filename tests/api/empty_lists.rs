//! An empty list where an object is expected means the empty object (contract 1.2): clients in PHP send `{}` back as `[]`.
//!
//! Each request is replayed with both, and answered alike.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::{Answer, Client};
use crate::support::pages::{create_page, id_of, statuspage, tenant};
use crate::support::{KEEP, create, service};

/// A service with every block that may be an object.
fn shop(client: &Client) -> String {
    let config = json!({"headers": {"X-Key": "secret"}, "auth": {"type": "bearer", "token": "secret"}});
    create(
        client,
        &json!({
            "name": "Shop", "check_type": "http", "target": "http://127.0.0.1:9/",
            "settings": {"interval_seconds": 3600, "probe_roles": {"local": "full"}, "config": config},
        }),
    )
}

/// The response without the fields that differ for each resource.
fn comparable(answer: &Answer) -> (u16, Value) {
    let mut body = answer.json();
    body.as_object_mut().unwrap().remove("request_id");
    if let Some(data) = body.get_mut("data").and_then(Value::as_object_mut) {
        for own in ["id", "created_at", "updated_at", "configured_at", "slug", "url"] {
            data.remove(own);
        }
        for measured in ["status", "effective_status", "uptime_30d", "avg_response_ms", "last_check_at"] {
            data.remove(measured);
        }
    }
    (answer.status, body)
}

#[rstest]
#[case::settings("settings", |empty: Value| json!({"settings": empty}))]
#[case::config("settings.config", |empty: Value| json!({"settings": {"config": empty}}))]
#[case::headers("settings.config.headers", |empty: Value| json!({"settings": {"config": {"headers": empty}}}))]
#[case::auth("settings.config.auth", |empty: Value| json!({"settings": {"config": {"auth": empty}}}))]
#[case::probe_roles("settings.probe_roles", |empty: Value| json!({"settings": {"probe_roles": empty}}))]
fn an_empty_list_equals_an_empty_object_in_a_service_update(
    #[case] path: &str,
    #[case] body: fn(Value) -> Value,
) {
    let client = tenant();
    let answers = [json!({}), json!([])].map(|empty| {
        let changed = client.patch(&service(&shop(&client)), &body(empty));
        comparable(&changed)
    });
    assert_eq!(answers[0], answers[1], "{path}");
    let settings = &answers[1].1["data"]["settings"];
    match path {
        "settings.config.headers" => assert_eq!(settings["config"]["headers"], json!({})),
        "settings.config.auth" => {
            assert_eq!(answers[1].1["errors"]["settings.config.auth.type"][0], "This field is required.");
        }
        "settings.probe_roles" => assert_eq!(settings["probe_roles"], json!({})),
        _ => assert_eq!(
            settings["config"]["headers"],
            json!({"X-Key": KEEP}),
            "nothing was sent, nothing changed"
        ),
    }
}

#[rstest]
#[case(|empty: Value| json!({"settings": {"interval_seconds": 3600, "config": empty}}), 201)]
#[case(|empty: Value| json!({"settings": {"interval_seconds": 3600, "config": {"headers": empty}, "probe_roles": empty}}), 201)]
#[case(|empty: Value| json!({"settings": empty}), 422)]
fn an_empty_list_equals_an_empty_object_in_a_new_service(
    #[case] fields: fn(Value) -> Value,
    #[case] status: u16,
) {
    let client = tenant();
    let answers = [json!({}), json!([])].map(|empty| {
        let mut body = json!({"name": "Shop", "check_type": "http", "target": "http://127.0.0.1:9/"});
        body["settings"] = fields(empty)["settings"].clone();
        comparable(&client.post("/v1/services", &body))
    });
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[1].0, status);
}

#[rstest]
#[case::block(|empty: Value| json!({"seo": empty}))]
#[case::texts(|empty: Value| json!({"seo": {"title": empty, "description": empty, "image_subtitle": empty}}))]
#[case::name(|empty: Value| json!({"name": empty}))]
fn an_empty_list_equals_an_empty_object_in_a_status_page(#[case] body: fn(Value) -> Value) {
    let client = tenant();
    let page = || create_page(&client, &json!({"seo": {"title": {"en": "Shop"}}}));
    let answers = [json!({}), json!([])]
        .map(|empty| comparable(&client.patch(&statuspage(&id_of(&page())), &body(empty))));
    assert_eq!(answers[0], answers[1]);
    if answers[1].0 == 200 {
        assert_eq!(answers[1].1["data"]["seo"]["title"], json!({}));
    } else {
        let text = "A text in the default language (en) is required.";
        assert_eq!(answers[1].1["errors"], json!({"name": [text]}));
    }
}

/// Translations of incidents and maintenances: the empty object is an error under the field itself.
#[rstest]
#[case("/v1/incidents", "title")]
#[case("/v1/incidents", "message")]
#[case("/v1/maintenances", "title")]
#[case("/v1/maintenances", "message")]
fn an_empty_list_equals_an_empty_object_in_a_translation(#[case] path: &str, #[case] field: &str) {
    let client = tenant();
    let answers = [json!({}), json!([])].map(|empty| {
        let mut body = json!({"title": "Slow", "message": "We look.", "scheduled_start": "2196-01-01"});
        body[field] = empty;
        comparable(&client.post(path, &body))
    });
    assert_eq!(answers[0], answers[1]);
    assert!(answers[1].0 == 422 && answers[1].1["errors"].get(field).is_some(), "{}", answers[1].1);
}

/// A body itself must be an object, and a list with entries is refused.
#[test]
fn other_lists_are_still_refused() {
    let client = tenant();
    client.send("POST", "/v1/tags", &["Content-Type: application/json"], b"[]").expect(400);
    let refused = client.patch(&service(&shop(&client)), &json!({"settings": [1]}));
    assert_eq!(refused.errors(), [("settings".to_owned(), "This value must be an object.".to_owned())]);
}
