//! Groups that follow a tag (contract 4.14.4).

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::pages::{
    all, component, components, create_component, fresh, id_of, keys, new_component, new_page, shown,
    statuspage, tenant,
};
use crate::support::server::Server;
use crate::support::{create, service};

/// Creates a tag with a name of its own; its id and name.
fn new_tag(client: &Client) -> (String, String) {
    let name = fresh("synced");
    (id_of(&client.post("/v1/tags", &json!({ "key": name })).expect(201).data()), name)
}

/// Creates a manual service that carries these tags.
fn tagged(client: &Client, name: &str, tags: &[&str]) -> String {
    create(client, &json!({"name": name, "check_type": "manual", "tags": tags}))
}

/// Names and services of the children of a group, in order.
fn inside(client: &Client, page: &str, group: &str) -> Vec<(String, Value)> {
    let children = all(client, page).into_iter().filter(|one| one["parent_id"] == group);
    children
        .map(|child| (child["name"].as_str().unwrap().to_owned(), child["service"]["id"].clone()))
        .collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, Value)> {
    expected.iter().map(|(name, service)| ((*name).to_owned(), json!(service))).collect()
}

const MANAGED: &str = "This component belongs to a synced group; change the tags of the service instead.";

/// Setting the tag makes one child per service, with the words of the group; services created later follow.
#[rstest]
fn a_group_is_filled_by_its_tag(#[values(true, false)] at_once: bool) {
    let client = Server::shared_client();
    let (page, (tag, name)) = (new_page(&client), new_tag(&client));
    let one = tagged(&client, "One", &[&name]);
    let two = tagged(&client, "Two", &[&name]);
    tagged(&client, "Other", &[]);
    let words = json!({"is_group": true, "sync_new_visible": false, "show_uptime_bars": false});
    let group = if at_once {
        let mut words = words;
        words["sync_tag_id"] = json!(tag);
        let made = create_component(&client, &page, &words);
        assert_eq!(made["sync_tag_id"], tag);
        id_of(&made)
    } else {
        let group = new_component(&client, &page, &words);
        let changed =
            client.patch(&component(&page, &group), &json!({ "sync_tag_id": tag })).expect(200).data();
        assert_eq!(changed["sync_tag_id"], tag);
        group
    };
    assert_eq!(inside(&client, &page, &group), pairs(&[("One", &one), ("Two", &two)]));
    let child = all(&client, &page).into_iter().find(|child| child["name"] == "Two").unwrap();
    for (key, value) in [
        ("name_translations", json!({"en": "Two"})),
        ("description", Value::Null),
        ("is_group", json!(false)),
        ("is_visible", json!(false)),
        ("show_uptime_bars", json!(false)),
        ("display_order", json!(1)),
        ("is_sync_managed", json!(true)),
        ("sync_tag_id", Value::Null),
        ("status", json!("operational")),
        ("effective_status", Value::Null),
    ] {
        assert_eq!(child[key], value, "{key}");
    }
    let three = tagged(&client, "Three", &[&name]);
    assert_eq!(inside(&client, &page, &group), pairs(&[("One", &one), ("Two", &two), ("Three", &three)]));
    assert_eq!(client.get(&statuspage(&page)).expect(200).data()["components_count"], 4);
}

/// A service gains and loses the tag; deleted services leave; groups on every page follow.
#[test]
fn children_follow_the_tag() {
    let client = Server::shared_client();
    let (first, second, (tag, name)) = (new_page(&client), new_page(&client), new_tag(&client));
    let synced = json!({"is_group": true, "sync_tag_id": tag});
    let groups = [
        (&first, new_component(&client, &first, &synced)),
        (&second, new_component(&client, &second, &synced)),
    ];
    let shop = tagged(&client, "Shop", &[]);
    let seen = |expected: &[(&str, &str)]| {
        for (page, group) in &groups {
            assert_eq!(inside(&client, page, group), pairs(expected));
        }
    };
    seen(&[]);
    client.patch(&service(&shop), &json!({ "tags": [tag, "something:else"] })).expect(200);
    seen(&[("Shop", &shop)]);
    client.patch(&service(&shop), &json!({ "tags": [name, "something:new"] })).expect(200);
    seen(&[("Shop", &shop)]);
    client.patch(&service(&shop), &json!({"tags": []})).expect(200);
    seen(&[]);
    client.patch(&service(&shop), &json!({ "tags": [tag] })).expect(200);
    let by_hand = new_component(&client, &first, &json!({"service_id": shop}));
    client.delete(&service(&shop)).expect(200);
    seen(&[]);
    assert_eq!(shown(&client, &first, &by_hand)["service"], Value::Null, "what people linked stays");
}

/// Another tag exchanges the children; a service with both keeps its child.
#[test]
fn a_changed_tag_replaces_the_children() {
    let client = Server::shared_client();
    let (page, (red, red_name), (blue, blue_name)) = (new_page(&client), new_tag(&client), new_tag(&client));
    tagged(&client, "Red", &[&red_name]);
    let both = tagged(&client, "Both", &[&red_name, &blue_name]);
    let only_blue = tagged(&client, "Blue", &[&blue_name]);
    let group = new_component(&client, &page, &json!({"is_group": true, "sync_tag_id": red}));
    let shared = all(&client, &page).into_iter().find(|child| child["name"] == "Both").unwrap();
    client.patch(&component(&page, &id_of(&shared)), &json!({"description": "Kept"})).expect(200);
    client.patch(&component(&page, &group), &json!({ "sync_tag_id": blue })).expect(200);
    assert_eq!(inside(&client, &page, &group), pairs(&[("Both", &both), ("Blue", &only_blue)]));
    assert_eq!(shown(&client, &page, &id_of(&shared))["description"], "Kept");
}

/// Without a tag the children are ordinary components.
#[test]
fn without_a_tag_children_are_ordinary() {
    let client = Server::shared_client();
    let (page, (tag, name)) = (new_page(&client), new_tag(&client));
    let shop = tagged(&client, "Shop", &[&name]);
    let group = new_component(&client, &page, &json!({"is_group": true, "sync_tag_id": tag}));
    let child = id_of(&all(&client, &page)[1]);
    let freed = client.patch(&component(&page, &group), &json!({"sync_tag_id": null})).expect(200).data();
    assert_eq!(freed["sync_tag_id"], Value::Null);
    assert_eq!(shown(&client, &page, &child)["is_sync_managed"], false);
    client.patch(&service(&shop), &json!({"tags": [], "name": "Renamed"})).expect(200);
    assert_eq!(inside(&client, &page, &group), pairs(&[("Shop", &shop)]), "nothing follows any more");
    client.patch(&component(&page, &child), &json!({"service_id": null})).expect(200);
    client.delete(&component(&page, &child)).expect(200);
}

/// With its tag again, a group readopts its released children: their ids and edited texts stay.
#[test]
fn a_group_readopts_its_released_children() {
    let client = Server::shared_client();
    let (page, (tag, name)) = (new_page(&client), new_tag(&client));
    let (one, two) = (tagged(&client, "One", &[&name]), tagged(&client, "Two", &[&name]));
    let group =
        component(&page, &new_component(&client, &page, &json!({"is_group": true, "sync_tag_id": tag})));
    let first = component(&page, &id_of(&all(&client, &page)[1]));
    client.patch(&first, &json!({"description": "Ours", "is_visible": false})).expect(200);
    let before = all(&client, &page);
    client.patch(&group, &json!({"sync_tag_id": null})).expect(200);
    client.patch(&service(&two), &json!({"name": "Second"})).expect(200);
    let three = tagged(&client, "Three", &[&name]);
    client.patch(&group, &json!({ "sync_tag_id": tag })).expect(200);
    let after = all(&client, &page);
    let ids = |rows: &[Value]| rows.iter().map(id_of).collect::<Vec<_>>();
    assert_eq!(ids(&after[..3]), ids(&before));
    assert_eq!(after[1], before[1]);
    let group_id = id_of(&after[0]);
    let expected: [(&str, &str); 3] = [("One", &one), ("Second", &two), ("Three", &three)];
    assert_eq!(inside(&client, &page, &group_id), pairs(&expected), "the names are those of today");
    client.patch(&service(&one), &json!({"tags": []})).expect(200);
    assert_eq!(inside(&client, &page, &group_id), pairs(&expected[1..]));
}

/// A manual child of a service with the tag becomes the managed one, instead of a second one.
#[test]
fn a_group_adopts_manual_children_of_the_same_service() {
    let client = Server::shared_client();
    let (page, (tag, name)) = (new_page(&client), new_tag(&client));
    let (shop, desk) = (tagged(&client, "Shop", &[&name]), tagged(&client, "Desk", &[&name]));
    let other = tagged(&client, "Other", &[]);
    let group = new_component(&client, &page, &json!({"is_group": true}));
    let by_hand = |name: &str, service: &str| {
        new_component(&client, &page, &json!({"name": name, "parent_id": group, "service_id": service}))
    };
    let (front, second) = (by_hand("Front", &shop), by_hand("Shop again", &shop));
    let (called, stranger) = (by_hand("Desk", &desk), by_hand("Other", &other));
    client.patch(&component(&page, &group), &json!({ "sync_tag_id": tag })).expect(200);
    let managed = |id: &str| shown(&client, &page, id)["is_sync_managed"] == true;
    assert!(managed(&front) && managed(&called), "the oldest of each service");
    assert!(!managed(&second) && !managed(&stranger));
    assert_eq!(all(&client, &page).len(), 5, "nothing was added");
    for (service_id, name) in [(&shop, "New shop"), (&desk, "New desk")] {
        client.patch(&service(service_id), &json!({ "name": name })).expect(200);
    }
    assert_eq!(shown(&client, &page, &front)["name"], "Front", "somebody named it");
    assert_eq!(shown(&client, &page, &called)["name"], "New desk", "an equal name is no name of its own");
    let refused = client.delete(&component(&page, &front));
    assert_eq!(refused.errors(), [("component".to_owned(), MANAGED.to_owned())]);
}

/// A child follows the name of its service until it is renamed.
#[test]
fn a_child_has_the_name_of_its_service_until_it_is_renamed() {
    let client = Server::shared_client();
    let (page, (tag, name)) = (new_page(&client), new_tag(&client));
    let shop = tagged(&client, "Shop", &[&name]);
    new_component(&client, &page, &json!({"is_group": true, "sync_tag_id": tag}));
    let child = component(&page, &id_of(&all(&client, &page)[1]));
    let called = || client.get(&child).expect(200).data()["name"].clone();
    let rename = |name: &str| client.patch(&service(&shop), &json!({ "name": name })).expect(200);
    rename("Second");
    assert_eq!(called(), "Second");
    client.patch(&child, &json!({"name": "Second", "description": "x"})).expect(200);
    rename("Third");
    assert_eq!(called(), "Third", "an equal name is no name of its own");
    client.patch(&child, &json!({"name": "Mine"})).expect(200);
    rename("Fourth");
    assert_eq!(called(), "Mine");
}

/// Changes of a managed child that are permitted and refused; equal values pass.
#[test]
fn a_managed_child_is_bound_to_its_service_and_group() {
    let client = Server::shared_client();
    let (page, (tag, name)) = (new_page(&client), new_tag(&client));
    let shop = tagged(&client, "Shop", &[&name]);
    let other = tagged(&client, "Other", &[]);
    let group = new_component(&client, &page, &json!({"is_group": true, "sync_tag_id": tag}));
    let other_group = new_component(&client, &page, &json!({"is_group": true}));
    let managed = all(&client, &page).into_iter().find(|child| child["is_sync_managed"] == true).unwrap();
    let path = component(&page, &id_of(&managed));
    for (key, value) in [
        ("service_id", json!(other)),
        ("service_id", Value::Null),
        ("parent_id", json!(other_group)),
        ("parent_id", Value::Null),
        ("is_group", json!(true)),
    ] {
        let refused = client.patch(&path, &json!({ key: value }));
        assert_eq!(refused.errors(), [(key.to_owned(), MANAGED.to_owned())], "{key} {value}");
    }
    assert_eq!(client.get(&path).expect(200).data(), managed);
    let equal = json!({"service_id": shop, "parent_id": group, "is_group": false, "sync_tag_id": null});
    assert_eq!(client.patch(&path, &equal).expect(200).data(), managed);
    let free = json!({"name": "Mine", "description": "x", "is_visible": false, "display_order": 7, "show_uptime_bars": false});
    let changed = client.patch(&path, &free).expect(200).data();
    for (key, value) in free.as_object().unwrap() {
        assert_eq!(changed[key], *value, "{key}");
    }
    let refused = client.delete(&path);
    assert_eq!(refused.errors(), [("component".to_owned(), MANAGED.to_owned())]);
    assert_eq!(keys(&client.patch(&component(&page, &group), &json!({"is_group": false}))), ["is_group"]);
    client.delete(&component(&page, &group)).expect(200);
    client.get(&path).expect(404);
}

/// Other children in the group are left alone.
#[test]
fn other_children_are_not_touched() {
    let client = Server::shared_client();
    let (page, (tag, name)) = (new_page(&client), new_tag(&client));
    let shop = tagged(&client, "Shop", &[]);
    let group = new_component(&client, &page, &json!({"is_group": true, "sync_tag_id": tag}));
    let own =
        new_component(&client, &page, &json!({"parent_id": group, "service_id": shop, "display_order": 5}));
    let before = shown(&client, &page, &own);
    client.patch(&service(&shop), &json!({ "tags": [name] })).expect(200);
    assert_eq!(inside(&client, &page, &group), pairs(&[("Shop", &shop), ("Shop", &shop)]));
    assert_eq!(all(&client, &page)[2]["display_order"], 6, "at the end");
    client.patch(&service(&shop), &json!({"tags": [], "name": "Renamed"})).expect(200);
    let mut after = shown(&client, &page, &own);
    after["service"]["name"] = json!("Shop");
    assert_eq!(after, before);
    client.delete(&component(&page, &own)).expect(200);
}

/// Contract 3.1: what the synchronisation makes is not counted.
#[test]
fn managed_children_do_not_count_for_the_quota() {
    let server = Server::with("[plans.team]\ncomponents = 2\n", &[]);
    let client = server.tenant("team");
    let (page, (tag, name)) = (new_page(&client), new_tag(&client));
    for _ in 0..3 {
        tagged(&client, "x", &[&name]);
    }
    new_component(&client, &page, &json!({"is_group": true, "sync_tag_id": tag}));
    assert_eq!(all(&client, &page).len(), 4);
    new_component(&client, &page, &json!({}));
    client.post(&components(&page), &json!({"name": "x"})).expect(402);
}

/// Contract 4.4: a tag that fills a group is in use.
#[test]
fn a_tag_that_fills_a_group_cannot_be_deleted() {
    let client = Server::shared_client();
    let (page, (tag, _)) = (new_page(&client), new_tag(&client));
    let group = new_component(&client, &page, &json!({"is_group": true, "sync_tag_id": tag}));
    assert_eq!(keys(&client.delete(&format!("/v1/tags/{tag}"))), ["tag"]);
    client.patch(&component(&page, &group), &json!({"sync_tag_id": null})).expect(200);
    client.delete(&format!("/v1/tags/{tag}")).expect(200);
}

/// A group and many services at the same moment: no service is missed.
#[test]
fn no_service_is_missed_when_group_and_services_are_created_together() {
    let client = tenant();
    let (page, (tag, name)) = (new_page(&client), new_tag(&client));
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| tagged(&client, "x", &[&name]));
        }
        scope.spawn(|| new_component(&client, &page, &json!({"is_group": true, "sync_tag_id": tag})));
    });
    let managed = all(&client, &page).into_iter().filter(|one| one["is_sync_managed"] == true);
    let mut orders: Vec<i64> = managed.map(|child| child["display_order"].as_i64().unwrap()).collect();
    orders.sort_unstable();
    assert_eq!(orders, [0, 1, 2, 3, 4, 5]);
}
