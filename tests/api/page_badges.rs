//! Badges of status pages and components: as SVG, and as JSON for shields.io.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::pages::{create_page, fresh, get_at, host_of, id_of, new_component, visit};
use crate::support::server::Server;
use crate::support::{create, service};

/// A page with its id and its host.
fn page(client: &Client, fields: &Value) -> (String, String) {
    let mut body = json!({"slug": fresh("badges")});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let page = create_page(client, &body);
    (id_of(&page), host_of(&page))
}

/// A component whose service has this status.
fn component(client: &Client, page: &str, fields: &Value, status: &str) -> String {
    let till = create(client, &json!({"name": "Till", "check_type": "manual"}));
    let stated = json!({"status": status, "reason": "Seen"});
    client.post(&format!("{}/status-override", service(&till)), &stated).expect(200);
    let mut body = json!({ "service_id": till });
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    new_component(client, page, &body)
}

#[test]
fn a_badge_shows_the_status_of_the_page_and_can_be_used_anywhere() {
    let client = Server::shared_client();
    let (id, host) = page(&client, &json!({"name": "Corner shop"}));
    let path = "/badge/status.svg";
    let unknown = get_at(&client, &host, path).expect(200);
    assert!(unknown.body.contains("<title>Corner shop: Unknown</title>"), "{}", unknown.body);
    component(&client, &id, &json!({"name": "Till"}), "up");
    let badge = get_at(&client, &host, path).expect(200);
    assert!(
        badge.body.contains("role=\"img\"") && badge.body.contains("<title>Corner shop: Operational</title>")
    );
    for (name, value) in [
        ("content-type", "image/svg+xml"),
        ("access-control-allow-origin", "*"),
        ("cross-origin-resource-policy", "cross-origin"),
        ("cache-control", "public, max-age=60, stale-while-revalidate=600"),
        ("vary", "Accept-Encoding"),
    ] {
        assert_eq!(badge.header(name), Some(value), "{name}");
    }
    let tag = badge.header("etag").unwrap();
    assert!(tag.starts_with('"') && Some(tag) != unknown.header("etag"), "{tag}");
    visit(&client, "GET", &host, path, &[&format!("If-None-Match: {tag}")]).expect(304);
    component(&client, &id, &json!({"name": "Door"}), "down");
    let badge = get_at(&client, &host, path).expect(200);
    assert!(badge.body.contains("<title>Corner shop: Major outage</title>"), "{}", badge.body);
    assert_ne!(badge.header("etag"), Some(tag));
}

#[test]
fn a_component_has_a_badge_unless_it_is_hidden() {
    let client = Server::shared_client();
    let (id, host) = page(&client, &json!({}));
    let slow = component(&client, &id, &json!({"name": "Slow till"}), "degraded");
    let hidden = component(&client, &id, &json!({"name": "Cellar", "is_visible": false}), "up");
    let badge = get_at(&client, &host, &format!("/components/{slow}/badge/status.svg")).expect(200);
    assert!(badge.body.contains("<title>Slow till: Degraded</title>"), "{}", badge.body);
    let json = get_at(&client, &host, &format!("/components/{slow}/badge/status.shields.json")).expect(200);
    assert_eq!(json.header("content-type"), Some("application/json; charset=utf-8"));
    assert_eq!(json.header("access-control-allow-origin"), Some("*"));
    let expected = json!({"schemaVersion": 1, "label": "Slow till", "message": "Degraded",
        "color": "#855300", "labelColor": "#555", "isError": false, "cacheSeconds": 300});
    assert_eq!(json.json(), expected);
    for id in [hidden.as_str(), "none", &format!("{slow}%20")] {
        get_at(&client, &host, &format!("/components/{id}/badge/status.svg")).expect(404);
    }
}

/// A service that was never checked has no uptime; a component that shows no uptime bars has no badge of it.
#[test]
fn an_uptime_badge_tells_what_visitors_see() {
    let client = Server::shared_client();
    let (id, host) = page(&client, &json!({"name": "Uptimes"}));
    let till = component(&client, &id, &json!({"name": "Till"}), "up");
    let quiet = component(&client, &id, &json!({"name": "Quiet", "show_uptime_bars": false}), "up");
    for (path, title) in [
        ("/badge/uptime.svg?days=7".to_owned(), "Uptimes: No data"),
        (format!("/components/{till}/badge/uptime.svg"), "Till: No data"),
    ] {
        let badge = get_at(&client, &host, &path).expect(200);
        assert!(badge.body.contains(&format!("<title>{title}</title>")), "{}", badge.body);
    }
    let json = get_at(&client, &host, "/badge/uptime.shields.json").expect(200).json();
    assert_eq!((&json["message"], &json["color"]), (&json!("No data"), &json!("grey")));
    get_at(&client, &host, &format!("/components/{quiet}/badge/uptime.svg")).expect(404);
    for path in ["/badge/response.svg".to_owned(), format!("/components/{till}/badge/response.svg")] {
        get_at(&client, &host, &path).expect(404);
    }
}

/// The language is that of the path, else the page's default, whatever the browser prefers: the address of an image has
/// one content.
#[rstest]
#[case("/badge/status.svg", "Shop: Unknown")]
#[case("/de/badge/status.svg", "Laden: Unbekannt")]
#[case("/badge/status.svg?label=My+shop", "My shop: Unknown")]
#[case("/badge/status.svg?label=", "Unknown")]
fn a_badge_is_in_the_language_of_its_path(#[case] path: &str, #[case] title: &str) {
    let client = Server::shared().bilingual_tenant();
    let (_, host) = page(&client, &json!({"name": {"en": "Shop", "de": "Laden"}}));
    let badge = visit(&client, "GET", &host, path, &["Accept-Language: de"]).expect(200);
    assert!(badge.body.contains(&format!("<title>{title}</title>")), "{}", badge.body);
}

#[test]
fn hostile_names_and_labels_are_text_in_a_badge() {
    let client = Server::shared_client();
    let name = "</title><script>alert('1')</script>\"&\u{202e}";
    let (id, host) = page(&client, &json!({ "name": name }));
    let hostile = component(&client, &id, &json!({ "name": name }), "up");
    for path in [
        "/badge/status.svg".to_owned(),
        format!("/components/{hostile}/badge/status.svg"),
        "/badge/status.svg?label=%3C/title%3E%3Cscript%3Ealert('1')%3C/script%3E%22%26".to_owned(),
    ] {
        let badge = get_at(&client, &host, &path).expect(200).body;
        assert!(
            !badge.contains("<script") && badge.contains("&#60;script&#62;alert(&#39;1&#39;)"),
            "{badge}"
        );
        assert!(!badge.contains('\u{202e}'), "{badge}");
    }
}
