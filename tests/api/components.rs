//! `/v1/statuspages/{id}/components` (contract 4.14.1, 4.14.2): create, read, list, change, delete, quota.
//!
//! The tree is in `component_tree`, synchronised groups in `synced_groups`, the visible status in `effective_status`.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::pages::{
    all, bilingual, component, components, create_component, id_of, keys, new_component, new_page, shown,
    statuspage, tenant,
};
use crate::support::server::Server;
use crate::support::{UNKNOWN_ID, create_unconfigured, service};

/// Contract 4.14.1: every default, the keys in the order of the example; nulls mean none.
#[rstest]
#[case(json!({"name": " Shop "}))]
#[case(json!({"name": "Shop", "description": null, "service_id": null, "parent_id": null, "sync_tag_id": null}))]
#[case(json!({"name": "Shop", "id": UNKNOWN_ID, "status": "major_outage", "effective_status": 7, "is_sync_managed": true}))]
fn a_component_is_created_with_its_defaults(#[case] body: Value) {
    let server = Server::shared();
    let client = server.client();
    let page = new_page(&client);
    let created = client.post(&components(&page), &body).expect(201);
    let made = created.data();
    let id = id_of(&made);
    let location = format!("{}{}", server.base(), component(&page, &id));
    assert_eq!(created.header("location"), Some(&*location));
    assert_eq!(created.header("content-language"), Some("en"));
    let expected = json!({"id": id, "name": "Shop", "name_translations": {"en": "Shop"}, "description": null,
        "description_translations": null, "status": "operational", "effective_status": "operational", "is_group": false,
        "is_visible": true, "display_order": 0, "parent_id": null, "service": null, "show_uptime_bars": true,
        "hide_operational_children": false, "default_open": true, "sync_tag_id": null, "sync_new_visible": true,
        "is_sync_managed": false});
    assert_eq!(made.to_string(), expected.to_string());
    assert_eq!(shown(&client, &page, &id), made);
    let whole = client.get(&statuspage(&page)).expect(200).data();
    assert_eq!((&whole["components"], &whole["components_count"]), (&json!([made]), &json!(1)));
}

/// Contract 4.14.1, 4.14.2: what is sent is read back.
#[rstest]
fn a_component_is_changed_by_put_and_patch(#[values("PUT", "PATCH")] method: &str) {
    let client = bilingual();
    let (page, shop) = (new_page(&client), create_unconfigured(&client));
    let group = new_component(&client, &page, &json!({"is_group": true}));
    let before = create_component(&client, &page, &json!({}));
    let path = component(&page, &id_of(&before));
    assert_eq!(client.json(method, &path, &json!({})).expect(200).data(), before);
    let sent = json!({"name": {"en": "Shop", "de": "Laden"}, "description": "Buy <b>here</b>", "service_id": shop,
        "parent_id": group, "is_visible": false, "show_uptime_bars": false, "hide_operational_children": true,
        "default_open": false, "sync_new_visible": false, "display_order": 10.0});
    let after = client.json(method, &path, &sent).expect(200).data();
    for (key, value) in [
        ("name_translations", json!({"de": "Laden", "en": "Shop"})),
        ("description", json!("Buy <b>here</b>")),
        ("description_translations", json!({"en": "Buy <b>here</b>"})),
        ("service", json!({"id": shop, "name": "Shop"})),
        ("parent_id", json!(group)),
        ("is_visible", json!(false)),
        ("effective_status", Value::Null),
        ("show_uptime_bars", json!(false)),
        ("hide_operational_children", json!(true)),
        ("default_open", json!(false)),
        ("sync_new_visible", json!(false)),
        ("display_order", json!(10)),
    ] {
        assert_eq!(after[key], value, "{key}");
    }
    assert_eq!(client.get(&path).expect(200).data(), after);
    let cleared = json!({"description": "", "service_id": null, "parent_id": null});
    let cleared = client.json(method, &path, &cleared).expect(200).data();
    for key in ["description", "description_translations", "service", "parent_id"] {
        assert_eq!(cleared[key], Value::Null, "{key}");
    }
    let german = client.send("GET", &path, &["Accept-Language: de"], b"").expect(200);
    assert_eq!((german.header("content-language"), &german.data()["name"]), (Some("de"), &json!("Laden")));
}

/// Contract 4.14.2: what a field refuses, under its own key.
#[rstest]
#[case("name", Value::Null, "name", "This field must not be null.")]
#[case("name", json!(""), "name", "Use at least 1 characters.")]
#[case("name", json!({"en": "a".repeat(256)}), "name.en", "Use at most 255 characters.")]
#[case("description", json!("a".repeat(501)), "description", "Use at most 500 characters.")]
#[case("description", json!({"fr": "x", "en": "x"}), "description.fr", "The organisation does not use the language fr.")]
#[case("description", json!(7), "description", "This value must be a string.")]
#[case("is_group", json!("yes"), "is_group", "This value must be true or false.")]
#[case("is_group", Value::Null, "is_group", "This field must not be null.")]
#[case("service_id", json!("short"), "service_id", "This is not a valid ID.")]
#[case("service_id", json!(7), "service_id", "This value must be a string.")]
#[case("service_id", json!(UNKNOWN_ID), "service_id", "No service with the ID AAAAAAAAAAAAAAAAAAAAA exists.")]
#[case("parent_id", json!("short"), "parent_id", "This is not a valid ID.")]
#[case("parent_id", json!(UNKNOWN_ID), "parent_id", "No component with the ID AAAAAAAAAAAAAAAAAAAAA exists.")]
#[case("is_visible", json!(1), "is_visible", "This value must be true or false.")]
#[case("show_uptime_bars", Value::Null, "show_uptime_bars", "This field must not be null.")]
#[case("hide_operational_children", json!("no"), "hide_operational_children", "This value must be true or false.")]
#[case("default_open", json!(0), "default_open", "This value must be true or false.")]
#[case("sync_new_visible", json!({}), "sync_new_visible", "This value must be true or false.")]
#[case("display_order", json!(-1), "display_order", "The smallest allowed value is 0.")]
#[case("display_order", json!(10_001), "display_order", "The largest allowed value is 10000.")]
#[case("display_order", json!(1.5), "display_order", "This value must be a whole number.")]
#[case("display_order", Value::Null, "display_order", "This field must not be null.")]
#[case("sync_tag_id", json!("short"), "sync_tag_id", "This is not a valid ID.")]
#[case("sync_tag_id", json!(UNKNOWN_ID), "sync_tag_id", "No tag with the ID AAAAAAAAAAAAAAAAAAAAA exists.")]
fn a_field_is_refused_under_its_own_key(
    #[case] field: &str,
    #[case] sent: Value,
    #[case] key: &str,
    #[case] text: &str,
) {
    let client = Server::shared_client();
    let page = new_page(&client);
    let expected = [(key.to_owned(), text.to_owned())];
    let mut body = json!({"name": "x"});
    body[field] = sent.clone();
    assert_eq!(client.post(&components(&page), &body).errors(), expected);
    let path = component(&page, &new_component(&client, &page, &json!({})));
    assert_eq!(client.patch(&path, &json!({ field: sent })).errors(), expected);
}

/// Contract 4.14.2, 5.3: a name is required, all errors are listed, in the order of the table.
#[test]
fn errors_are_in_the_order_of_the_table() {
    let client = Server::shared_client();
    let page = new_page(&client);
    let body = json!({"sync_tag_id": 1, "display_order": -1, "sync_new_visible": 1, "default_open": 1,
        "hide_operational_children": 1, "show_uptime_bars": 1, "is_visible": 1, "parent_id": 1, "service_id": 1,
        "is_group": 1, "description": 1, "name": 1});
    let expected = [
        "name",
        "description",
        "is_group",
        "service_id",
        "parent_id",
        "is_visible",
        "show_uptime_bars",
        "hide_operational_children",
        "default_open",
        "sync_new_visible",
        "display_order",
        "sync_tag_id",
    ];
    assert_eq!(keys(&client.post(&components(&page), &body)), expected);
    let service = create_unconfigured(&client);
    let nameless = client.post(&components(&page), &json!({ "service_id": service }));
    assert_eq!(nameless.errors(), [("name".to_owned(), "This field is required.".to_owned())]);
}

/// Contract 1.5: what another organisation has cannot be linked.
#[test]
fn a_foreign_service_or_tag_is_unknown() {
    let (client, other) = (Server::shared_client(), tenant());
    let page = new_page(&client);
    let foreign = create_unconfigured(&other);
    let tag = id_of(&other.post("/v1/tags", &json!({"key": "env"})).expect(201).data());
    let group = id_of(&create_component(&other, &new_page(&other), &json!({"is_group": true})));
    let body = json!({"name": "x", "service_id": foreign, "parent_id": group});
    let expected = [
        ("service_id".to_owned(), format!("No service with the ID {foreign} exists.")),
        ("parent_id".to_owned(), format!("No component with the ID {group} exists.")),
    ];
    assert_eq!(client.post(&components(&page), &body).errors(), expected);
    let refused =
        client.post(&components(&page), &json!({"name": "x", "is_group": true, "sync_tag_id": tag}));
    assert_eq!(refused.errors(), [("sync_tag_id".to_owned(), format!("No tag with the ID {tag} exists."))]);
}

/// Contract 4.14.2: one service may have several components; the name of the service is shown without `services.view`.
#[test]
fn a_service_may_have_several_components() {
    let server = Server::shared();
    let organisation = server.organisation("business");
    let client = server.member(&organisation, "all");
    let (page, shop) = (new_page(&client), create_unconfigured(&client));
    for _ in 0..2 {
        create_component(&client, &page, &json!({ "service_id": shop }));
    }
    let reader = server.member(&organisation, "statuspages.view");
    for shown in all(&reader, &page) {
        assert_eq!(shown["service"], json!({"id": shop, "name": "Shop"}));
    }
    client.patch(&service(&shop), &json!({"name": "Renamed"})).expect(200);
    assert_eq!(all(&reader, &page)[0]["service"]["name"], "Renamed");
    assert_eq!(all(&reader, &page)[0]["name"], "Shop", "a component that people linked keeps its name");
    client.delete(&service(&shop)).expect(200);
    let left: Vec<Value> = all(&reader, &page).iter().map(|shown| shown["service"].clone()).collect();
    assert_eq!(left, [Value::Null, Value::Null], "contract 4.3.9");
}

/// Contract 1.4: the list is a whole collection.
#[test]
fn the_list_is_a_whole_collection() {
    let server = Server::shared();
    let client = server.client();
    let page = new_page(&client);
    let path = components(&page);
    let empty = client.get(&path).expect(200).json();
    let link = format!("{}{path}?page=1", server.base());
    let expected = json!({"data": [], "links": {"first": link, "last": link, "prev": null, "next": null},
        "meta": {"current_page": 1, "per_page": 1, "total": 0, "last_page": 1, "from": null, "to": null,
            "path": format!("{}{path}", server.base())}});
    assert_eq!(empty.to_string(), expected.to_string());
    for _ in 0..17 {
        new_component(&client, &page, &json!({}));
    }
    let whole = client.get(&path).expect(200);
    assert_eq!(whole.header("vary"), Some("Accept-Language"));
    let whole = whole.json();
    assert_eq!(whole["data"].as_array().unwrap().len(), 17);
    assert_eq!((&whole["meta"]["per_page"], &whole["meta"]["last_page"]), (&json!(17), &json!(1)));
    let second = client.get(&format!("{path}?page=2")).expect(200).json();
    assert_eq!((second["data"].as_array().unwrap().len(), &second["meta"]["per_page"]), (2, &json!(15)));
    let cut = client.get(&format!("{path}?per_page=5&page=4")).expect(200).json();
    assert_eq!((cut["data"].as_array().unwrap().len(), &cut["meta"]["last_page"]), (2, &json!(4)));
}

/// Contract 1.3: a deleted component is gone.
#[test]
fn a_deleted_component_is_gone() {
    let client = Server::shared_client();
    let page = new_page(&client);
    let id = new_component(&client, &page, &json!({}));
    let gone = client.delete(&component(&page, &id)).expect(200);
    assert_eq!(gone.body, format!(r#"{{"data":{{"id":"{id}","deleted":true}}}}"#));
    client.delete(&component(&page, &id)).expect(404);
    client.get(&component(&page, &id)).expect(404);
}

/// Contract 3.3: 402 with `upsell`; groups count; the last slot is given once.
#[test]
fn the_plan_limits_components() {
    let server = Server::with("[plans.team]\ncomponents = 3\n", &[]);
    let client = server.tenant("team");
    let page = new_page(&client);
    new_component(&client, &page, &json!({"is_group": true}));
    new_component(&client, &page, &json!({}));
    let path = components(&page);
    let answers: Vec<_> = std::thread::scope(|scope| {
        let ask = || client.post(&path, &json!({"name": "x"}));
        let asking: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        asking.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let (made, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status == 201);
    assert_eq!(made.len(), 1);
    for answer in refused {
        let mut seen = answer.expect(402).json();
        seen.as_object_mut().unwrap().remove("request_id");
        let expected = json!({"message": "The plan allows 3 components per status page; 3 exist.",
            "upsell": {"reason": "limit", "key": "components"}, "limit": 3, "usage": 3});
        assert_eq!(seen.to_string(), expected.to_string());
    }
    client.post(&path, &json!({"name": ""})).expect(422);
    new_component(&client, &new_page(&client), &json!({}));
}
