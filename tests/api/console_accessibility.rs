//! No screen of the console has barriers (axe-core), in any colour scheme and width; none scrolls sideways on the narrowest
//! screen; and none has an error of a script or of its security policy.

use serde_json::{Value, json};

use crate::browser::{SCHEMES, find_barriers, load_axe};
use crate::console::LISTS;
use crate::console_passkeys::until;
use crate::support::browser::{Browser, BrowserOptions};
use crate::support::client::Client;
use crate::support::console::{PASSWORD, path_of};
use crate::support::moments::in_ms;
use crate::support::pages::{fresh, id_of};
use crate::support::server::Server;
use crate::support::{UNKNOWN_ID, create};

const WIDTHS: [u32; 3] = [1_280, 768, 360];
/// The narrowest screen that is supported (WCAG 1.4.10).
const NARROWEST: u32 = 320;

fn set_width(browser: &Browser, width: u32) {
    let metrics = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
    browser.command_devtools("Emulation.setDeviceMetricsOverride", &metrics);
}

fn assert_accessible(browser: &Browser, name: &str) {
    if !load_axe(browser) {
        return;
    }
    for width in WIDTHS {
        set_width(browser, width);
        for (scheme, rules) in SCHEMES {
            let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
            browser.command_devtools("Emulation.setEmulatedMedia", &features);
            let found = find_barriers(browser, rules);
            assert_eq!(found, json!([]), "{name}, {width} px, {scheme}: {found:#}");
        }
    }
    set_width(browser, NARROWEST);
    let wide = browser.value(
        "[document.documentElement.scrollWidth > document.documentElement.clientWidth, \
         ...[...document.querySelectorAll('body *')]\
         .filter((one) => one.getBoundingClientRect().right > innerWidth && !one.closest('.wide, .tabs'))\
         .map((one) => one.outerHTML.slice(0, 100))]",
    );
    assert_eq!(wide[0], json!(false), "{name} scrolls sideways: {wide:#}");
}

/// Creates one of each, and gives the paths of their screens.
fn fill(client: &Client) -> Vec<String> {
    let settings = json!({"interval_seconds": 60});
    let body = json!({"name": "Payment gateway", "check_type": "http", "settings": settings,
        "target": "http://127.0.0.1:9/a/rather/long/address/that/goes/on/for/very/long", "tags": ["team:web"]});
    let service = create(client, &body);
    let other = create(client, &json!({"name": "Till", "check_type": "manual"}));
    let stated = json!({"status": "down", "reason": "Seen"});
    client.post(&format!("/v1/services/{other}/status-override"), &stated).expect(200);
    let made = |path: &str, body: &Value| id_of(&client.post(path, body).expect(201).data());
    let page = made("/v1/statuspages", &json!({"name": "Shop", "slug": fresh("barriers")}));
    let group =
        made(&format!("/v1/statuspages/{page}/components"), &json!({"name": "Shops", "is_group": true}));
    let till = json!({"name": "Till", "service_id": other, "parent_id": group});
    made(&format!("/v1/statuspages/{page}/components"), &till);
    let hostname = json!({"hostname": format!("{}.shop.example", fresh("status"))});
    made(&format!("/v1/statuspages/{page}/custom-domains"), &hostname);
    let incident = json!({"title": "Payments are declined", "message": "We look *closely*.",
        "service_ids": [service, other]});
    let planned = json!({"title": "Upgrade", "message": "We upgrade.", "service_ids": [service],
        "scheduled_start": in_ms(86_400_000).to_string()});
    let webhook = json!({"kind": "webhook", "name": "Operations", "settings": {"url": "https://a.example/hook",
        "secret": "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}});
    let token = json!({"name": "Bot", "permissions": ["services.view", "services.edit"]});
    let items = [
        ("/incidents", made("/v1/incidents", &incident)),
        ("/maintenances", made("/v1/maintenances", &planned)),
        ("/oncall/contacts", made("/v1/contacts", &json!({"name": "Anna", "email": "anna@example.com"}))),
        ("/channels", made("/v1/notification-channels", &webhook)),
        ("/policies", made("/v1/incident-policies", &json!({"name": "Usual"}))),
        ("/settings/tags", made("/v1/tags", &json!({"key": "team", "value": "shop"}))),
        ("/settings/scopes", made("/v1/access-scopes", &json!({"name": "Team", "tags": ["team:web"]}))),
        ("/settings/tokens", made("/v1/tokens", &token)),
        ("/settings/wall-keys", made("/v1/wall-keys", &json!({"name": "Lobby"}))),
        ("/statuspages", page.clone()),
    ];
    let mut paths = vec![format!("/services/{service}")];
    paths.extend(["edit", "checks"].map(|name| format!("/services/{service}/{name}")));
    for list in ["components", "domains", "subscribers"] {
        paths.push(format!("/statuspages/{page}/{list}"));
        paths.push(format!("/statuspages/{page}/{list}/new"));
    }
    paths.extend(items.iter().map(|(list, id)| format!("{list}/{id}")));
    paths.extend(["delete", "edit"].map(|name| format!("/incidents/{}/{name}", items[0].1)));
    paths.extend(["/incidents/all".to_owned(), format!("/statuspages/{page}/edit")]);
    paths.push(format!("/statuspages/{page}?appearance=dark&width=phone"));
    paths
}

/// Visits the documents that somebody sees before the first screen, and signs in.
fn walk_entry(browser: &Browser, address: &str, link: &str) {
    browser.visit(&format!("{address}/console/sign-in"));
    assert_accessible(browser, "sign-in");
    browser.visit(&format!("{address}{}", path_of(link)));
    assert_accessible(browser, "welcome");
    set_width(browser, WIDTHS[0]);
    browser.click("#password");
    browser.press(PASSWORD);
    browser.click("form button");
}

#[tokio::test]
async fn no_screen_has_barriers() {
    let Some(browser) = Browser::start(BrowserOptions { width: 1_280, runs_scripts: true }) else { return };
    let server = Server::start();
    let client = server.client();
    let address = server.base();
    let user = server.command_json(&["user", "create", "--email", "a@example.com", "--role", "owner"]);
    walk_entry(&browser, &address, user["link"].as_str().unwrap());
    let visit = |path: &str| browser.visit(&format!("{address}/console{path}"));
    for path in ["", "/services"] {
        visit(path);
        assert_accessible(&browser, &format!("empty {path}"));
    }
    let mut paths = fill(&client);
    let wall = client.post("/v1/wall-keys", &json!({"name": "Hall"})).expect(201).data();
    paths.push(path_of(wall["link"].as_str().unwrap()).replacen("/console", "", 1));
    paths.extend(
        [
            "",
            "/services",
            "/services?q=nothing",
            "/services/new",
            "/oncall",
            "/maintenances/all",
            "/maintenances?month=2030-05&zone=Europe/Berlin",
            "/settings",
            "/locations",
            "/engine",
            "/channels/new?kind=email",
        ]
        .map(Into::into),
    );
    for (list, has_form) in LISTS {
        paths.push(list.to_owned());
        paths.extend(has_form.then(|| format!("{list}/new")));
    }
    for path in &paths {
        visit(path);
        assert_accessible(&browser, path);
    }
    visit("/services");
    for (name, open) in [("keys", "?"), ("palette", "\u{e009}k")] {
        browser.press(open);
        assert_eq!(browser.value(&format!("document.querySelector('#{name}').open")), json!(true));
        assert_accessible(&browser, name);
        browser.press("\u{e00c}");
    }
    browser.run("document.querySelector('#sections').showPopover()");
    assert_accessible(&browser, "menu");
    assert_eq!(browser.errors(), Vec::<String>::new());
    walk_answers(&browser, &visit).await;
}

/// The documents that answer forms, and those that refuse.
async fn walk_answers(browser: &Browser, visit: &dyn Fn(&str)) {
    visit("/settings/tokens/new");
    set_width(browser, WIDTHS[0]);
    browser.click("#name");
    browser.press("Bot");
    browser.click("[value='services.view']");
    browser.click("main .primary");
    until(browser, "document.querySelector('#name') === null", &json!(true)).await;
    assert_accessible(browser, "shown once");
    visit("/incidents");
    set_width(browser, WIDTHS[0]);
    browser.click(".cards a");
    until(browser, "document.querySelector('#message') !== null", &json!(true)).await;
    browser.press("u");
    browser.press("It is **fixed**.");
    assert_eq!(
        browser.value("document.activeElement.value"),
        json!("It is **fixed**."),
        "u leads to the text"
    );
    browser.click("[name=preview]");
    until(browser, "document.querySelector('form .message strong')?.textContent", &json!("fixed")).await;
    assert_accessible(browser, "preview of an update");
    visit("/services/new");
    browser.press("   ");
    browser.click("main .primary");
    until(browser, "document.querySelector('[role=alert]') !== null", &json!(true)).await;
    assert_accessible(browser, "refused form");
    let unknown = format!("/services/{UNKNOWN_ID}");
    for path in ["/nowhere", unknown.as_str(), "/welcome?ticket=wkl_gone"] {
        visit(path);
        assert_accessible(browser, path);
    }
}
