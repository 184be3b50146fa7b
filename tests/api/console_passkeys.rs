//! Passkeys: added, used and removed, in a real browser with a virtual device, and with a device of the tests that also lies.

use rstest::rstest;
use serde_json::{Value, json};

use crate::console_proxy::{ANNA, behind_proxy, invite};
use crate::support::authenticator::{Authenticator, challenge};
use crate::support::browser::{Browser, BrowserOptions};
use crate::support::client::{Answer, Client, exchange};
use crate::support::console::{ConsoleUser, PASSWORD, cookie_of, form, newest_change, path_of};
use crate::support::eventually;
use crate::support::server::Server;

const SETTINGS: &str = "/console/settings";
const SIGN_IN: &str = "/console/sign-in";

/// The path of the first user's passkeys in the API.
fn passkeys(client: &Client) -> String {
    let users = client.get("/v1/users").expect(200).data();
    format!("/v1/users/{}/passkeys", users[0]["id"].as_str().unwrap())
}

/// Waits until a script has this value, such as in the document to which a form leads.
pub(crate) async fn until(browser: &Browser, expression: &str, wanted: &Value) {
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
    browser.run("document.querySelector('#passkey-present').focus()");
    browser.press("wrong");
    browser.press("\u{e007}");
    let problem = "document.querySelector('form[data-passkey] p.problem:not([hidden])')?.textContent";
    until(&browser, problem, &json!("The current password is wrong.")).await;
    let errors = browser.errors();
    assert!(errors.len() == 1 && errors[0].contains("403"), "{errors:?}");
    browser.run("document.querySelector('#passkey-present').value = ''");
    browser.run("document.querySelector('#passkey-present').focus()");
    browser.press(PASSWORD);
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
    browser.click("input[value='passkey-remove'] ~ input[name=present]");
    browser.press(PASSWORD);
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

fn remove(user: &ConsoleUser, id: &str, password: &str) -> Answer {
    user.post("/settings", &[("what", "passkey-remove"), ("id", id), ("present", password)])
}

#[test]
fn a_passkey_is_added_used_and_removed() {
    let server = Server::start();
    let client = server.client();
    let user = ConsoleUser::invited(&client, "editor");
    let mut device = Authenticator::new(&client);
    device.add(&client, &user, "Key").expect(303);
    let entry = newest_change(&client);
    assert_eq!((&entry["action"], &entry["object"]["kind"]), (&json!("add_passkey"), &json!("user")));
    let again = device.add(&client, &user, "Key").expect(422);
    assert!(again.body.contains("The passkey was refused"), "it exists already: {}", again.body);
    let signed_in = device.sign_in(&client).expect(303);
    assert_eq!(signed_in.header("location"), Some(SETTINGS));
    assert_eq!(newest_change(&client)["action"], "sign_in");
    let cookie = format!("Cookie: {}", cookie_of(&signed_in));
    client.without_token().send("GET", SETTINGS, &[&cookie], b"").expect(200);
    let id = client.get(&passkeys(&client)).expect(200).data()[0]["id"].as_str().unwrap().to_owned();
    remove(&user, &id, PASSWORD).expect(303);
    assert_eq!(newest_change(&client)["action"], "remove_passkey");
    remove(&user, &id, PASSWORD).expect(404);
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
    let entry = newest_change(&client);
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

/// Sends a form as a document of this origin, which is not that of the server, would.
fn send_from(client: &Client, origin: &str, path: &str, fields: &[(String, String)], line: &str) -> Answer {
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
    let (body, host) = (form(&fields), origin.strip_prefix("http://").unwrap());
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\nConnection: close\r\n{line}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    exchange(client.address, &[head.as_bytes(), body.as_bytes()].concat())
}

/// A new challenge for a document of this origin, from the form at this path.
fn challenge_from(client: &Client, origin: &str, path: &str, line: &str) -> Answer {
    let fields = [("what", "passkey-challenge"), ("present", PASSWORD)];
    let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
    send_from(client, origin, path, &fields, line)
}

const NO_LINE: &str = "X-Nothing: 1";

/// A program on another port of the host gets a device to sign for its own origin, and passes the answer on: as its own, or as
/// that of the console.
#[test]
fn another_port_of_the_host_passes_no_answers_on() {
    let server = Server::start();
    let client = server.client();
    let user = ConsoleUser::invited(&client, "viewer");
    let mut device = Authenticator::new(&client);
    device.add(&client, &user, "Key").expect(303);
    let own = device.origin.clone();
    let other = format!("http://{}:1", client.address.ip());
    device.origin.clone_from(&other);
    for (asked_from, sent_from) in [(&other, &other), (&own, &other), (&other, &own), (&own, &own)] {
        let challenge = challenge_from(&client, asked_from, SIGN_IN, NO_LINE).expect(200).body;
        send_from(&client, sent_from, SIGN_IN, &device.used(&challenge), NO_LINE).expect(401);
    }
    device.origin.clone_from(&own);
    let challenge = challenge_from(&client, &other, SIGN_IN, NO_LINE).expect(200).body;
    send_from(&client, &own, SIGN_IN, &device.used(&challenge), NO_LINE).expect(401);
    device.sign_in(&client).expect(303);
}

/// The proxy serves the console at this address, whatever the server listens on.
#[test]
fn passkeys_work_at_the_configured_address_only() {
    let address = "http://127.0.0.1:1";
    let server = Server::behind(address);
    let client = server.client();
    let user = ConsoleUser::invited(&client, "viewer");
    let mut device = Authenticator::new(&client);
    let own = device.origin.clone();
    for (path, line) in [(SIGN_IN, NO_LINE), (SETTINGS, &*user.cookie())] {
        let refused = challenge_from(&client, &own, path, line).expect(403).body;
        assert!(refused.contains("only at the configured address"), "{refused}");
    }
    device.origin = address.to_owned();
    device.user_handle = client.get("/v1/users").expect(200).data()[0]["id"].as_str().unwrap().to_owned();
    let challenge = challenge_from(&client, address, SETTINGS, &user.cookie()).expect(200).body;
    send_from(&client, address, SETTINGS, &device.made(&challenge, "Key"), &user.cookie()).expect(303);
    let challenge = challenge_from(&client, address, SIGN_IN, NO_LINE).expect(200).body;
    send_from(&client, address, SIGN_IN, &device.used(&challenge), NO_LINE).expect(303);
}

/// A session alone, such as one that was stolen, gives no lasting access: wrong passwords are refused, and counted.
#[test]
fn a_passkey_is_added_and_removed_with_the_password_again() {
    let server = Server::start();
    let client = server.client();
    let user = ConsoleUser::invited(&client, "viewer");
    let mut device = Authenticator::new(&client);
    device.add(&client, &user, "Key").expect(303);
    let passkeys = passkeys(&client);
    let id = client.get(&passkeys).expect(200).data()[0]["id"].as_str().unwrap().to_owned();
    let ask = |fields: &[(&str, &str)]| {
        let fields: Vec<_> =
            fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        send_from(&client, &device.origin, SETTINGS, &fields, &user.cookie())
    };
    for fields in
        [&[("what", "passkey-challenge")][..], &[("what", "passkey-challenge"), ("present", "wrong")]]
    {
        let refused = ask(fields).expect(403);
        assert_eq!(refused.body, "The current password is wrong.");
    }
    user.post("/settings", &[("what", "passkey-remove"), ("id", &id)]).expect(422);
    let refused = remove(&user, &id, "wrong").expect(422);
    assert!(refused.body.contains("The current password is wrong."), "{}", refused.body);
    assert_eq!(client.get(&passkeys).expect(200).data()[0]["id"], id.as_str());
    for _ in 4..10 {
        ask(&[("what", "passkey-challenge"), ("present", "wrong")]).expect(403);
    }
    ask(&[("what", "passkey-challenge"), ("present", PASSWORD)]).expect(429);
    remove(&user, &id, PASSWORD).expect(422);
    assert_eq!(client.get(&passkeys).expect(200).data()[0]["id"], id.as_str());
}

/// A user without a password adds a passkey while the proxy signs the user in; a session that the passkey has begun adds none.
#[test]
fn a_passkey_alone_adds_no_other() {
    let server = behind_proxy(&[]);
    let client = server.client();
    invite(&client, "anna@example.com", "viewer");
    let mut device = Authenticator::new(&client);
    device.user_handle = client.get("/v1/users").expect(200).data()[0]["id"].as_str().unwrap().to_owned();
    let own = device.origin.clone();
    let challenge = challenge_from(&client, &own, SETTINGS, ANNA).expect(200).body;
    send_from(&client, &own, SETTINGS, &device.made(&challenge, "Key"), ANNA).expect(303);
    let challenge = challenge_from(&client, &own, SIGN_IN, NO_LINE).expect(200).body;
    let session = send_from(&client, &own, SIGN_IN, &device.used(&challenge), NO_LINE).expect(303);
    let cookie = format!("Cookie: {}", cookie_of(&session));
    client.without_token().send("GET", "/console/settings", &[&cookie], b"").expect(200);
    challenge_from(&client, &own, SETTINGS, &cookie).expect(403);
}

/// Of two removals at the same time one finds the passkey, and only that one is noted.
#[test]
fn a_passkey_is_removed_once() {
    let server = Server::start();
    let client = server.client();
    let user = ConsoleUser::invited(&client, "viewer");
    let mut device = Authenticator::new(&client);
    device.add(&client, &user, "Key").expect(303);
    let id = client.get(&passkeys(&client)).expect(200).data()[0]["id"].as_str().unwrap().to_owned();
    let mut answers = std::thread::scope(|scope| {
        let removals = [(), (), ()].map(|()| scope.spawn(|| remove(&user, &id, PASSWORD).status));
        removals.map(|removal| removal.join().unwrap())
    });
    answers.sort_unstable();
    assert_eq!(answers, [303, 404, 404]);
    let entries = client.get("/v1/audit-log?per_page=100").expect(200).data();
    let removals = entries.as_array().unwrap().iter().filter(|entry| entry["action"] == "remove_passkey");
    assert_eq!(removals.count(), 1);
}

#[test]
fn a_user_has_at_most_twenty_passkeys() {
    let server = Server::start();
    let client = server.client();
    let user = ConsoleUser::invited(&client, "viewer");
    for number in 1..=20 {
        Authenticator::new(&client).add(&client, &user, &format!("Key {number}")).expect(303);
    }
    let refused = Authenticator::new(&client).add(&client, &user, "Key 21").expect(422);
    assert!(refused.body.contains("You cannot have more passkeys."), "{}", refused.body);
    assert_eq!(client.get(&passkeys(&client)).expect(200).data().as_array().unwrap().len(), 20);
}
