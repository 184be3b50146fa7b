//! The console's screens about what is: a service with the reasons for its status, locations, the engine room, the wall.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::console::{ConsoleUser, path_of};
use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{create, create_unconfigured, create_watched, eventually, until_status};

/// Creates a service that nobody answers for, and waits until it is down.
pub(crate) async fn down(client: &Client) -> String {
    let mut target = Target::start();
    let url = target.url();
    target.stop();
    let id = create_watched(client, &url, &json!({"interval_seconds": 30, "retries": 0}));
    until_status(client, &id, "down").await;
    id
}

/// Creates a key of a wall, and gives the path that it opens.
fn wall(client: &Client, body: &Value) -> (String, Value) {
    let made = client.post("/v1/wall-keys", body).expect(201).data();
    (path_of(made["link"].as_str().unwrap()), made)
}

#[rstest]
#[case("en", &["Down since", "cannot connect", "Votes of the locations", "With 1 retry", "decided"])]
#[case("de", &["Ausgefallen seit", "Stimmen der Standorte", "Mit 1 Wiederholung", "hat entschieden"])]
#[tokio::test]
async fn a_service_explains_why_it_is_down(#[case] language: &str, #[case] words: &[&str]) {
    let client = Server::shared().tenant("business");
    let user = ConsoleUser::invited(&client, "viewer");
    user.post("/settings", &[("what", "profile"), ("name", "Anna"), ("language", language)]).expect(303);
    let id = down(&client).await;
    // The status is recorded a moment after the engine has it.
    let page = eventually("the edge is recorded", || {
        let page = user.get(&format!("/services/{id}")).expect(200).body;
        page.contains("class=\"here\"").then_some(page)
    })
    .await;
    for word in words {
        assert!(page.contains(word), "{word}: {page}");
    }
    let text = page.split_once("id=\"plain-text\"").unwrap().1.split_once("</textarea>").unwrap().0;
    assert!(text.contains("Shop (http://127.0.0.1:"), "{text}");
    assert!(!page.contains("style="), "the policy forbids styles in the document");
}

#[tokio::test]
async fn a_what_if_is_answered_on_the_screen() {
    let client = Server::shared().tenant("business");
    let user = ConsoleUser::invited(&client, "viewer");
    let id = down(&client).await;
    for variant in ["retries", "all-locations", "recoveries"] {
        let page = user.post(&format!("/services/{id}/what-if"), &[("variant", variant)]).expect(200).body;
        assert!(page.contains("As it would have been") && !page.contains("role=\"alert\""), "{page}");
    }
    user.post(&format!("/services/{id}/what-if"), &[("variant", "luck")]).expect(404);
}

#[test]
fn a_person_sets_the_status() {
    let client = Server::shared().tenant("business");
    let id = create_unconfigured(&client);
    let (path, fields) = (format!("/services/{id}/override"), [("status", "down"), ("reason", "Fire drill")]);
    ConsoleUser::invited(&client, "viewer").post(&path, &fields).expect(403);
    let user = ConsoleUser::invited(&client, "editor");
    user.post(&path, &fields).expect(303);
    assert!(user.get(&format!("/services/{id}")).expect(200).body.contains("Fire drill"));
    user.post(&format!("/services/{id}/remove-override"), &[]).expect(303);
}

#[test]
fn a_service_shows_its_neighbours() {
    let client = Server::shared().tenant("business");
    let parent = create(&client, &json!({"name": "Power", "check_type": "manual"}));
    let child = create(&client, &json!({"name": "Lamp", "check_type": "manual", "depends_on": [parent]}));
    let user = ConsoleUser::invited(&client, "viewer");
    let link = |id: &str, name: &str| format!("<a href=\"/console/services/{id}\">{name}</a>");
    let page = user.get(&format!("/services/{child}")).expect(200).body;
    assert!(page.contains("Depends on") && page.contains(&link(&parent, "Power")), "{page}");
    let page = user.get(&format!("/services/{parent}")).expect(200).body;
    assert!(page.contains("Needed by") && page.contains(&link(&child, "Lamp")), "{page}");
}

#[test]
fn operators_see_the_engine_and_everybody_the_locations() {
    let user = ConsoleUser::invited(&Server::shared().tenant("business"), "viewer");
    assert!(user.get("/locations").expect(200).body.contains("data-row"));
    user.get("/engine").expect(403);
    let own = Server::start();
    let made = own.command_json(&["user", "create", "--email", "a@example.com", "--role", "owner"]);
    let operator = ConsoleUser::by_link(&own.client(), made["link"].as_str().unwrap());
    let page = operator.get("/engine").expect(200).body;
    assert!(page.contains("The engine works") && page.contains("Results waiting in memory"), "{page}");
}

#[tokio::test]
async fn a_wall_shows_what_is_wrong() {
    let client = Server::shared().tenant("business");
    let (path, key) = wall(&client, &json!({"name": "Office"}));
    down(&client).await;
    let page = eventually("the wall shows the outage", || {
        let page = client.without_token().get(&path).expect(200);
        page.body.contains("1 service is down").then_some(page)
    })
    .await;
    assert_eq!(page.header("refresh"), Some("30"));
    assert!(page.body.contains("Shop") && !page.body.contains("<form"), "{}", page.body);
    client.without_token().send("POST", &path, &["Sec-Fetch-Site: same-origin"], b"").expect(400);
    client.delete(&format!("/v1/wall-keys/{}", key["id"].as_str().unwrap())).expect(200);
    assert_eq!(client.without_token().get(&path).expect(404).header("refresh"), None);
}

#[test]
fn the_key_of_a_wall_opens_nothing_else() {
    let client = Server::shared().tenant("business");
    let (path, key) = wall(&client, &json!({"name": "Office"}));
    let secret = path.split_once("key=").unwrap().1;
    let stranger = client.without_token();
    stranger.send("GET", "/v1/services", &[&format!("Authorization: Bearer {secret}")], b"").expect(401);
    stranger.get(&format!("/console/services?key={secret}")).expect(303);
    stranger.get("/console/wall").expect(404);
    stranger.get(&format!("/console/wall?key={}", key["id"].as_str().unwrap())).expect(404);
    let mut wrong = secret.to_owned();
    let last = if wrong.pop() == Some('x') { 'y' } else { 'x' };
    stranger.get(&format!("/console/wall?key={wrong}{last}")).expect(404);
}
