//! `tags` of a service (contract 4.3.6) and the filter by tag (4.3.3).

use rstest::rstest;
use sea_orm::{ActiveValue::Set, EntityTrait as _};
use serde_json::{Value, json};
use watchkeeper_entities::{service_tag, tag};

use crate::support::client::Client;
use crate::support::server::Server;
use crate::support::{UNKNOWN_ID, create, service};

fn tenant() -> Client {
    let server = Server::shared();
    Client { _server: Some(std::sync::Arc::clone(&server)), ..server.tenant("business") }
}

fn tagged(client: &Client, tags: &Value) -> Value {
    let body = json!({"name": "x", "check_type": "manual", "tags": tags});
    client.post("/v1/services", &body).expect(201).data()
}

fn labels(service: &Value) -> Vec<String> {
    let tags = service["tags"].as_array().unwrap().iter();
    tags.map(|tag| tag["label"].as_str().unwrap().to_owned()).collect()
}

fn path(shown: &Value) -> String {
    service(shown["id"].as_str().unwrap())
}

fn count(client: &Client, list: &str) -> Value {
    client.get(list).expect(200).json()["meta"]["total"].clone()
}

/// Contract 4.3.6: ids and names mixed, each tag once, new names created; 4.3.1: ordered by label, without count.
#[test]
fn tags_are_set_by_id_and_by_name() {
    let client = tenant();
    let made = client
        .post("/v1/tags", &json!({"key": "env", "value": "Prod", "color": "#2563eb"}))
        .expect(201)
        .data();
    let shown = tagged(&client, &json!(["zone", made["id"], " ENV = Prod ", "env:Prod", "a:1", "a=1", "a"]));
    assert_eq!(labels(&shown), ["a", "a:1", "env:Prod", "zone"]);
    let expected = json!({"id": made["id"], "key": "env", "value": "Prod", "color": "#2563eb", "label": "env:Prod", "source": "user"});
    assert_eq!(shown["tags"][2].to_string(), expected.to_string());
    assert_eq!(client.get(&path(&shown)).expect(200).data(), shown);
    assert_eq!(client.get("/v1/services").expect(200).data()[0]["tags"], shown["tags"]);
    assert_eq!(count(&client, "/v1/tags"), 4);
}

/// Contract 4.3.6: on update the list replaces; absent and null leave it alone; `[]` empties it.
#[rstest]
fn an_update_replaces_the_tags(#[values("PUT", "PATCH")] method: &str) {
    let client = tenant();
    let first = tagged(&client, &json!(["a", "b"]));
    let change = |body: Value| client.json(method, &path(&first), &body).expect(200).data();
    assert_eq!(labels(&change(json!({"name": "y"}))), ["a", "b"]);
    assert_eq!(labels(&change(json!({"tags": null}))), ["a", "b"]);
    let replaced = change(json!({"tags": ["b", "c:1"]}));
    assert_eq!(labels(&replaced), ["b", "c:1"]);
    assert!(replaced["updated_at"].as_str() >= first["updated_at"].as_str());
    assert_eq!(labels(&change(json!({"tags": []}))), Vec::<String>::new());
    assert_eq!(count(&client, "/v1/tags"), 3);
}

/// The same tags in another spelling are no change.
#[test]
fn the_same_tags_are_no_change() {
    let client = tenant();
    let first = tagged(&client, &json!(["a:1", "b"]));
    let same =
        client.patch(&path(&first), &json!({"tags": ["b", "A=1", first["tags"][0]["id"]]})).expect(200);
    assert_eq!(same.data(), first);
}

/// Contract 4.3.6, rules 1 and 2; specification 4.2: an error at the entry, and nothing is stored.
#[rstest]
#[case(json!(["new", "b", UNKNOWN_ID]), &[("tags.2", "No tag with the ID or name AAAAAAAAAAAAAAAAAAAAA exists.")])]
#[case(json!(["new", " "]), &[("tags.1", "Use at least 1 characters.")])]
#[case(json!(["new", 7, null]), &[("tags.1", "This value must be a string."), ("tags.2", "This field must not be null.")])]
#[case(json!(["new", "a b", ":v", "k:\u{1}x"]), &[
    ("tags.1", "This is not a valid tag name."),
    ("tags.2", "This is not a valid tag name."),
    ("tags.3", "This is not a valid tag name."),
])]
#[case(json!("new"), &[("tags", "This value must be a list.")])]
#[case(json!((0..51).map(|n| format!("n{n}")).collect::<Vec<_>>()), &[("tags", "Send at most 50 entries.")])]
fn an_invalid_entry_stores_nothing(#[case] tags: Value, #[case] expected: &[(&str, &str)]) {
    let client = tenant();
    let expected: Vec<_> =
        expected.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    let body = json!({"name": "x", "check_type": "manual", "tags": tags});
    assert_eq!(client.post("/v1/services", &body).errors(), expected);
    let known = tagged(&client, &json!(["kept"]));
    let refused = client.patch(&path(&known), &json!({"name": "other", "tags": tags}));
    assert_eq!(refused.errors(), expected);
    assert_eq!(client.get(&path(&known)).expect(200).data(), known);
    assert_eq!((count(&client, "/v1/services"), count(&client, "/v1/tags")), (json!(1), json!(1)));
}

/// Contract 5.3: the errors of tags come between those of the target and of the settings; other errors store no tag.
#[test]
fn tag_errors_are_in_the_documented_order() {
    let client = tenant();
    let body = json!({"name": "", "check_type": "http", "target": "x", "tags": ["new", "-"], "settings": {}});
    let paths: Vec<String> =
        client.post("/v1/services", &body).errors().into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["name", "target", "tags.1", "settings.interval_seconds"]);
    client.post("/v1/services", &json!({"name": "", "check_type": "manual", "tags": ["new"]})).expect(422);
    assert_eq!(count(&client, "/v1/tags"), 0);
}

/// Contract 4.3.6, rule 1: a text in the form of an id may be the name of a tag; in small letters it is just a name.
#[test]
fn a_text_in_the_form_of_an_id_may_be_a_name() {
    let client = tenant();
    let shown = tagged(&client, &json!(["zz93kfjw0dlqpx81mnrt5"]));
    let other = tagged(&client, &json!(["Zz93kfjw0dlqpx81mnrt5"]));
    assert_eq!(other["tags"], shown["tags"]);
}

/// Contract 1.5: the id of another organisation's tag is unknown.
#[test]
fn a_foreign_tag_is_unknown() {
    let (mine, theirs) = (tenant(), tenant());
    let foreign = theirs.post("/v1/tags", &json!({"key": "env"})).expect(201).data();
    let body = json!({"name": "x", "check_type": "manual", "tags": [foreign["id"]]});
    let text = format!("No tag with the ID or name {} exists.", foreign["id"].as_str().unwrap());
    assert_eq!(mine.post("/v1/services", &body).errors(), [("tags.0".to_owned(), text)]);
}

/// Contract 3.3: the first entry that would exceed the plan is named.
#[test]
fn the_first_tag_too_many_is_named() {
    let server = Server::with("[plans.team]\ntags = 2\n", &[]);
    let client = server.tenant("team");
    let body = |tags: Value| json!({"name": "x", "check_type": "manual", "tags": tags});
    client.post("/v1/services", &body(json!(["a"]))).expect(201);
    let refused = client.post("/v1/services", &body(json!(["a", "b", "c", "d"]))).errors();
    assert_eq!(refused.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), ["tags.2"]);
    assert_eq!(count(&client, "/v1/tags"), 1);
    client.post("/v1/services", &body(json!(["a", "b"]))).expect(201);
}

/// Contract 4.3.6: two requests that create the same new tag end with one.
#[test]
fn one_of_concurrent_requests_creates_the_tag() {
    let client = tenant();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| tagged(&client, &json!(["fresh:1", "fresh:2"])));
        }
    });
    assert_eq!((count(&client, "/v1/tags"), count(&client, "/v1/services")), (json!(2), json!(8)));
}

/// The tag filters of the list of services (contract 4.3.3; specification 4.9).
#[rstest]
#[case("env:Prod", 1)]
#[case("ENV=Prod", 1)]
#[case("env:prod", 0)]
#[case("env", 2)]
#[case("", 0)]
#[case("--", 0)]
#[case("unknown", 0)]
fn services_are_filtered_by_tag(#[case] tag: &str, #[case] total: u32) {
    let client = tenant();
    for tags in [json!(["env:Prod", "env"]), json!(["env"]), json!([])] {
        tagged(&client, &tags);
    }
    assert_eq!(count(&client, &format!("/v1/services?tag={tag}")), total);
    assert_eq!(count(&client, "/v1/services"), 3);
}

/// A tag of the server agent, on these services: no endpoint makes one.
async fn store_system_tag(server: &Server, services: &[&str]) -> String {
    let database = server.main_database().await;
    let id = "SystemTagOfTheAgent00";
    let row = tag::ActiveModel {
        public_id: Set(id.into()),
        organisation_id: Set(1),
        key: Set("os".into()),
        value: Set("linux".into()),
        color: Set("#000000".into()),
        source: Set("system".into()),
        created_at: Set(1),
        ..tag::ActiveModel::default()
    };
    let tag_id = tag::Entity::insert(row).exec(&database).await.unwrap().last_insert_id;
    let all = watchkeeper_entities::service::Entity::find().all(&database).await.unwrap();
    for service in all.iter().filter(|service| services.contains(&service.public_id.as_str())) {
        let row = service_tag::ActiveModel { service_id: Set(service.id), tag_id: Set(tag_id) };
        service_tag::Entity::insert(row).exec_without_returning(&database).await.unwrap();
    }
    database.close().await.unwrap();
    id.into()
}

/// Contract 4.3.6, 4.4: tags of the server agent stay where they are, and are neither given, renamed nor deleted.
#[tokio::test]
async fn tags_of_the_server_agent_are_left_alone() {
    let server = Server::start();
    let client = server.client();
    let carrier = create(&client, &json!({"name": "x", "check_type": "manual", "tags": ["a"]}));
    let other = create(&client, &json!({"name": "y", "check_type": "manual"}));
    let system = store_system_tag(&server, &[&carrier]).await;
    let change = |tags: Value| client.patch(&service(&carrier), &json!({ "tags": tags })).expect(200).data();
    assert_eq!(labels(&change(json!([]))), ["os:linux"]);
    assert_eq!(labels(&change(json!(["b", system, "os:linux"]))), ["b", "os:linux"]);
    assert_eq!(client.get(&service(&carrier)).expect(200).data()["tags"][1]["source"], "system");
    for entry in [system.as_str(), "os=linux"] {
        let refused = client.patch(&service(&other), &json!({"tags": ["c", entry]})).errors();
        let text = "Tags set by the server agent cannot be assigned.";
        assert_eq!(refused, [("tags.1".to_owned(), text.to_owned())]);
    }
    let at = format!("/v1/tags/{system}");
    assert_eq!(client.patch(&at, &json!({"color": "#FFFFFF"})).expect(200).data()["color"], "#FFFFFF");
    let renamed = client.patch(&at, &json!({"key": "k", "value": null})).errors();
    let text = "Tags set by the server agent cannot be renamed.".to_owned();
    assert_eq!(renamed, [("key".to_owned(), text.clone()), ("value".to_owned(), text)]);
    let deleted = client.delete(&at).errors();
    assert_eq!(deleted, [("tag".to_owned(), "Tags set by the server agent cannot be deleted.".to_owned())]);
    client.post("/v1/tags/ensure", &json!({"key": "os", "value": "linux"})).expect(200);
    assert_eq!(client.get("/v1/me").expect(200).json()["limits"]["tags"]["usage"], 2);
}
