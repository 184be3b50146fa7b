//! `/v1/incident-policies`: the rules by which outages become incidents, and their order.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::UNKNOWN_ID;
use crate::support::client::Client;
use crate::support::server::Server;

const PATH: &str = "/v1/incident-policies";
const KEYS: &str = "id position name tag_id tag_label open_after_seconds resolve_after_seconds down_severity \
    degraded_severity unstable_severity publish group_by group_by_tag_keys group_window_seconds created_at updated_at";

fn create_policy(client: &Client, body: &Value) -> Value {
    client.post(PATH, body).expect(201).data()
}

fn create_tag(client: &Client, key: &str) -> String {
    client.post("/v1/tags", &json!({"key": key})).expect(201).data()["id"].as_str().unwrap().to_owned()
}

fn item(policy: &Value) -> String {
    format!("{PATH}/{}", policy["id"].as_str().unwrap())
}

/// Names in the order of the list, with their places.
fn order(client: &Client) -> Vec<(String, i64)> {
    let rows = client.get(PATH).expect(200).data();
    let named = |row: &Value| (row["name"].as_str().unwrap().to_owned(), row["position"].as_i64().unwrap());
    rows.as_array().unwrap().iter().map(named).collect()
}

fn named(expected: &[&str]) -> Vec<(String, i64)> {
    (1..).zip(expected).map(|(place, name)| ((*name).to_owned(), place)).collect()
}

/// An organisation has one policy from the start: what is down or unstable becomes an internal incident.
#[test]
fn a_default_policy_exists_from_the_start() {
    let client = Server::shared().tenant("business");
    let rows = client.get(PATH).expect(200).data();
    assert_eq!(rows.as_array().unwrap().len(), 1);
    let keys: Vec<&String> = rows[0].as_object().unwrap().keys().collect();
    assert_eq!(keys, KEYS.split_whitespace().collect::<Vec<_>>());
    for (key, value) in [
        ("name", json!("Default")),
        ("tag_id", Value::Null),
        ("open_after_seconds", json!(0)),
        ("resolve_after_seconds", json!(60)),
        ("down_severity", json!("major")),
        ("degraded_severity", Value::Null),
        ("unstable_severity", json!("minor")),
        ("publish", json!(false)),
        ("group_by", json!("parent")),
        ("group_by_tag_keys", json!([])),
    ] {
        assert_eq!(rows[0][key], value, "{key}");
    }
    assert_eq!(client.get(&item(&rows[0])).expect(200).data(), rows[0]);
}

/// A new policy is first; positions are 1, 2, 3 … after every addition, move and deletion.
#[test]
fn policies_have_an_order() {
    let client = Server::shared().tenant("business");
    let a = create_policy(&client, &json!({"name": "a"}));
    let b = create_policy(&client, &json!({"name": "b", "position": 2}));
    create_policy(&client, &json!({"name": "c", "position": 4}));
    assert_eq!(order(&client), named(&["a", "b", "Default", "c"]));
    client.patch(&item(&a), &json!({"position": 3})).expect(200);
    assert_eq!(order(&client), named(&["b", "Default", "a", "c"]));
    client.patch(&item(&a), &json!({"position": 1})).expect(200);
    assert_eq!(order(&client), named(&["a", "b", "Default", "c"]));
    client.delete(&item(&b)).expect(200);
    assert_eq!(order(&client), named(&["a", "Default", "c"]));
    client.delete(&item(&b)).expect(404);
}

/// Everything that is sent is read back; what is not sent stays; null clears what may be cleared.
#[test]
fn a_policy_is_changed_field_by_field() {
    let client = Server::shared().tenant("business");
    let tag = create_tag(&client, "shop");
    let body = json!({"name": " Shop ", "tag_id": tag, "open_after_seconds": 30, "resolve_after_seconds": null,
        "down_severity": "critical", "degraded_severity": "minor", "unstable_severity": null, "publish": true,
        "group_by": "none", "group_by_tag_keys": ["team", "rack"], "group_window_seconds": 0, "nonsense": 1});
    let created = client.post(PATH, &body).expect(201);
    let made = created.data();
    assert_eq!((&made["name"], &made["tag_label"]), (&json!("Shop"), &json!("shop")));
    for (key, value) in
        body.as_object().unwrap().iter().filter(|(key, _)| !["name", "nonsense"].contains(&key.as_str()))
    {
        assert_eq!(made[key], *value, "{key}");
    }
    let path = item(&made);
    assert!(created.header("location").unwrap().ends_with(&path));
    assert_eq!(client.patch(&path, &json!({})).expect(200).data(), made);
    let changed =
        client.patch(&path, &json!({"tag_id": null, "resolve_after_seconds": 5})).expect(200).data();
    assert_eq!((&changed["tag_id"], &changed["tag_label"]), (&Value::Null, &Value::Null));
    assert_eq!((&changed["resolve_after_seconds"], &changed["publish"]), (&json!(5), &json!(true)));
    assert_eq!(client.get(&path).expect(200).data(), changed);
}

#[rstest]
#[case(json!({}), "name", "This field is required.")]
#[case(json!({"name": " "}), "name", "Use at least 1 characters.")]
#[case(json!({"name": "x".repeat(256)}), "name", "Use at most 255 characters.")]
#[case(json!({"name": "x", "position": 0}), "position", "The smallest allowed value is 1.")]
#[case(json!({"name": "x", "position": 3}), "position", "The largest allowed value is 2.")]
#[case(json!({"name": "x", "tag_id": "x"}), "tag_id", "This is not a valid ID.")]
#[case(json!({"name": "x", "tag_id": UNKNOWN_ID}), "tag_id", "No tag with the ID AAAAAAAAAAAAAAAAAAAAA exists.")]
#[case(json!({"name": "x", "open_after_seconds": -1}), "open_after_seconds", "The smallest allowed value is 0.")]
#[case(json!({"name": "x", "open_after_seconds": null}), "open_after_seconds", "This field must not be null.")]
#[case(json!({"name": "x", "resolve_after_seconds": 86_401}), "resolve_after_seconds", "The largest allowed value is 86400.")]
#[case(json!({"name": "x", "down_severity": "bad"}), "down_severity", "Unknown value. Allowed: minor, major, critical.")]
#[case(json!({"name": "x", "publish": 1}), "publish", "This value must be true or false.")]
#[case(json!({"name": "x", "group_by": "all"}), "group_by", "Unknown value. Allowed: none, parent, tags, parent_or_tags.")]
#[case(json!({"name": "x", "group_by_tag_keys": null}), "group_by_tag_keys", "This field must not be null.")]
#[case(json!({"name": "x", "group_by_tag_keys": "team"}), "group_by_tag_keys", "This value must be a list.")]
#[case(json!({"name": "x", "group_by_tag_keys": ["a", "b", "c", "d", "e", "f"]}), "group_by_tag_keys", "Send at most 5 entries.")]
#[case(json!({"name": "x", "group_by_tag_keys": ["team", "rack", "-"]}), "group_by_tag_keys.2", "Use 1 to 50 letters, digits, \"_\", \".\" or \"-\"; the first and the last must be a letter or digit.")]
#[case(json!({"name": "x", "group_by_tag_keys": ["team", 1]}), "group_by_tag_keys.1", "This value must be a string.")]
#[case(json!({"name": "x", "group_by_tag_keys": [" "]}), "group_by_tag_keys.0", "Use at least 1 characters.")]
#[case(json!({"name": "x", "group_window_seconds": 3_601}), "group_window_seconds", "The largest allowed value is 3600.")]
fn a_wrong_field_is_named(#[case] body: Value, #[case] field: &str, #[case] message: &str) {
    let client = Server::shared().tenant("business");
    let refused = client.post(PATH, &body).expect(422).json();
    assert_eq!(refused["errors"], json!({field: [message]}));
    assert_eq!(order(&client), named(&["Default"]), "nothing is stored");
}

/// The policy as it was, what is sent, and what it groups by after that.
#[rstest]
#[case::former_word(json!({}), json!({"group_by": "tag"}), "tags", &[])]
#[case::other_former_word(json!({}), json!({"group_by": "tag_or_parent"}), "parent_or_tags", &[])]
#[case::keys_alone_add_tags_to_parent(json!({}), json!({"group_by_tag_keys": ["team"]}), "parent_or_tags", &["team"])]
#[case::keys_alone_add_tags_to_none(json!({"group_by": "none"}), json!({"group_by_tag_keys": ["team"]}), "tags", &["team"])]
#[case::keys_are_folded(json!({"group_by": "tags"}), json!({"group_by_tag_keys": ["Team", " rack ", "TEAM"]}), "tags", &["team", "rack"])]
#[case::no_keys_add_nothing(json!({"group_by": "none"}), json!({"group_by_tag_keys": []}), "none", &[])]
#[case::both_are_taken_as_they_are(json!({}), json!({"group_by": "none", "group_by_tag_keys": ["team"]}), "none", &["team"])]
#[case::keys_stay(json!({"group_by_tag_keys": ["team"]}), json!({"group_by": "tags"}), "tags", &["team"])]
fn incidents_are_grouped_by_the_named_tag_keys(
    #[case] stored: Value,
    #[case] sent: Value,
    #[case] group_by: &str,
    #[case] keys: &[&str],
) {
    let client = Server::shared().tenant("business");
    let mut body = json!({"name": "x"});
    body.as_object_mut().unwrap().extend(stored.as_object().unwrap().clone());
    let path = item(&create_policy(&client, &body));
    client.patch(&path, &sent).expect(200);
    let policy = client.get(&path).expect(200).data();
    assert_eq!((&policy["group_by"], &policy["group_by_tag_keys"]), (&json!(group_by), &json!(keys)));
}

/// Every wrong key is named, each at its place.
#[test]
fn all_wrong_keys_are_named_at_once() {
    let client = Server::shared().tenant("business");
    let body = json!({"name": "x", "group_by": "all", "group_by_tag_keys": ["-", "team", null]});
    let refused = client.post(PATH, &body).expect(422).json();
    let fields: Vec<&String> = refused["errors"].as_object().unwrap().keys().collect();
    assert_eq!(fields, ["group_by", "group_by_tag_keys.0", "group_by_tag_keys.2"]);
}

/// Specification 4.3: a tag that a policy uses cannot be deleted, and the answer names the policy.
#[test]
fn a_tag_used_by_a_policy_cannot_be_deleted() {
    let client = Server::shared().tenant("business");
    let tag = create_tag(&client, "shop");
    let policy = create_policy(&client, &json!({"name": "Shop team", "tag_id": tag}));
    let refused = client.delete(&format!("/v1/tags/{tag}")).expect(422).json();
    let message = "This tag is still in use: incident policy Shop team.";
    assert_eq!(refused["errors"], json!({"tag": [message]}));
    client.delete(&item(&policy)).expect(200);
    client.delete(&format!("/v1/tags/{tag}")).expect(200);
}

/// Contract 1.5: policies and tags of another organisation are not found.
#[test]
fn foreign_policies_and_tags_are_not_found() {
    let server = Server::shared();
    let (ours, theirs) = (server.tenant("business"), server.tenant("business"));
    let foreign = create_policy(&theirs, &json!({"name": "theirs"}));
    for path in [item(&foreign), format!("{PATH}/{UNKNOWN_ID}")] {
        ours.get(&path).expect(404);
        ours.patch(&path, &json!({"name": "ours"})).expect(404);
        ours.delete(&path).expect(404);
    }
    let tag = create_tag(&theirs, "theirs");
    let refused = ours.post(PATH, &json!({"name": "x", "tag_id": tag})).expect(422).json();
    assert_eq!(refused["errors"], json!({"tag_id": [format!("No tag with the ID {tag} exists.")]}));
}

/// An organisation has at most 100.
#[test]
fn the_number_of_policies_is_limited() {
    let client = Server::shared().tenant("business");
    for number in 2..=100 {
        create_policy(&client, &json!({"name": format!("policy {number}")}));
    }
    let refused = client.post(PATH, &json!({"name": "one more"})).expect(422).json();
    assert_eq!(refused["errors"], json!({"position": ["Send at most 100 entries."]}));
}
