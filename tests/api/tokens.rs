//! `/v1/tokens` and `/v1/wall-keys`: made, limited and revoked; never with more than their maker has.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::server::Server;
use crate::support::{UNKNOWN_ID, eventually};

const PATH: &str = "/v1/tokens";
const KEYS: &str = "id name permissions access_scope expires_at created_at";

fn item(path: &str, view: &Value) -> String {
    format!("{path}/{}", view["id"].as_str().unwrap())
}

/// A client with the text of a token.
fn with_token(client: &Client, view: &Value) -> Client {
    Client { token: view["token"].as_str().map(str::to_owned), ..client.without_token() }
}

#[tokio::test]
async fn a_token_is_made_limited_and_revoked() {
    let client = Server::shared().tenant("business");
    let body = json!({"name": "Bot", "permissions": ["services.view", "services.create"]});
    let made = client.post(PATH, &body).expect(201);
    assert!(made.header("location").unwrap().ends_with(&item(PATH, &made.data())));
    let token = made.data();
    let shown = client.get(&item(PATH, &token)).expect(200).data();
    assert_eq!(
        shown.as_object().unwrap().keys().collect::<Vec<_>>(),
        KEYS.split_whitespace().collect::<Vec<_>>()
    );
    assert_eq!(shown["permissions"], body["permissions"]);
    let bot = with_token(&client, &token);
    bot.get("/v1/services").expect(200);
    bot.get("/v1/incidents").expect(403);
    let limited =
        client.patch(&item(PATH, &token), &json!({"permissions": ["incidents.view"]})).expect(200).data();
    assert_eq!(limited["permissions"], json!(["incidents.view"]));
    eventually("the limit is in force", || (bot.get("/v1/services").status == 403).then_some(())).await;
    client.delete(&item(PATH, &token)).expect(200);
    eventually("it is revoked", || (bot.get("/v1/incidents").status == 401).then_some(())).await;
    client.get(&item(PATH, &token)).expect(404);
}

/// A token may be let in for a second after it is revoked; an idempotency key cannot be stored for it then.
#[tokio::test]
async fn a_revoked_token_with_an_idempotency_key_is_401() {
    let client = Server::shared().tenant("business");
    let token = client.post(PATH, &json!({"name": "Bot", "permissions": ["services.create"]})).expect(201);
    let bot = with_token(&client, &token.data());
    bot.get("/v1/services").expect(403);
    client.delete(&item(PATH, &token.data())).expect(200);
    let lines = ["Content-Type: application/json", "Idempotency-Key: a"];
    bot.send("POST", "/v1/services", &lines, b"{}").expect(401);
}

#[rstest]
#[case(json!({"permissions": ["services.view"]}), "name: This field is required.")]
#[case(json!({"name": "Bot"}), "permissions: This field is required.")]
#[case(json!({"name": "Bot", "permissions": []}), "permissions: Send at least 1 entries.")]
#[case(json!({"name": "Bot", "permissions": ["services.view", "engine.view"]}),
    "permissions.1: You do not have the permission engine.view yourself.")]
#[case(json!({"name": "Bot", "permissions": ["services.view"], "expires_at": "2020-01-01"}),
    "expires_at: This time must be in the future.")]
#[case(json!({"name": "Bot", "permissions": ["services.view"], "access_scope_id": UNKNOWN_ID}),
    "access_scope_id: No access scope with the ID AAAAAAAAAAAAAAAAAAAAA exists.")]
fn a_wrong_token_is_refused(#[case] body: Value, #[case] expected: &str) {
    let answer = Server::shared().tenant("business").post(PATH, &body).expect(422);
    let errors: Vec<String> =
        answer.errors().into_iter().map(|(field, text)| format!("{field}: {text}")).collect();
    assert_eq!(errors, [expected]);
}

/// A maker gives neither permissions nor time that it does not have, and does not widen what it cannot make.
#[test]
fn a_token_has_at_most_what_its_maker_has() {
    let server = Server::shared();
    let organisation = server.organisation("business");
    let owner = server.member(&organisation, "all");
    let maker = json!({"name": "Maker", "permissions": ["tokens.manage", "services.view"],
        "expires_at": "2190-01-01T00:00:00Z"});
    let maker = with_token(&owner, &owner.post(PATH, &maker).expect(201).data());
    let view = json!({"name": "Child", "permissions": ["services.view"]});
    let child = maker.post(PATH, &view).expect(201).data();
    assert_eq!(child["expires_at"], "2190-01-01T00:00:00.000Z", "it ends with its maker");
    for (field, value) in [
        ("permissions", json!(["services.edit"])),
        ("expires_at", json!("2190-01-02")),
        ("expires_at", Value::Null),
    ] {
        let mut body = view.clone();
        body[field] = value.clone();
        maker.post(PATH, &body).expect(422);
        maker.patch(&item(PATH, &child), &json!({field: value})).expect(422);
    }
    let strong = json!({"name": "Strong", "permissions": ["services.edit"]});
    let strong = owner.post(PATH, &strong).expect(201).data();
    maker.patch(&item(PATH, &strong), &json!({"name": "Mine"})).expect(422);
    maker.delete(&item(PATH, &strong)).expect(200);
}

/// A token confined to a scope manages no tokens, and the scope is in use while a token is confined to it.
#[test]
fn a_token_can_be_confined() {
    let client = Server::shared().tenant("business");
    client.post("/v1/tags", &json!({"key": "team", "value": "a"})).expect(201);
    let scope =
        client.post("/v1/access-scopes", &json!({"name": "Team", "tags": ["team:a"]})).expect(201).data();
    let body = json!({"name": "Bot", "permissions": ["services.view", "tokens.manage"], "access_scope_id": scope["id"]});
    let token = client.post(PATH, &body).expect(201).data();
    assert_eq!(token["access_scope"], json!({"id": scope["id"], "name": "Team"}));
    let bot = with_token(&client, &token);
    bot.get("/v1/services").expect(200);
    bot.get(PATH).expect(403);
    client.delete(&item("/v1/access-scopes", &scope)).expect(422);
}

#[test]
fn a_wall_key_is_made_and_revoked() {
    const WALLS: &str = "/v1/wall-keys";
    let client = Server::shared().tenant("business");
    let made = client.post(WALLS, &json!({"name": "Office"})).expect(201).data();
    let secret = made["secret"].as_str().unwrap();
    assert!(secret.starts_with("wkw_") && made["link"].as_str().unwrap().ends_with(secret));
    let shown = client.get(WALLS).expect(200);
    assert!(!shown.body.contains(secret));
    assert_eq!(shown.data()[0]["name"], "Office");
    let bearer = Client { token: Some(secret.to_owned()), ..client.without_token() };
    bearer.get("/v1/me").expect(401);
    client.delete(&item(WALLS, &made)).expect(200);
    assert_eq!(client.get(WALLS).expect(200).data(), json!([]));
    client.post(WALLS, &json!({})).expect(422);
}
