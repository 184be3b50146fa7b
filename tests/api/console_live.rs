//! Screens of the console that are open follow the present state.

use serde_json::json;

use crate::support::browser::{Browser, BrowserOptions};
use crate::support::client::{Answer, Client};
use crate::support::console::{ConsoleUser, PASSWORD, path_of};
use crate::support::event_reader::EventReader;
use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{create, create_watched, eventually, service, until_status};

/// Number of tabs of one browser.
const TABS: usize = 12;

/// Asks for what changes on an open screen, as its script does.
fn live(client: &Client, user: &ConsoleUser, path: &str, change: &str, tag: &str) -> Answer {
    let lines = [user.cookie(), format!("Console-Change: {change}"), format!("If-None-Match: {tag}")];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    client.without_token().send("GET", &format!("/console{path}"), &lines, b"")
}

fn stream(client: &Client, user: &ConsoleUser) -> EventReader {
    EventReader::open(client, "/console/events", &["Host: localhost", &user.cookie()])
}

/// An event has a number, and what is asked for with the number shows the change. Nothing in it is of the user.
#[test]
fn a_change_is_told_and_shown() {
    let server = Server::start();
    let client = server.client();
    let till = create(&client, &json!({"name": "Till", "check_type": "manual"}));
    let [one, other] = [(), ()].map(|()| ConsoleUser::invited(&client, "editor"));
    let mut open = stream(&client, &one);
    let hello = open.next("hello");
    let before = live(&client, &one, "/services", &hello, "").expect(200);
    assert!(before.body.trim_start().starts_with("<main") && before.body.contains("Till"), "{}", before.body);
    let tag = before.header("etag").unwrap().to_owned();
    live(&client, &one, "/services", &hello, &tag).expect(304);

    let stated = json!({"status": "down", "reason": "Seen"});
    client.post(&format!("{}/status-override", service(&till)), &stated).expect(200);
    let mut change = open.next("change");
    assert!(change.parse::<u64>().unwrap() > hello.parse().unwrap());
    let mut after = live(&client, &one, "/services", &change, &tag);
    while !after.body.contains("badge major_outage") {
        change = open.next("change");
        after = live(&client, &one, "/services", &change, &tag);
    }
    let shared = live(&client, &other, "/services", &change, after.header("etag").unwrap());
    assert_eq!(shared.status, 304, "both see the same: {}", shared.body);
}

/// What a user sees is decided when it is asked for: another role and another language get their own documents, and only
/// documents that show nothing of the user are shared.
#[test]
fn only_equal_documents_are_shared() {
    let server = Server::start();
    let client = server.client();
    create(&client, &json!({"name": "Till", "check_type": "manual"}));
    let [editor, viewer] = ["editor", "viewer"].map(|role| ConsoleUser::invited(&client, role));
    let mut open = stream(&client, &editor);
    let change = open.next("hello");
    let shown = |user: &ConsoleUser, path: &str| live(&client, user, path, &change, "").expect(200).body;
    assert!(shown(&editor, "/services").contains("value=\"delete\""));
    assert!(!shown(&viewer, "/services").contains("value=\"delete\""));
    for user in [&editor, &viewer] {
        assert!(shown(user, "/settings").contains("<main"));
    }
    assert_ne!(shown(&editor, "/settings"), shown(&viewer, "/settings"));
    let stranger = client.without_token();
    stranger.send("GET", "/console/events", &[], b"").expect(303);
    stranger.send("GET", "/console/services", &["Console-Change: 0"], b"").expect(303);
}

/// The tabs of a browser share one stream, and each of them follows changes while it is shown.
#[tokio::test]
async fn twelve_tabs_are_one_stream() {
    let server = Server::start();
    let client = server.client();
    let till = create(&client, &json!({"name": "Till", "check_type": "manual"}));
    let Some(browser) = Browser::start(BrowserOptions { width: 1_280, runs_scripts: true }) else { return };
    let address = format!("http://localhost:{}", client.address.port());
    let link = server.command_json(&["user", "create", "--email", "a@example.com", "--role", "viewer"]);
    browser.visit(&format!("{address}{}", path_of(link["link"].as_str().unwrap())));
    browser.click("#password");
    browser.press(PASSWORD);
    browser.click("form button");
    browser.visit(&format!("{address}/console/services"));
    let streams = "navigator.locks.query().then(({held}) => held.length)";
    eventually("the tab has the stream", || (browser.value(streams) == 1).then_some(())).await;
    browser.requests();
    for _ in 1..TABS {
        browser.visit_in_new_tab(&format!("{address}/console/services"));
    }
    assert_eq!(browser.value(streams), 1);
    let stated = json!({"status": "down", "reason": "Seen"});
    client.post(&format!("{}/status-override", service(&till)), &stated).expect(200);
    eventually("the tab shows it", || {
        let text = browser.value("document.querySelector('#rows').innerText");
        text.as_str().unwrap().contains("down").then_some(())
    })
    .await;
    let requests = browser.requests();
    let count = |end: &str| requests.iter().filter(|url| url.ends_with(end)).count();
    assert!(count("/console/services") >= TABS - 1, "the requests of all tabs are seen: {requests:?}");
    assert_eq!(count("/console/events"), 0);
}

/// A service goes down while the overview and the list are open: both show it, and rows stay in their place.
#[tokio::test]
async fn an_open_screen_shows_a_change() {
    let server = Server::start();
    let client = server.client();
    let mut target = Target::start();
    let settings = json!({"interval_seconds": 30, "retries": 0});
    let id = create_watched(&client, &target.url(), &settings);
    until_status(&client, &id, "up").await;
    let Some(browser) = Browser::start(BrowserOptions { width: 1_280, runs_scripts: true }) else { return };
    let address = format!("http://localhost:{}", client.address.port());
    let link = server.command_json(&["user", "create", "--email", "a@example.com", "--role", "viewer"]);
    browser.visit(&format!("{address}{}", path_of(link["link"].as_str().unwrap())));
    browser.click("#password");
    browser.press(PASSWORD);
    browser.click("form button");
    for path in ["", "/services"] {
        browser.visit(&format!("{address}/console{path}"));
        let text = browser.value("document.querySelector('main').innerText").as_str().unwrap().to_owned();
        assert!(!text.contains("down"), "{text}");
        target.stop();
        client.patch(&format!("/v1/services/{id}"), &json!({"name": "Store"})).expect(200);
        client.post(&format!("/v1/services/{id}/pause"), &json!({})).expect(200);
        client.post(&format!("/v1/services/{id}/resume"), &json!({})).expect(200);
        until_status(&client, &id, "down").await;
        eventually("the open screen shows it", || {
            let text = browser.value("document.querySelector('[data-live]').innerText");
            text.as_str().unwrap().contains("down").then_some(())
        })
        .await;
        target.start_again();
        client.post(&format!("/v1/services/{id}/pause"), &json!({})).expect(200);
        client.post(&format!("/v1/services/{id}/resume"), &json!({})).expect(200);
        until_status(&client, &id, "up").await;
    }
    assert_eq!(browser.errors(), Vec::<String>::new());
}

/// A stream that was opened by a sign-in ends soon after it: after the session, the user, the role and the password.
#[test]
fn a_stream_ends_with_its_sign_in() {
    let server = Server::start();
    let client = server.client();
    let person = |name: &str| {
        let email = format!("{name}@example.com");
        let user = ConsoleUser::with(&client, &json!({"email": email, "role": "viewer"}));
        let all = client.get("/v1/users?per_page=100").expect(200).data();
        let found = all.as_array().unwrap().iter().find(|user| user["email"] == email.as_str()).unwrap();
        let path = format!("/v1/users/{}", found["id"].as_str().unwrap());
        let lines = ["Host: localhost", "Connection: close", &user.cookie()];
        let mut open = EventReader::open(&client, "/console/events", &lines);
        open.next("hello");
        (path, open)
    };
    let [session, deleted, changed, reset, (_, mut other)] =
        ["session", "deleted", "changed", "reset", "other"].map(person);
    let sessions = client.get(&format!("{}/sessions", session.0)).expect(200).data();
    client.delete(&format!("{}/sessions/{}", session.0, sessions[0]["id"].as_str().unwrap())).expect(200);
    client.delete(&deleted.0).expect(200);
    client.patch(&changed.0, &json!({"role": "editor"})).expect(200);
    let link = client.post(&format!("{}/reset", reset.0), &json!({})).expect(200).data();
    ConsoleUser::by_link(&client, link["link"].as_str().unwrap());
    for (_, open) in [session, deleted, changed, reset] {
        open.end();
    }
    create(&client, &json!({"name": "Till", "check_type": "manual"}));
    other.next("change");
}
