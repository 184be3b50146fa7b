//! Passkeys: added, used and removed, in a real browser with a virtual device, and with a device of the tests that also lies.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::authenticator::{Authenticator, challenge};
use crate::support::browser::{Browser, BrowserOptions};
use crate::support::client::Client;
use crate::support::console::{ConsoleUser, PASSWORD, cookie_of, path_of};
use crate::support::eventually;
use crate::support::server::Server;

const SETTINGS: &str = "/console/settings";
const SIGN_IN: &str = "/console/sign-in";

fn newest(client: &Client) -> Value {
    client.get("/v1/audit-log?per_page=1").expect(200).data()[0].clone()
}

/// The path of the first user's passkeys in the API.
fn passkeys(client: &Client) -> String {
    let users = client.get("/v1/users").expect(200).data();
    format!("/v1/users/{}/passkeys", users[0]["id"].as_str().unwrap())
}

async fn until(browser: &Browser, expression: &str, wanted: &Value) {
    let look = || (browser.value(expression) == *wanted).then_some(());
    eventually(&format!("{expression} is {wanted}"), look).await;
}

async fn until_path(browser: &Browser, path: &str) {
    let place = "document.readyState === 'complete' && location.pathname + location.search";
    until(browser, place, &json!(path)).await;
}

#[tokio::test]
async fn a_browser_adds_and_uses_a_passkey() {
    let server = Server::start();
    let client = server.client();
    let Some(browser) = Browser::start(BrowserOptions { width: 1_280, runs_scripts: true }) else { return };
    browser.add_authenticator();
    let made = client.post("/v1/users", &json!({"email": "anna@example.com", "role": "viewer"})).expect(201);
    let link = path_of(made.data()["link"].as_str().unwrap());
    let address = format!("http://localhost:{}", client.address.port());
    browser.visit(&format!("{address}{link}"));
    browser.run("document.querySelector('#password').focus()");
    browser.press(PASSWORD);
    browser.press("\u{e007}");
    until_path(&browser, "/console").await;
    browser.visit(&format!("{address}{SETTINGS}"));
    browser.run("document.querySelector('#passkey-name').focus()");
    browser.press("Phone");
    browser.press("\u{e007}");
    until_path(&browser, "/console/settings?done=changed").await;
    let listed = client.get(&passkeys(&client)).expect(200).data();
    assert_eq!((&listed[0]["name"], &listed[0]["last_used_at"]), (&json!("Phone"), &Value::Null));
    browser.click("form[action='/console/sign-out'] button");
    until_path(&browser, SIGN_IN).await;
    browser.click("form[data-passkey] button");
    until_path(&browser, "/console").await;
    assert!(client.get(&passkeys(&client)).expect(200).data()[0]["last_used_at"].is_string());
    browser.visit(&format!("{address}{SETTINGS}"));
    browser.click("input[value='passkey-remove'] ~ button");
    until_path(&browser, "/console/settings?done=changed").await;
    browser.click("form[action='/console/sign-out'] button");
    until_path(&browser, SIGN_IN).await;
    assert_eq!(browser.errors(), Vec::<String>::new());
    browser.click("form[data-passkey] button");
    until(
        &browser,
        "document.querySelector('p.problem:not([hidden])')?.textContent.slice(0, 12)",
        &json!("This passkey"),
    )
    .await;
}

#[test]
fn a_passkey_is_added_used_and_removed() {
    let server = Server::start();
    let client = server.client();
    let user = ConsoleUser::invited(&client, "editor");
    let mut device = Authenticator::new(&client);
    device.add(&client, &user, "Key").expect(303);
    let entry = newest(&client);
    assert_eq!((&entry["action"], &entry["object"]["kind"]), (&json!("add_passkey"), &json!("user")));
    let again = device.add(&client, &user, "Key").expect(422);
    assert!(again.body.contains("The passkey was refused"), "it exists already: {}", again.body);
    let signed_in = device.sign_in(&client).expect(303);
    assert_eq!(signed_in.header("location"), Some(SETTINGS));
    assert_eq!(newest(&client)["action"], "sign_in");
    let cookie = format!("Cookie: {}", cookie_of(&signed_in));
    client.without_token().send("GET", SETTINGS, &[&cookie], b"").expect(200);
    let id = client.get(&passkeys(&client)).expect(200).data()[0]["id"].as_str().unwrap().to_owned();
    user.post("/settings", &[("what", "passkey-remove"), ("id", &id)]).expect(303);
    assert_eq!(newest(&client)["action"], "remove_passkey");
    user.post("/settings", &[("what", "passkey-remove"), ("id", &id)]).expect(404);
    device.sign_in(&client).expect(401);
}

/// Over the API it is deleted by whom may end sessions.
#[test]
fn a_passkey_is_deleted_over_the_api() {
    let server = Server::start();
    let client = server.client();
    let user = ConsoleUser::invited(&client, "viewer");
    let mut device = Authenticator::new(&client);
    device.add(&client, &user, "Key").expect(303);
    let path = passkeys(&client);
    let passkey = client.get(&path).expect(200).data()[0].clone();
    assert_eq!(passkey["name"], "Key");
    let path = format!("{path}/{}", passkey["id"].as_str().unwrap());
    client.delete(&path).expect(200);
    let entry = newest(&client);
    assert_eq!((&entry["action"], &entry["object"]["kind"]), (&json!("delete"), &json!("passkey")));
    assert_eq!(entry["object"]["name"], "Key");
    client.delete(&path).expect(404);
    device.sign_in(&client).expect(401);
}

#[test]
fn a_challenge_works_once_and_for_one_purpose() {
    let server = Server::start();
    let client = server.client();
    let user = ConsoleUser::invited(&client, "viewer");
    let mut device = Authenticator::new(&client);
    device.add(&client, &user, "Key").expect(303);
    let challenge_of = |path: &str| challenge(&client, path, &user.cookie());
    let once = challenge_of(SIGN_IN);
    device.send(&client, SIGN_IN, &device.used(&once), "X-Nothing: 1").expect(303);
    device.send(&client, SIGN_IN, &device.used(&once), "X-Nothing: 1").expect(401);
    let other = challenge_of(SETTINGS);
    device.send(&client, SIGN_IN, &device.used(&other), "X-Nothing: 1").expect(401);
    let invented = "wkp_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG0xY1z2";
    device.send(&client, SIGN_IN, &device.used(invented), "X-Nothing: 1").expect(401);
    let second = Authenticator::new(&client);
    let fields = second.made(&challenge_of(SIGN_IN), "Second");
    second.send(&client, SETTINGS, &fields, &user.cookie()).expect(422);
    let stranger = ConsoleUser::invited(&client, "viewer");
    let fields = second.made(&challenge(&client, SETTINGS, &stranger.cookie()), "Second");
    second.send(&client, SETTINGS, &fields, &user.cookie()).expect(422);
}

/// A device that was used elsewhere, or without its owner.
#[rstest]
#[case::origin(|device: &mut Authenticator| device.origin = "http://evil.example".into())]
#[case::host(|device: &mut Authenticator| device.host = "evil.example".into())]
#[case::absent(|device: &mut Authenticator| device.flags = 4)]
#[case::unverified(|device: &mut Authenticator| device.flags = 1)]
#[case::user(|device: &mut Authenticator| device.user_handle = "somebody".into())]
#[case::credential(|device: &mut Authenticator| device.credential = vec![7; 16])]
#[case::counter(|device: &mut Authenticator| device.counter = 0)]
fn other_answers_are_refused(#[case] change: fn(&mut Authenticator)) {
    let server = Server::start();
    let client = server.client();
    let user = ConsoleUser::invited(&client, "viewer");
    let mut device = Authenticator::new(&client);
    device.counter = 9;
    device.add(&client, &user, "Key").expect(303);
    device.counter = 10;
    device.sign_in(&client).expect(303);
    device.counter = 11;
    change(&mut device);
    device.sign_in(&client).expect(401);
}

/// Tries are counted with those of passwords.
#[test]
fn tries_are_limited() {
    let server = Server::start();
    let client = server.client();
    let user = ConsoleUser::invited(&client, "viewer");
    let mut device = Authenticator::new(&client);
    device.add(&client, &user, "Key").expect(303);
    device.flags = 1;
    for _ in 0..10 {
        device.sign_in(&client).expect(401);
    }
    device.flags = 5;
    device.sign_in(&client).expect(429);
}
