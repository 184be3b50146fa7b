//! Order and tree of components (contract 4.14.2, 4.14.3): siblings, nesting, moving, deleting.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::create_unconfigured;
use crate::support::pages::{
    all, component, components, create_component, id_of, new_component, new_page, shown, statuspage,
};
use crate::support::server::Server;

fn group(client: &Client, page: &str, parent: Option<&str>) -> String {
    new_component(client, page, &json!({"is_group": true, "parent_id": parent}))
}

fn error(key: &str, text: &str) -> [(String, String); 1] {
    [(key.to_owned(), text.to_owned())]
}

const NO_GROUP: &str = "The parent must be a group of the same status page.";
const CYCLE: &str = "A group cannot be moved into itself.";
const DEPTH: &str = "Groups can be nested at most 5 levels deep.";

/// Contract 4.14.3: flat, depth first, by `display_order`, then creation.
#[test]
fn components_are_listed_depth_first() {
    let client = Server::shared_client();
    let page = new_page(&client);
    let outer = group(&client, &page, None);
    let first = new_component(&client, &page, &json!({}));
    let inner = group(&client, &page, Some(&outer));
    let leaf = new_component(&client, &page, &json!({"parent_id": inner}));
    let beside = new_component(&client, &page, &json!({"parent_id": outer, "display_order": 0}));
    let last = new_component(&client, &page, &json!({}));
    let ids = || all(&client, &page).iter().map(id_of).collect::<Vec<_>>();
    assert_eq!(
        ids(),
        [&*outer, &*inner, &*leaf, &*beside, &*first, &*last],
        "equal orders stand by creation"
    );
    client.patch(&component(&page, &beside), &json!({"display_order": 0})).expect(200);
    client.patch(&component(&page, &inner), &json!({"display_order": 9})).expect(200);
    client.patch(&component(&page, &last), &json!({"display_order": 0})).expect(200);
    client.patch(&component(&page, &outer), &json!({"display_order": 1})).expect(200);
    assert_eq!(ids(), [&*last, &*outer, &*beside, &*inner, &*leaf, &*first]);
    let whole = client.get(&statuspage(&page)).expect(200).data();
    assert_eq!(whole["components"].as_array().unwrap().iter().map(id_of).collect::<Vec<_>>(), ids());
    assert_eq!(whole["components_count"], 6);
}

/// Contract 4.14.3: a new component comes after its siblings, at 10000 at the most.
#[test]
fn a_new_component_comes_after_its_siblings() {
    let client = Server::shared_client();
    let page = new_page(&client);
    let outer = group(&client, &page, None);
    let order = |fields: Value| create_component(&client, &page, &fields)["display_order"].clone();
    assert_eq!(order(json!({})), 1);
    assert_eq!(order(json!({"parent_id": outer})), 0);
    assert_eq!(order(json!({"parent_id": outer, "display_order": 41})), 41);
    assert_eq!(order(json!({"parent_id": outer})), 42);
    assert_eq!(order(json!({"display_order": 10_000})), 10_000);
    assert_eq!(order(json!({})), 10_000);
}

/// Contract 4.14.2: the parent is a group of the same page.
#[test]
fn a_parent_is_a_group_of_the_same_page() {
    let client = Server::shared_client();
    let (page, other) = (new_page(&client), new_page(&client));
    let plain = new_component(&client, &page, &json!({}));
    let foreign = group(&client, &other, None);
    for parent in [&plain, &foreign] {
        let body = json!({"name": "x", "parent_id": parent});
        assert_eq!(client.post(&components(&page), &body).errors(), error("parent_id", NO_GROUP));
    }
}

/// Contract 4.14.2: no group in itself, directly or below.
#[test]
fn a_group_is_not_moved_into_itself() {
    let client = Server::shared_client();
    let page = new_page(&client);
    let outer = group(&client, &page, None);
    let middle = group(&client, &page, Some(&outer));
    let inner = group(&client, &page, Some(&middle));
    for parent in [&outer, &middle, &inner] {
        let refused = client.patch(&component(&page, &outer), &json!({ "parent_id": parent }));
        assert_eq!(refused.errors(), error("parent_id", CYCLE));
    }
    client.patch(&component(&page, &inner), &json!({ "parent_id": outer })).expect(200);
    client.patch(&component(&page, &middle), &json!({ "parent_id": inner })).expect(200);
}

/// Contract 4.14.2: five groups in one another, however the sixth is made.
#[test]
fn groups_are_nested_at_most_five_deep() {
    let client = Server::shared_client();
    let page = new_page(&client);
    let mut groups = vec![group(&client, &page, None)];
    for _ in 1..5 {
        groups.push(group(&client, &page, groups.last().map(String::as_str)));
    }
    let leaf = new_component(&client, &page, &json!({"parent_id": groups[4]}));
    let sixth = json!({"name": "x", "is_group": true, "parent_id": groups[4]});
    assert_eq!(client.post(&components(&page), &sixth).errors(), error("parent_id", DEPTH));
    let becomes_group = client.patch(&component(&page, &leaf), &json!({"is_group": true}));
    assert_eq!(becomes_group.errors(), error("parent_id", DEPTH));
    let outside = group(&client, &page, None);
    let moved = client.patch(&component(&page, &groups[0]), &json!({ "parent_id": outside }));
    assert_eq!(moved.errors(), error("parent_id", DEPTH), "what lies below counts");
    client.patch(&component(&page, &groups[1]), &json!({ "parent_id": outside })).expect(200);
}

/// Contract 4.14.2: a group with children stays one.
#[test]
fn a_group_with_children_stays_a_group() {
    let client = Server::shared_client();
    let page = new_page(&client);
    let outer = group(&client, &page, None);
    let child = new_component(&client, &page, &json!({"parent_id": outer}));
    let text = "A group with components inside cannot become a component.";
    let refused = client.patch(&component(&page, &outer), &json!({"is_group": false}));
    assert_eq!(refused.errors(), error("is_group", text));
    client.delete(&component(&page, &child)).expect(200);
    let plain = client.patch(&component(&page, &outer), &json!({"is_group": false})).expect(200).data();
    assert_eq!(plain["is_group"], false);
    client.patch(&component(&page, &outer), &json!({"is_group": true})).expect(200);
}

/// Contract 4.14.2: a group has no service, whichever is said first.
#[rstest]
#[case(json!({"is_group": true}), json!({"service_id": "SERVICE"}))]
#[case(json!({"service_id": "SERVICE"}), json!({"is_group": true}))]
#[case(json!({}), json!({"is_group": true, "service_id": "SERVICE"}))]
fn a_group_has_no_service(#[case] first: Value, #[case] then: Value) {
    let client = Server::shared_client();
    let (page, shop) = (new_page(&client), create_unconfigured(&client));
    let filled =
        |body: Value| -> Value { serde_json::from_str(&body.to_string().replace("SERVICE", &shop)).unwrap() };
    let id = new_component(&client, &page, &filled(first));
    let refused = client.patch(&component(&page, &id), &filled(then));
    assert_eq!(refused.errors(), error("service_id", "A group cannot be linked to a service."));
    let regrouped = json!({"is_group": true, "service_id": null});
    assert_eq!(client.patch(&component(&page, &id), &regrouped).expect(200).data()["service"], Value::Null);
}

/// Contract 4.14.2: only a group follows a tag.
#[test]
fn only_a_group_follows_a_tag() {
    let client = Server::shared_client();
    let page = new_page(&client);
    let tag = client.post("/v1/tags/ensure", &json!({"key": "only-a-group"}));
    let tag = id_of(&tag.data());
    let refused = error("sync_tag_id", "Only a group can follow a tag.");
    assert_eq!(client.post(&components(&page), &json!({"name": "x", "sync_tag_id": tag})).errors(), refused);
    let id = new_component(&client, &page, &json!({"is_group": true, "sync_tag_id": tag}));
    assert_eq!(shown(&client, &page, &id)["sync_tag_id"], tag);
    assert_eq!(client.patch(&component(&page, &id), &json!({"is_group": false})).errors(), refused);
    let both = json!({"is_group": false, "sync_tag_id": null});
    client.patch(&component(&page, &id), &both).expect(200);
}

/// Contract 4.14.3: deleting a group deletes everything below it.
#[test]
fn deleting_a_group_deletes_its_descendants() {
    let client = Server::shared_client();
    let page = new_page(&client);
    let outer = group(&client, &page, None);
    let inner = group(&client, &page, Some(&outer));
    let leaf = new_component(&client, &page, &json!({"parent_id": inner}));
    let beside = new_component(&client, &page, &json!({}));
    client.delete(&component(&page, &outer)).expect(200);
    for id in [&outer, &inner, &leaf] {
        client.get(&component(&page, id)).expect(404);
    }
    assert_eq!(all(&client, &page).iter().map(id_of).collect::<Vec<_>>(), [beside]);
}
