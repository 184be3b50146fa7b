//! Screens of the console that are open follow the present state.

use serde_json::json;

use crate::support::browser::{Browser, BrowserOptions};
use crate::support::console::{PASSWORD, path_of};
use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{create_watched, eventually, until_status};

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
