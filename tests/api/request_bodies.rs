//! The described request bodies agree with the server: a body that fits the schema is accepted, and one that is refused violates
//! it.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::conformance::Document;
use crate::support::pages::{new_page, statuspage, tenant};
use crate::support::{create, service};

/// The document and the server on one body: accepted or refused, both alike.
#[track_caller]
fn agree(client: &Client, method: &str, path: &str, body: &Value, is_accepted: bool) {
    let document = Document::new(client.get("/openapi.json").expect(200).json());
    let described = document.check_request(method, path, body);
    let answer = client.send(method, path, &["Content-Type: application/json"], body.to_string().as_bytes());
    let told = format!("{body}\nthe document: {described:?}\nthe server: {} {}", answer.status, answer.body);
    assert!(is_accepted == (answer.status < 300) && (is_accepted || answer.status == 422), "{told}");
    assert_eq!(described.is_ok(), is_accepted, "{told}");
}

/// Contract 4.13.1 and 4.13.2; 1.2 on null, on the empty list, and on empty strings.
#[rstest]
#[case(json!({"seo": {"title": {"en": "Shop"}, "indexable": false}}), true)]
#[case(json!({"seo": {"title": null}}), true)]
#[case(json!({"seo": {"description": null}}), true)]
#[case(json!({"seo": {"image_subtitle": null}}), true)]
#[case(json!({"seo": {"title": {}, "description": {}, "image_subtitle": {}}}), true)]
#[case(json!({"seo": {"title": [], "description": [], "image_subtitle": []}}), true)]
#[case(json!({"seo": {"title": ["Shop"]}}), false)]
#[case(json!({"seo": {"title": "Shop"}}), false)]
#[case(json!({"seo": {"indexable": null}}), false)]
#[case(json!({"seo": {"titel": {}}}), false)]
#[case(json!({"seo": {}}), true)]
#[case(json!({"seo": []}), true)]
#[case(json!({"seo": [{}]}), false)]
#[case(json!({"seo": null}), false)]
#[case(json!({"primary_color": "#2563eb", "secondary_color": null}), true)]
#[case(json!({"primary_color": "", "secondary_color": ""}), true)]
#[case(json!({"primary_color": "2563eb"}), false)]
#[case(json!({"password": "long enough"}), true)]
#[case(json!({"password": ""}), true)]
#[case(json!({"password": null}), true)]
#[case(json!({"password": "short"}), false)]
#[case(json!({"custom_css": "", "imprint_url": "", "default_locale": ""}), true)]
#[case(json!({"name": {}}), false)]
#[case(json!({"name": []}), false)]
fn a_status_page_body_is_accepted_as_described(#[case] body: Value, #[case] is_accepted: bool) {
    let client = tenant();
    agree(&client, "PATCH", &statuspage(&new_page(&client)), &body, is_accepted);
}

/// Contract 4.3.4, 4.2.2, 4.2.3; 1.2 on null and on the empty list.
#[rstest]
#[case(json!({}), true)]
#[case(json!([]), true)]
#[case(json!(null), true)]
#[case(json!([1]), false)]
#[case(json!({"probe_roles": {"local": "full"}}), true)]
#[case(json!({"probe_roles": []}), true)]
#[case(json!({"probe_roles": null}), true)]
#[case(json!({"probe_roles": ["local"]}), false)]
#[case(json!({"assigned_probes": []}), false)]
#[case(json!({"config": {}}), true)]
#[case(json!({"config": []}), true)]
#[case(json!({"config": null}), true)]
#[case(json!({"config": [{}]}), false)]
#[case(json!({"config": {"headers": {"X-Key": "secret", "Host": "shop.example.com"}}}), true)]
#[case(json!({"config": {"headers": []}}), true)]
#[case(json!({"config": {"headers": null}}), true)]
#[case(json!({"config": {"headers": ["X-Key: secret"]}}), false)]
#[case(json!({"config": {"headers": {"X-Key": "two\r\nlines"}}}), false)]
#[case(json!({"config": {"headers": {"two words": "x"}}}), false)]
#[case(json!({"config": {"headers": {"": "x"}}}), false)]
#[case(json!({"config": {"headers": {"Connection": "x"}}}), false)]
#[case(json!({"config": {"headers": {"Content-Length": "x"}}}), false)]
#[case(json!({"config": {"headers": {"HTTP2-Settings": "x"}}}), false)]
#[case(json!({"config": {"headers": {"Keep-Alive": "x"}}}), false)]
#[case(json!({"config": {"headers": {"TE": "x"}}}), false)]
#[case(json!({"config": {"headers": {"Trailer": "x"}}}), false)]
#[case(json!({"config": {"headers": {"trailer": "x"}}}), false)]
#[case(json!({"config": {"headers": {"Transfer-Encoding": "x"}}}), false)]
#[case(json!({"config": {"headers": {"Upgrade": "x"}}}), false)]
#[case(json!({"config": {"headers": {"proxy-Authorization": "x"}}}), false)]
#[case(json!({"config": {"headers": {"Trailers": "x", "X-TE": "x", "Proxy": "x"}}}), true)]
#[case(json!({"config": {"headers": many_headers(50)}}), true)]
#[case(json!({"config": {"headers": many_headers(51)}}), false)]
#[case(json!({"config": {"auth": {"type": "api_key", "header": "X-Key", "value": "secret"}}}), true)]
#[case(json!({"config": {"auth": {"type": "api_key", "header": "Trailer", "value": "secret"}}}), false)]
#[case(json!({"config": {"auth": {"type": "api_key", "header": "host", "value": "secret"}}}), false)]
#[case(json!({"config": {"auth": null}}), true)]
#[case(json!({"config": {"auth": []}}), false)]
fn service_settings_are_accepted_as_described(#[case] settings: Value, #[case] is_accepted: bool) {
    let client = tenant();
    let path = service(&create(
        &client,
        &json!({
            "name": "Shop", "check_type": "http", "target": "http://127.0.0.1:9/",
            "settings": {"interval_seconds": 3600},
        }),
    ));
    agree(&client, "PATCH", &path, &json!({"settings": settings}), is_accepted);
}

/// On create the interval is required, so nothing empty will do (contract 4.3.4).
#[rstest]
#[case(json!({"interval_seconds": 3600, "probe_roles": [], "config": {"headers": []}}), true)]
#[case(json!({"interval_seconds": 3600, "config": []}), true)]
#[case(json!(null), true)]
#[case(json!({}), false)]
#[case(json!([]), false)]
fn new_service_settings_are_accepted_as_described(#[case] settings: Value, #[case] is_accepted: bool) {
    let client = tenant();
    let body = json!({
        "name": "Shop", "check_type": "http", "target": "http://127.0.0.1:9/", "settings": settings,
    });
    agree(&client, "POST", "/v1/services", &body, is_accepted);
}

fn many_headers(count: usize) -> Value {
    (0..count)
        .map(|number| (format!("X-{number}"), Value::from("x")))
        .collect::<serde_json::Map<_, _>>()
        .into()
}
