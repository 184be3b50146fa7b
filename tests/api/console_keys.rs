//! The console by keys alone, and the way of a new user to the first service, with and without scripts.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::browser::{Browser, BrowserOptions};
use crate::support::client::Client;
use crate::support::console::{ConsoleUser, PASSWORD, path_of};
use crate::support::eventually;
use crate::support::server::Server;

const OPTIONS: BrowserOptions = BrowserOptions { width: 1_280, runs_scripts: true };
const EMAIL: &str = "anna@example.com";
const TAB: &str = "\u{e004}";
const ENTER: &str = "\u{e007}";
const ESCAPE: &str = "\u{e00c}";
/// Ctrl, k, and Ctrl up.
const PALETTE: &str = "\u{e009}k\u{e000}";
/// Most stops of the tab key to anything on a screen.
const STOPS: usize = 80;

async fn until(browser: &Browser, expression: &str, wanted: &Value) {
    let look = || (browser.value(expression) == *wanted).then_some(());
    eventually(&format!("{expression} is {wanted}"), look).await;
}

async fn until_path(browser: &Browser, path: &str) {
    until(
        browser,
        "document.readyState === 'complete' && location.pathname",
        &json!(format!("/console{path}")),
    )
    .await;
}

/// Signs in by keys: the field for the address has the focus.
async fn sign_in(browser: &Browser, client: &Client, address: &str) {
    ConsoleUser::with(client, &json!({"email": EMAIL, "role": "editor"}));
    browser.visit(&format!("{address}/console/sign-in"));
    browser.press(EMAIL);
    browser.press(TAB);
    browser.press(PASSWORD);
    browser.press(ENTER);
    until_path(browser, "").await;
}

/// Goes on with the tab key until something with this text has the focus.
fn focus(browser: &Browser, text: &str) {
    for _ in 0..STOPS {
        browser.press(TAB);
        if browser.value("document.activeElement.textContent.trim()") == json!(text) {
            return;
        }
    }
    panic!("{text} is not reached: {}", browser.source());
}

#[tokio::test]
async fn a_service_is_added_and_paused_by_keys_alone() {
    let Some(browser) = Browser::start(OPTIONS) else { return };
    let server = Server::start();
    let client = server.client();
    sign_in(&browser, &client, &server.base()).await;
    browser.press("gs");
    until_path(&browser, "/services").await;
    browser.press("n");
    until_path(&browser, "/services/new").await;
    browser.press("http://127.0.0.1:9/health");
    browser.press(ENTER);
    until(&browser, "document.querySelector('[role=status]')?.textContent", &json!("Created.")).await;
    focus(&browser, "Pause");
    browser.press(ENTER);
    let paused = || (client.get("/v1/services").expect(200).data()[0]["is_paused"] == true).then_some(());
    eventually("the service is paused", paused).await;
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[tokio::test]
async fn keys_choose_rows_and_open_the_palette() {
    let Some(browser) = Browser::start(OPTIONS) else { return };
    let server = Server::start();
    let client = server.client();
    for name in ["Shop", "Till"] {
        crate::support::create(&client, &json!({"name": name, "check_type": "manual"}));
    }
    sign_in(&browser, &client, &server.base()).await;
    browser.press("gs");
    until_path(&browser, "/services").await;
    browser.press("jj");
    let second = "document.querySelectorAll('[data-row]')[1].contains(document.activeElement)";
    assert_eq!(browser.value(second), json!(true));
    browser.press("x");
    let chosen = "[...document.querySelectorAll('[name=id]')].map((one) => one.checked)";
    assert_eq!(browser.value(chosen), json!([false, true]));
    browser.press("?");
    assert_eq!(browser.value("document.querySelector('#keys').open"), json!(true));
    browser.press(ESCAPE);
    assert_eq!(browser.value("document.querySelector('#keys').open"), json!(false));
    assert_eq!(browser.value(second), json!(true), "the focus is where it was");
    browser.press("d");
    let theme = browser.value("document.documentElement.dataset.theme");
    browser.press("/");
    browser.press("gi?d");
    assert_eq!(browser.value("document.activeElement.value"), json!("gi?d"), "letters in a field are text");
    browser.press(ESCAPE);
    browser.press(PALETTE);
    browser.press("incid");
    browser.press(ENTER);
    until_path(&browser, "/incidents").await;
    assert_eq!(browser.value("document.documentElement.dataset.theme"), theme, "it holds for the session");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[tokio::test]
async fn shortcuts_are_switched_off() {
    let Some(browser) = Browser::start(OPTIONS) else { return };
    let server = Server::start();
    sign_in(&browser, &server.client(), &server.base()).await;
    browser.press("gt");
    until_path(&browser, "/settings").await;
    browser.click("[name=shortcuts]");
    browser.click("main .primary");
    until(&browser, "'shortcuts' in document.body.dataset", &json!(false)).await;
    for keys in ["gs", "?", "d", "n", "/", PALETTE] {
        browser.press(keys);
    }
    assert_eq!(browser.value("location.pathname"), json!("/console/settings"));
    let changed = "[document.querySelector('dialog'), document.documentElement.dataset.theme ?? null]";
    assert_eq!(browser.value(changed), json!([null, null]));
}

/// Three inputs (address, password, what to check) on two pages.
#[rstest]
#[case::with_script(true)]
#[case::without_script(false)]
#[tokio::test]
async fn a_new_user_adds_a_service_on_the_second_page(#[case] runs_scripts: bool) {
    let Some(browser) = Browser::start(BrowserOptions { runs_scripts, ..OPTIONS }) else { return };
    let server = Server::start();
    let link = String::from_utf8(server.command(&["user", "link"]).stdout).unwrap();
    browser.visit(&format!("{}{}", server.base(), path_of(link.trim())));
    browser.press(EMAIL);
    browser.click("#password");
    browser.press(PASSWORD);
    browser.click("form button");
    let shows = |part: &'static str| move |browser: &Browser| browser.source().contains(part).then_some(());
    eventually("the second page", || shows("name=\"paste\"")(&browser)).await;
    browser.press("http://127.0.0.1:9/health");
    browser.click("main .primary");
    eventually("the page of the service", || shows("Created.")(&browser)).await;
    let services = server.client().get("/v1/services").expect(200).data();
    assert_eq!(services[0]["target"], "http://127.0.0.1:9/health");
    assert_eq!(services[0]["is_configured"], true, "it is checked without any further step");
}
