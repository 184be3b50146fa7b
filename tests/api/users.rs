//! `/v1/users`: people who sign in to the console.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::UNKNOWN_ID;
use crate::support::client::Client;
use crate::support::console::{ConsoleUser, path_of};
use crate::support::pages::fresh;
use crate::support::server::Server;

const PATH: &str = "/v1/users";
const KEYS: &str = "id email name role access_scope has_password created_at updated_at";

fn item(user: &Value) -> String {
    format!("{PATH}/{}", user["id"].as_str().unwrap())
}

/// An address that no other test uses.
fn address() -> String {
    format!("{}@example.com", fresh("user"))
}

fn invite(client: &Client, role: &str) -> Value {
    client.post(PATH, &json!({"email": address(), "role": role})).expect(201).data()
}

#[test]
fn a_user_is_invited_changed_and_deleted() {
    let client = Server::shared().tenant("business");
    let email = address();
    let body = json!({"email": email.to_uppercase(), "role": "responder", "name": "Anna"});
    let made = client.post(PATH, &body).expect(201);
    assert!(made.header("location").unwrap().ends_with(&item(&made.data())));
    assert!(made.data()["link"].as_str().unwrap().contains("/console/welcome?ticket=wkl_"));
    let user = client.get(&item(&made.data())).expect(200).data();
    assert_eq!(
        user.as_object().unwrap().keys().collect::<Vec<_>>(),
        KEYS.split_whitespace().collect::<Vec<_>>()
    );
    assert_eq!((&user["email"], &user["has_password"]), (&json!(email), &json!(false)));
    let changed = client.patch(&item(&user), &json!({"role": "editor"})).expect(200).data();
    assert_eq!((&changed["role"], &changed["name"]), (&json!("editor"), &json!("Anna")));
    let again = client.post(&format!("{}/reset", item(&user)), &json!({})).expect(200).data();
    assert_ne!(again["link"], made.data()["link"]);
    assert_eq!(client.get(&format!("{}/sessions", item(&user))).expect(200).data(), json!([]));
    client.delete(&format!("{}/sessions/{UNKNOWN_ID}", item(&user))).expect(404);
    assert_eq!(client.get(PATH).expect(200).data(), json!([changed]));
    client.delete(&item(&user)).expect(200);
    client.get(&item(&user)).expect(404);
    assert_eq!(
        client.get("/v1/tokens").expect(200).data().as_array().unwrap().len(),
        1,
        "a user is no token"
    );
}

#[rstest]
#[case(json!({"role": "viewer"}), "email: This field is required.")]
#[case(json!({"email": "a@example.com"}), "role: This field is required.")]
#[case(json!({"email": "a@example.com", "role": "god"}), "role: Unknown value. Allowed: owner, editor, responder, viewer.")]
fn a_wrong_user_is_refused(#[case] body: Value, #[case] expected: &str) {
    let answer = Server::shared().tenant("business").post(PATH, &body).expect(422);
    let errors: Vec<String> =
        answer.errors().into_iter().map(|(field, text)| format!("{field}: {text}")).collect();
    assert_eq!(errors, [expected]);
}

#[test]
fn an_address_belongs_to_one_user_of_the_installation() {
    let server = Server::shared();
    let user = invite(&server.tenant("business"), "viewer");
    let body = json!({"email": user["email"], "role": "viewer"});
    let refused = server.tenant("business").post(PATH, &body).expect(422);
    assert_eq!(refused.errors()[0].0, "email");
}

/// An owner who has not chosen a password yet does not count.
#[test]
fn an_owner_is_left() {
    let client = Server::shared().tenant("business");
    let first = invite(&client, "owner");
    ConsoleUser::by_link(&client, first["link"].as_str().unwrap());
    let second = invite(&client, "owner");
    client.delete(&item(&first)).expect(422);
    client.patch(&item(&first), &json!({"role": "editor"})).expect(422);
    ConsoleUser::by_link(&client, second["link"].as_str().unwrap());
    client.patch(&item(&first), &json!({"role": "editor"})).expect(200);
    client.delete(&item(&second)).expect(422);
}

/// A link that was sent to a mistyped address leads nowhere once the address is corrected.
#[test]
fn a_link_ends_with_its_address() {
    let client = Server::shared().tenant("business");
    let user = invite(&client, "viewer");
    client.patch(&item(&user), &json!({"email": address()})).expect(200);
    let path = path_of(user["link"].as_str().unwrap());
    client.without_token().get(&path).expect(410);
}

/// What would outlive a token is not made by it, and a lesser token ends no session of an owner.
#[test]
fn a_token_makes_nothing_that_outlives_it() {
    let client = Server::shared().tenant("business");
    let owner = invite(&client, "owner");
    ConsoleUser::by_link(&client, owner["link"].as_str().unwrap());
    let session = client.get(&format!("{}/sessions", item(&owner))).expect(200).data()[0]["id"].clone();
    let session = format!("{}/sessions/{}", item(&owner), session.as_str().unwrap());
    let me = client.get("/v1/me").expect(200).json();
    let brief = json!({"name": "Brief", "permissions": me["permissions"], "expires_at": "2190-01-01"});
    let brief = client.post("/v1/tokens", &brief).expect(201).data();
    let brief = Client { token: brief["token"].as_str().map(str::to_owned), ..client.without_token() };
    brief.post(PATH, &json!({"email": address(), "role": "viewer"})).expect(422);
    brief.post(&format!("{}/reset", item(&owner)), &json!({})).expect(422);
    brief.post("/v1/wall-keys", &json!({"name": "Wall"})).expect(422);
    let manager = json!({"name": "Manager", "permissions": ["users.manage"]});
    let manager = client.post("/v1/tokens", &manager).expect(201).data();
    let manager = Client { token: manager["token"].as_str().map(str::to_owned), ..client.without_token() };
    manager.delete(&session).expect(422);
    client.delete(&session).expect(200);
    let entry = client.get("/v1/audit-log?object=session").expect(200).data()[0].clone();
    assert_eq!(entry["object"]["name"], owner["name"]);
}

/// A user without a permission gives no role that has it, and gets no link of a user who has it.
#[test]
fn nobody_gives_more_than_they_have() {
    let server = Server::shared();
    let organisation = server.organisation("business");
    let all = server.member(&organisation, "all");
    let owner = invite(&all, "owner");
    let manager = server.member(&organisation, "users.manage,services.view");
    manager.post(PATH, &json!({"email": address(), "role": "viewer"})).expect(422);
    manager.post(&format!("{}/reset", item(&owner)), &json!({})).expect(422);
    manager.patch(&item(&owner), &json!({"email": address()})).expect(422);
    manager.delete(&item(&owner)).expect(422);
    manager.get(PATH).expect(200);
}

/// The owner of a self-hosted installation is its operator, so the token of the first start, which is not, cannot make one.
#[test]
fn an_operator_is_made_by_operators() {
    let server = Server::start();
    server.client().post(PATH, &json!({"email": address(), "role": "owner"})).expect(422);
    server.client().post(PATH, &json!({"email": address(), "role": "editor"})).expect(201);
    let email = address();
    let made = server.command_json(&["user", "create", "--email", &email, "--role", "owner"]);
    assert_eq!(made["role"], "owner");
}
