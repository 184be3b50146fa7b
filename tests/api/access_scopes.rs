//! `/v1/access-scopes`: what works, then what is refused.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::UNKNOWN_ID;
use crate::support::client::Client;
use crate::support::server::Server;

const PATH: &str = "/v1/access-scopes";

/// Makes a tag, and gives its id.
fn tag(client: &Client, key: &str) -> String {
    text(&client.post("/v1/tags", &json!({"key": key})).expect(201).data()["id"])
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn item(scope: &Value) -> String {
    format!("{PATH}/{}", text(&scope["id"]))
}

fn labels(scope: &Value) -> Vec<&str> {
    scope["tags"].as_array().unwrap().iter().map(|tag| tag["label"].as_str().unwrap()).collect()
}

/// A client of a new organisation with the tags `shop` and `bank`, and its id.
fn with_tags(server: &Server) -> (Client, String) {
    let organisation = server.organisation("business");
    let client = server.member(&organisation, "all");
    tag(&client, "shop");
    tag(&client, "bank");
    (client, organisation)
}

#[test]
fn a_scope_is_created_shown_listed_changed_and_deleted() {
    let server = Server::shared();
    let (client, _) = with_tags(&server);
    let id = tag(&client, "third");
    let body = json!({"name": " Shop team ", "tags": ["shop", id, "SHOP"]});
    let made = client.post(PATH, &body).expect(201);
    let address = text(&json!(made.header("location")));
    let made = made.data();
    assert!(address.ends_with(&item(&made)));
    assert_eq!((&made["name"], labels(&made)), (&json!("Shop team"), vec!["shop", "third"]));
    assert_eq!((&made["tokens_count"], &made["created_at"]), (&json!(0), &made["updated_at"]));
    assert_eq!(client.get(&item(&made)).expect(200).data(), made);
    let list = client.get(PATH).expect(200).json();
    assert_eq!((&list["data"], &list["meta"]["total"]), (&json!([made]), &json!(1)));

    let renamed = client.patch(&item(&made), &json!({"name": "SHOP TEAM"})).expect(200).data();
    assert_eq!((&renamed["name"], labels(&renamed)), (&json!("SHOP TEAM"), vec!["shop", "third"]));
    let changed = client.patch(&item(&made), &json!({"tags": ["bank"]})).expect(200).data();
    assert_eq!(labels(&changed), ["bank"]);
    assert_ne!(changed["updated_at"], made["updated_at"]);
    let same = client.patch(&item(&made), &json!({"tags": ["bank"], "name": "SHOP TEAM"})).expect(200);
    assert_eq!(same.data(), changed, "nothing has changed");

    client.delete(&item(&made)).expect(200);
    client.get(&item(&made)).expect(404);
    assert_eq!(client.get(PATH).expect(200).json()["meta"]["total"], 0);
}

/// Of a body: the first texts of the fields that are refused.
#[rstest]
#[case(json!({}), &["name: This field is required.", "tags: This field is required."])]
#[case(json!({"name": null, "tags": null}), &["name: This field must not be null.", "tags: This field must not be null."])]
#[case(json!({"name": " ", "tags": []}), &["name: Use at least 1 characters.", "tags: Send at least 1 entries."])]
#[case(json!({"name": "n".repeat(256), "tags": "shop"}), &["name: Use at most 255 characters.", "tags: This value must be a list."])]
#[case(json!({"name": "n", "tags": ["shop", "none", 7]}), &[
    "tags.1: No tag with the ID or name none exists.", "tags.2: This value must be a string."
])]
#[case(json!({"name": "n", "tags": vec!["shop"; 51]}), &["tags: Send at most 50 entries."])]
fn an_invalid_scope_is_refused(#[case] body: Value, #[case] expected: &[&str]) {
    let server = Server::shared();
    let (client, _) = with_tags(&server);
    let errors = client.post(PATH, &body).errors();
    assert_eq!(errors.iter().map(|(path, text)| format!("{path}: {text}")).collect::<Vec<_>>(), expected);
    assert_eq!(client.get(PATH).expect(200).json()["meta"]["total"], 0);
    assert_eq!(client.get("/v1/tags").expect(200).json()["meta"]["total"], 2, "no tag is made on the way");
}

/// Names are unique in an organisation, in whatever case.
#[test]
fn a_scope_name_is_unique() {
    let server = Server::shared();
    let (client, _) = with_tags(&server);
    let (other, _) = with_tags(&server);
    let body = |name: &str| json!({"name": name, "tags": ["shop"]});
    client.post(PATH, &body("Ärzte")).expect(201);
    let second = client.post(PATH, &body("Zweite")).expect(201).data();
    let taken = [("name".to_owned(), "An access scope with this name exists already.".to_owned())];
    assert_eq!(client.post(PATH, &body("äRZTE")).errors(), taken);
    assert_eq!(client.patch(&item(&second), &json!({"name": "ÄRZTE"})).errors(), taken);
    other.post(PATH, &body("Ärzte")).expect(201);
}

#[test]
fn a_tag_of_another_organisation_does_not_exist() {
    let server = Server::shared();
    let (client, _) = with_tags(&server);
    let (other, _) = with_tags(&server);
    let foreign = tag(&other, "foreign");
    let ask = |id: &str| client.post(PATH, &json!({"name": "n", "tags": [id]})).without_request_id();
    let (status, told) = ask(&foreign);
    assert_eq!((status, told.replace(&foreign, UNKNOWN_ID)), ask(UNKNOWN_ID));
}

/// Specification 4.3: a tag in use stays.
#[test]
fn a_tag_used_by_a_scope_cannot_be_deleted() {
    let server = Server::shared();
    let (client, _) = with_tags(&server);
    let id = tag(&client, "third");
    let scope = client.post(PATH, &json!({"name": "Shop team", "tags": ["third"]})).expect(201).data();
    let errors = client.delete(&format!("/v1/tags/{id}")).errors();
    assert_eq!(errors, [("tag".to_owned(), "This tag is still in use: access scope Shop team.".to_owned())]);
    client.patch(&item(&scope), &json!({"tags": ["shop"]})).expect(200);
    client.delete(&format!("/v1/tags/{id}")).expect(200);
}

/// A token never becomes unconfined by accident: its scope stays as long as it does.
#[test]
fn a_scope_with_tokens_cannot_be_deleted() {
    let server = Server::shared();
    let (client, organisation) = with_tags(&server);
    let scope = client.post(PATH, &json!({"name": "Shop team", "tags": ["shop"]})).expect(201).data();
    let create = ["token", "create", "--org", &organisation, "--name", "Shop bot", "--scope", "shop TEAM"];
    let token = server.command_json(&create);
    assert_eq!(token["access_scope"], json!({"id": scope["id"], "name": "Shop team"}));
    assert_eq!(client.get(&item(&scope)).expect(200).data()["tokens_count"], 1);
    let errors = client.delete(&item(&scope)).errors();
    let text_of = "Tokens are confined to this access scope: Shop bot.".to_owned();
    assert_eq!(errors, [("access_scope".to_owned(), text_of)]);
    let list = server.command_json(&["token", "list"]);
    let listed = list.as_array().unwrap().iter().find(|listed| listed["id"] == token["id"]).unwrap();
    assert_eq!(listed["access_scope"]["name"], "Shop team");
    server.command_json(&["token", "revoke", &text(&token["id"])]);
    client.delete(&item(&scope)).expect(200);
}

#[test]
fn a_token_is_confined_only_to_a_scope_of_its_organisation() {
    let server = Server::shared();
    let (client, _) = with_tags(&server);
    let scope = client.post(PATH, &json!({"name": "Only here", "tags": ["shop"]})).expect(201).data();
    let other = server.organisation("business");
    for named in ["Only here", &text(&scope["id"])] {
        let create = ["token", "create", "--org", &other, "--name", "Bot", "--scope", named];
        let refused = server.command(&create);
        let told = String::from_utf8(refused.stderr).unwrap();
        assert!(!refused.status.success() && told.contains("there is no access scope"), "{told}");
    }
}

/// Contract 1.5: a foreign scope answers byte for byte like an unknown one.
#[test]
fn a_foreign_scope_answers_like_an_unknown_one() {
    let server = Server::shared();
    let (mine, _) = with_tags(&server);
    let (theirs, _) = with_tags(&server);
    let foreign = theirs.post(PATH, &json!({"name": "n", "tags": ["shop"]})).expect(201).data();
    for (method, body) in
        [("GET", ""), ("PATCH", r#"{"name": ""}"#), ("PUT", r#"{"name": "x"}"#), ("DELETE", "")]
    {
        let lines = ["Content-Type: application/json"];
        let ask = |id: &str| mine.send(method, &format!("{PATH}/{id}"), &lines, body.as_bytes());
        let (foreign, unknown) = (ask(&text(&foreign["id"])), ask(UNKNOWN_ID));
        assert_eq!(unknown.status, 404);
        assert_eq!(foreign.without_request_id(), unknown.without_request_id(), "{method}");
    }
    assert_eq!(theirs.get(&item(&foreign)).expect(200).data(), foreign);
}
