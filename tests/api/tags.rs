//! `/v1/tags` (contract 4.4): list, read, create, find or create, change, delete.

use rstest::rstest;
use sea_orm::{ActiveValue::Set, ColumnTrait as _, EntityTrait as _, QueryFilter as _};
use serde_json::{Value, json};
use watchkeeper_entities::{component, statuspage, tag};

use crate::support::client::{Answer, Client};
use crate::support::postgres::Postgres;
use crate::support::server::Server;
use crate::support::{UNKNOWN_ID, create, service};

fn tenant() -> Client {
    let server = Server::shared();
    Client { _server: Some(std::sync::Arc::clone(&server)), ..server.tenant("business") }
}

fn make(client: &Client, body: &Value) -> Value {
    client.post("/v1/tags", body).expect(201).data()
}

fn path(tag: &Value) -> String {
    format!("/v1/tags/{}", tag["id"].as_str().unwrap())
}

fn labels(answer: &Answer) -> Vec<String> {
    let rows = answer.data();
    rows.as_array().unwrap().iter().map(|tag| tag["label"].as_str().unwrap().to_owned()).collect()
}

/// Contract 4.4: the whole object, keys in the order of the table; 1.3: where it is.
#[test]
fn a_new_tag_is_shown_completely() {
    let client = tenant();
    let body = json!({"key": " Env ", "value": " Prod ", "color": "#2563EB", "id": "x", "source": "system"});
    let answer = client.post("/v1/tags", &body).expect(201);
    let tag = answer.data();
    let keys: Vec<&String> = tag.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["id", "key", "value", "color", "label", "source", "services_count"]);
    let mut expected = json!({"id": tag["id"], "key": "env", "value": "Prod", "color": "#2563EB", "label": "env:Prod",
        "source": "user", "services_count": 0});
    assert_eq!(tag, expected);
    let id = tag["id"].as_str().unwrap();
    assert!(id.len() == 21 && id.bytes().any(|byte| byte.is_ascii_uppercase()));
    assert!(answer.header("location").unwrap().ends_with(&path(&tag)));
    assert_eq!(client.get(&path(&tag)).expect(200).data(), expected);
    create(&client, &json!({"name": "x", "check_type": "manual", "tags": ["env:Prod"]}));
    expected["services_count"] = 1.into();
    assert_eq!(client.get(&path(&tag)).expect(200).data(), expected);
    assert_eq!(client.get("/v1/tags").expect(200).data(), json!([expected]));
}

/// Contract 4.4: without a colour the tag gets the one derived from its label.
#[rstest]
#[case(json!({"key": "env", "value": "prod"}), "#64748b")]
#[case(json!({"key": "env", "value": "", "color": null}), "#d97706")]
fn a_tag_without_colour_gets_one(#[case] body: Value, #[case] color: &str) {
    let tag = make(&tenant(), &body);
    assert_eq!((&tag["color"], tag["value"].is_null()), (&json!(color), body["value"] == ""));
}

#[rstest]
#[case(json!({}), &["key"])]
#[case(json!({"key": null, "value": 1, "color": "blue"}), &["key", "value", "color"])]
#[case(json!({"key": ""}), &["key"])]
#[case(json!({"key": "a b"}), &["key"])]
#[case(json!({"key": "-a"}), &["key"])]
#[case(json!({"key": "k".repeat(51)}), &["key"])]
#[case(json!({"key": "a", "value": "v".repeat(101)}), &["value"])]
#[case(json!({"key": "a", "value": "b\u{7f}c"}), &["value"])]
#[case(json!({"key": "a", "color": "#12345"}), &["color"])]
fn a_wrong_field_is_refused(
    #[case] body: Value,
    #[case] paths: &[&str],
    #[values("/v1/tags", "/v1/tags/ensure")] at: &str,
) {
    let errors = Server::shared_client().post(at, &body).errors();
    assert_eq!(errors.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), paths);
}

/// Contract 4.4: key without case, value exact, no value a value of its own.
#[test]
fn a_tag_is_unique() {
    let client = tenant();
    for body in
        [json!({"key": "env"}), json!({"key": "env", "value": "a"}), json!({"key": "env", "value": "A"})]
    {
        make(&client, &body);
    }
    for body in [json!({"key": "ENV", "value": " "}), json!({"key": "Env", "value": "a "})] {
        let refused = client.post("/v1/tags", &body);
        let text = "A tag with this key and value exists already.";
        assert_eq!(refused.errors(), [("key".to_owned(), text.to_owned())]);
    }
}

/// Specification 4.3: 201 when it was new, 200 when it existed, unchanged including its colour.
#[test]
fn ensure_finds_or_creates() {
    let client = tenant();
    let new = client.post("/v1/tags/ensure", &json!({"key": "env", "color": "#111111"})).expect(201);
    assert!(new.header("location").unwrap().ends_with(&path(&new.data())));
    let known = client.post("/v1/tags/ensure", &json!({"key": "ENV", "color": "#222222"})).expect(200);
    assert_eq!(known.data(), new.data());
    assert_eq!(known.header("location"), None);
}

fn ensured_at_once(client: &Client) {
    let answers: Vec<Answer> = std::thread::scope(|scope| {
        let ask = || client.post("/v1/tags/ensure", &json!({"key": "env", "value": "prod"}));
        let asking: Vec<_> = (0..16).map(|_| scope.spawn(ask)).collect();
        asking.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [[200; 15].as_slice(), &[201]].concat());
    let first = answers[0].data();
    assert!(answers.iter().all(|answer| answer.data() == first));
}

/// Contract 4.4: of concurrent calls exactly one creates.
#[test]
fn one_of_concurrent_ensures_creates_the_tag() {
    ensured_at_once(&tenant());
}

#[test]
fn one_of_concurrent_ensures_creates_the_tag_on_postgresql() {
    let Some(postgres) = Postgres::start() else { return };
    let server = Server::with("", &[("WATCHKEEPER_DATABASE_URL", &postgres.url())]);
    ensured_at_once(&server.client());
}

/// Contract 3.3: the quota counts tags of people; what exists can still be ensured.
#[test]
fn the_plan_limits_tags() {
    let server = Server::with("[plans.team]\ntags = 2\n", &[]);
    let client = server.tenant("team");
    make(&client, &json!({"key": "a"}));
    make(&client, &json!({"key": "b"}));
    let full = [("key".to_owned(), "The plan allows 2 tags; 2 exist.".to_owned())];
    for at in ["/v1/tags", "/v1/tags/ensure"] {
        let refused = client.post(at, &json!({"key": "c"}));
        assert_eq!(refused.errors(), full);
        assert!(refused.json().get("upsell").is_none());
    }
    client.post("/v1/tags/ensure", &json!({"key": "a"})).expect(200);
    let twice = client.post("/v1/tags", &json!({"key": "a"})).errors();
    assert_eq!(twice[0].1, "A tag with this key and value exists already.");
    let limits = client.get("/v1/me").expect(200).json()["limits"].clone();
    assert_eq!(limits["tags"], json!({"limit": 2, "usage": 2}));
    let body = json!({"name": "x", "check_type": "manual", "tags": ["a", "c"]});
    let refused = client.post("/v1/services", &body);
    assert_eq!(refused.errors(), [("tags.1".to_owned(), "The plan allows 2 tags; 2 exist.".to_owned())]);
    assert_eq!(client.get("/v1/services").expect(200).json()["meta"]["total"], 0);
    client.delete("/v1/tags/ensure").expect(405);
    client
        .post("/v1/services", &json!({"name": "x", "check_type": "manual", "tags": ["a", "b"]}))
        .expect(201);
}

/// Contract 1.4: fifty a page, by key, then by value, the one without value first.
#[test]
fn tags_are_listed_by_key_and_value() {
    let client = tenant();
    for label in ["b", "a:2", "a", "a:10", "c"] {
        let (key, value) = label.split_once(':').unwrap_or((label, ""));
        make(&client, &json!({"key": key, "value": value}));
    }
    let answer = client.get("/v1/tags").expect(200);
    assert_eq!(labels(&answer), ["a", "a:10", "a:2", "b", "c"]);
    assert_eq!(answer.json()["meta"]["per_page"], 50);
    let page = client.get("/v1/tags?per_page=2&page=2").expect(200);
    assert_eq!(labels(&page), ["a:2", "b"]);
    assert_eq!((&page.json()["meta"]["last_page"], &page.json()["meta"]["total"]), (&json!(3), &json!(5)));
}

/// Contract 4.4, filters; specification 4.9: sent empty they select nothing.
#[rstest]
#[case("label=env:prod", &["env:prod"])]
#[case("label=ENV=prod", &["env:prod"])]
#[case("label=env:PROD", &[])]
#[case("label=env", &["env"])]
#[case("label=os", &[])]
#[case("label=", &[])]
#[case("label=%2D%2D", &[])]
#[case("key=Env", &["env", "env:prod"])]
#[case("key=os", &["os:linux"])]
#[case("key=", &[])]
#[case("key=nothing", &[])]
#[case("label=env&key=env", &["env"])]
#[case("label=env&key=os", &[])]
#[case("label=os:linux&label=env", &["env"])]
fn filters_select_tags(#[case] query: &str, #[case] expected: &[&str]) {
    let client = tenant();
    for (key, value) in [("env", ""), ("env", "prod"), ("os", "linux")] {
        make(&client, &json!({"key": key, "value": value}));
    }
    let answer = client.get(&format!("/v1/tags?{query}")).expect(200);
    assert_eq!(labels(&answer), expected);
    assert_eq!(answer.json()["meta"]["total"], expected.len());
}

#[test]
fn filters_take_a_single_value() {
    let errors = Server::shared_client().get("/v1/tags?key[]=a&label[]=b").errors();
    assert_eq!(errors.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), ["label", "key"]);
}

/// Contract 4.4, update: id and services stay; `{}` changes nothing.
#[rstest]
fn a_tag_is_renamed_and_recoloured(#[values("PUT", "PATCH")] method: &str) {
    let client = tenant();
    let tag = make(&client, &json!({"key": "env", "value": "prod", "color": "#123456"}));
    let id = create(&client, &json!({"name": "x", "check_type": "manual", "tags": ["env:prod"]}));
    let change = |body: Value| client.json(method, &path(&tag), &body).expect(200).data();
    assert_eq!(change(json!({}))["label"], "env:prod");
    assert_eq!(change(json!({"key": "Stage", "value": null}))["label"], "stage");
    assert_eq!(change(json!({"color": "#ABCDEF"}))["color"], "#ABCDEF");
    let derived = change(json!({"key": "env", "color": null}));
    assert_eq!((&derived["color"], &derived["id"]), (&json!("#d97706"), &tag["id"]));
    assert_eq!(derived["services_count"], 1);
    assert_eq!(client.get(&service(&id)).expect(200).data()["tags"][0]["label"], "env");
}

#[test]
fn a_rename_to_an_existing_tag_is_refused() {
    let client = tenant();
    let (_, other) = (make(&client, &json!({"key": "a"})), make(&client, &json!({"key": "b"})));
    let refused = client.patch(&path(&other), &json!({"key": "A"})).errors();
    assert_eq!(refused, [("key".to_owned(), "A tag with this key and value exists already.".to_owned())]);
    client.patch(&path(&other), &json!({"key": null})).expect(422);
    assert_eq!(client.get(&path(&other)).expect(200).data()["label"], "b");
}

/// Contract 4.4: a deleted tag is off all services, which remain; 1.3: a second delete finds nothing.
#[test]
fn a_deleted_tag_is_removed_from_its_services() {
    let client = tenant();
    let tag = make(&client, &json!({"key": "env"}));
    let id = create(&client, &json!({"name": "x", "check_type": "manual", "tags": ["env"]}));
    let deleted = client.delete(&path(&tag)).expect(200).data();
    assert_eq!(deleted, json!({"id": tag["id"], "deleted": true}));
    client.delete(&path(&tag)).expect(404);
    assert_eq!(client.get(&service(&id)).expect(200).data()["tags"], json!([]));
}

/// A status page with a group that follows this tag.
async fn store_synced_group(server: &Server, tag: &Value) {
    let database = server.main_database().await;
    let followed = tag::Entity::find().filter(tag::Column::PublicId.eq(tag["id"].as_str().unwrap()));
    let followed = followed.one(&database).await.unwrap().unwrap();
    let page = statuspage::ActiveModel {
        public_id: Set("PageThatFollowsOneTag".into()),
        organisation_id: Set(followed.organisation_id),
        name: Set(r#"{"en":"Shop"}"#.into()),
        slug: Set("shop".into()),
        is_published: Set(true),
        show_logo: Set(true),
        logo_size: Set("medium".into()),
        show_affected_services: Set(true),
        show_unlinked_services: Set(true),
        show_incident_history: Set(true),
        show_locations: Set(false),
        show_sla: Set(false),
        status_json_includes_hidden: Set(true),
        seo: Set("{}".into()),
        access_type: Set("public".into()),
        email_whitelist: Set("[]".into()),
        appearance: Set("system".into()),
        allow_appearance_switch: Set(true),
        subscriber_channels: Set("[]".into()),
        created_at: Set(1),
        updated_at: Set(1),
        ..statuspage::ActiveModel::default()
    };
    let page = statuspage::Entity::insert(page).exec(&database).await.unwrap().last_insert_id;
    let group = component::ActiveModel {
        public_id: Set("GroupThatFollowsATag0".into()),
        statuspage_id: Set(page),
        sync_tag_id: Set(Some(followed.id)),
        name: Set(r#"{"en":"Group"}"#.into()),
        has_own_name: Set(true),
        is_group: Set(true),
        is_visible: Set(true),
        show_uptime_bars: Set(true),
        hide_operational_children: Set(false),
        default_open: Set(true),
        sync_new_visible: Set(true),
        is_sync_managed: Set(false),
        display_order: Set(0),
        created_at: Set(1),
        ..component::ActiveModel::default()
    };
    component::Entity::insert(group).exec_without_returning(&database).await.unwrap();
    database.close().await.unwrap();
}

/// Contract 4.4: a tag that a synced group follows stays; services that carry it do not count.
#[tokio::test]
async fn a_tag_in_use_cannot_be_deleted() {
    let server = Server::start();
    let client = server.client();
    let (used, free) = (make(&client, &json!({"key": "env"})), make(&client, &json!({"key": "os"})));
    create(&client, &json!({"name": "x", "check_type": "manual", "tags": ["env", "os"]}));
    store_synced_group(&server, &used).await;
    let refused = client.delete(&path(&used)).errors();
    let text = "This tag is still in use: status page Shop.";
    assert_eq!(refused, [("tag".to_owned(), text.to_owned())]);
    assert_eq!(client.get(&path(&used)).expect(200).data()["services_count"], 1);
    client.delete(&path(&free)).expect(200);
    let limits = client.get("/v1/me").expect(200).json()["limits"].clone();
    let usage = |key: &str| limits[key]["usage"].clone();
    assert_eq!(
        (usage("statuspages"), usage("published_statuspages"), usage("tags")),
        (json!(1), json!(1), json!(1))
    );
}

/// Contract 1.5: an unknown id, one of the wrong form and a foreign one are not there.
#[test]
fn a_foreign_tag_is_not_found() {
    let (mine, theirs) = (tenant(), tenant());
    let foreign = make(&theirs, &json!({"key": "env"}));
    for (method, body) in [("GET", ""), ("PUT", "{}"), ("PATCH", r#"{"key": 1}"#), ("DELETE", "")] {
        let ask = |id: &str| mine.send(method, &format!("/v1/tags/{id}"), &[], body.as_bytes());
        let unknown = ask(UNKNOWN_ID).expect(404);
        assert_eq!(ask(foreign["id"].as_str().unwrap()).without_request_id(), unknown.without_request_id());
        ask("x").expect(404);
    }
    assert_eq!(labels(&mine.get("/v1/tags").expect(200)), Vec::<String>::new());
    assert_eq!(labels(&mine.get("/v1/tags?label=env").expect(200)), Vec::<String>::new());
}

/// Contract 2.2: reading needs `services.view`, every write `services.edit`.
#[test]
fn tags_need_the_permissions_of_services() {
    let server = Server::shared();
    let organisation = server.organisation("business");
    let (viewer, editor) =
        (server.member(&organisation, "services.view"), server.member(&organisation, "services.edit"));
    let tag = make(&editor, &json!({"key": "env"}));
    viewer.get("/v1/tags").expect(200);
    viewer.get(&path(&tag)).expect(200);
    for (method, at) in [
        ("POST", "/v1/tags".to_owned()),
        ("POST", "/v1/tags/ensure".to_owned()),
        ("PUT", path(&tag)),
        ("PATCH", path(&tag)),
        ("DELETE", path(&tag)),
    ] {
        let refused = viewer.send(method, &at, &[], b"{}").expect(403);
        assert_eq!(refused.message(), "This token is missing the permission 'services.edit'.");
    }
    assert_eq!(
        editor.get("/v1/tags").expect(403).message(),
        "This token is missing the permission 'services.view'."
    );
}
