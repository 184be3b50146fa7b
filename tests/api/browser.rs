//! Status pages in a real browser: with and without scripts, by keys, and without barriers.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::browser::{Browser, BrowserOptions};
use crate::support::client::Client;
use crate::support::moments::in_ms;
use crate::support::pages::{create_page, fresh, id_of, new_component};
use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{create, eventually, service, until_status};

const DESKTOP: BrowserOptions = BrowserOptions { width: 1_280, runs_scripts: true };
const PHONE: BrowserOptions = BrowserOptions { width: 360, runs_scripts: true };

/// A page with everything: a tree, states, an incident, a maintenance, and a component with a past.
pub(crate) struct ShownPage {
    /// Address without a path.
    address: String,
    pub(crate) id: String,
    manual: String,
    pub(crate) component: String,
    pub(crate) incident: String,
    pub(crate) maintenance: String,
    _target: Target,
}

impl ShownPage {
    async fn create(server: &Server, client: &Client) -> Self {
        let name = json!({"en": "Corner shop", "de": "Eckladen"});
        Self::named(server, client, &name).await
    }

    pub(crate) async fn named(server: &Server, client: &Client, name: &Value) -> Self {
        let page = create_page(client, &json!({"slug": fresh("browser"), "name": name}));
        let (id, slug) = (id_of(&page), page["slug"].as_str().unwrap().to_owned());
        let target = Target::start();
        let settings = json!({"interval_seconds": 60});
        let body = json!({"name": "Web", "check_type": "http", "target": target.url(), "settings": settings});
        let measured = create(client, &body);
        until_status(client, &measured, "up").await;
        let manual = create(client, &json!({"name": "Till", "check_type": "manual"}));
        let group = new_component(client, &id, &json!({"name": "Payments", "is_group": true}));
        let component =
            new_component(client, &id, &json!({"name": "Web", "service_id": measured, "parent_id": group}));
        new_component(client, &id, &json!({"name": "Till", "service_id": manual, "parent_id": group}));
        let incident = json!({"title": "Till is slow", "message": "We *look*: [log](https://example.com/).",
            "is_published": true, "service_ids": [manual]});
        let incident = id_of(&client.post("/v1/incidents", &incident).expect(201).data());
        let planned = json!({"title": "Upgrade", "message": "We upgrade.", "service_ids": [manual],
            "scheduled_start": in_ms(86_400_000).to_string()});
        let maintenance = id_of(&client.post("/v1/maintenances", &planned).expect(201).data());
        let address = format!("http://{slug}.localhost:{}", server.client().address.port());
        Self { address, id, manual, component, incident, maintenance, _target: target }
    }

    pub(crate) fn state(&self, client: &Client, status: &str) {
        let stated = json!({"status": status, "reason": "Seen"});
        client.post(&format!("{}/status-override", service(&self.manual)), &stated).expect(200);
    }

    pub(crate) fn at(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }
}

/// Waits until an expression in the page has this value.
async fn until(browser: &Browser, expression: &str, wanted: &Value) {
    let mut last = Value::Null;
    let look = || {
        last = browser.value(expression);
        (last == *wanted).then_some(())
    };
    eventually(&format!("{expression} is {wanted}"), look).await;
}

#[tokio::test]
async fn a_change_shows_on_an_open_page_and_keys_choose_a_day() {
    let server = Server::shared();
    let client = server.bilingual_tenant();
    let Some(browser) = Browser::start(DESKTOP) else { return };
    let page = ShownPage::create(&server, &client).await;
    browser.visit(&page.at("/"));
    until(&browser, "document.querySelectorAll('a.bar[data-ready]').length", &json!(1)).await;
    // The stream is open, so that the change is not seen by another load of the page.
    until(&browser, "'live' in document.body.dataset", &json!(true)).await;
    browser.run("window.stays = true");
    page.state(&client, "down");
    until(&browser, "document.querySelector('#overall').textContent", &json!("Some systems are down")).await;
    assert_eq!(browser.value("window.stays"), json!(true), "the page was loaded again");
    // One stop of the tab key; arrows choose a day, and the line below says it.
    browser.run("document.querySelector('a.bar').focus()");
    browser.press("\u{e012}");
    let line =
        "document.querySelector('a.bar').nextElementSibling.querySelector('[role=status]').textContent";
    let yesterday = in_ms(-86_400_000).date();
    until(&browser, &format!("{line}.startsWith('{yesterday}')"), &json!(true)).await;
    browser.press("\u{e010}");
    let today = in_ms(0).date();
    until(&browser, &format!("{line}.startsWith('{today}: Operational, 100 %')"), &json!(true)).await;
    browser.press("\u{e007}");
    until(&browser, "location.pathname", &json!(format!("/en/components/{}", page.component))).await;
    assert_eq!(browser.errors(), Vec::<String>::new());
}

/// A visitor's choice of colours holds for the documents that the page links to.
#[tokio::test]
async fn the_choice_of_colours_is_kept() {
    let server = Server::shared();
    let client = server.bilingual_tenant();
    let Some(browser) = Browser::start(DESKTOP) else { return };
    let page = ShownPage::create(&server, &client).await;
    browser.visit(&page.at("/en/?appearance=dark"));
    let link = "document.querySelector('h3 a').search";
    until(&browser, link, &json!("?appearance=dark")).await;
    browser.click("h3 a");
    until(&browser, "document.documentElement.dataset.theme", &json!("dark")).await;
    assert_eq!(browser.value("document.querySelector('.home a').search"), json!("?appearance=dark"));
    browser.click("a[href='?appearance=light']");
    until(&browser, "document.documentElement.dataset.theme", &json!("light")).await;
}

#[tokio::test]
async fn a_page_is_readable_without_scripts() {
    let server = Server::shared();
    let client = server.bilingual_tenant();
    let options = BrowserOptions { runs_scripts: false, ..DESKTOP };
    let Some(browser) = Browser::start(options) else { return };
    let page = ShownPage::create(&server, &client).await;
    browser.visit(&page.at("/de/"));
    let home = browser.source();
    assert!(
        home.contains("Eckladen") && home.contains("Till is slow") && home.contains(" UTC</time>"),
        "{home}"
    );
    browser.click("a.bar");
    let shown = browser.source();
    assert!(shown.contains("<table>") && shown.contains(&in_ms(0).date()), "{shown}");
    browser.click(".home a");
    browser.click("h3 a");
    assert!(browser.source().contains("<em>look</em>"));
}

/// No barriers (axe-core) in any document, scheme and width, and in any language of the root.
#[rstest]
#[case::desktop(DESKTOP)]
#[case::phone(PHONE)]
#[tokio::test]
async fn there_are_no_barriers(#[case] options: BrowserOptions) {
    let server = Server::shared();
    let client = server.bilingual_tenant();
    let Some(browser) = Browser::start(options) else { return };
    let page = ShownPage::create(&server, &client).await;
    page.state(&client, "degraded");
    let month = &in_ms(0).date()[..7];
    let paths = [
        "/".to_owned(),
        "/de/".to_owned(),
        format!("/components/{}", page.component),
        format!("/incidents/{}", page.incident),
        format!("/de/maintenances/{}", page.maintenance),
        format!("/history/{month}"),
        "/nothing".to_owned(),
    ];
    for path in &paths {
        for appearance in ["light", "dark"] {
            browser.visit(&page.at(&format!("{path}?appearance={appearance}")));
            assert_eq!(barriers(&browser), json!([]), "{path} {appearance}");
            let overflow = browser.value("document.documentElement.scrollWidth > innerWidth");
            assert_eq!(overflow, json!(false), "{path} scrolls sideways");
        }
    }
    assert!(!page.id.is_empty());
}

/// What axe-core finds: the rule and the element.
fn barriers(browser: &Browser) -> Value {
    if load_axe(browser) { find_barriers(browser, AxeRules::All) } else { json!([]) }
}

/// Rules of axe-core that a document is held against.
#[derive(Clone, Copy)]
pub(crate) enum AxeRules {
    All,
    /// Those whose results depend on colours, for a further colour scheme of a document: its elements are the same.
    Colours,
}

/// Each colour scheme, with the rules that a document shown in both is held against.
pub(crate) const SCHEMES: [(&str, AxeRules); 2] = [("light", AxeRules::All), ("dark", AxeRules::Colours)];

/// Loads axe-core into the page. `false`, and a word about it, where axe-core is missing.
pub(crate) fn load_axe(browser: &Browser) -> bool {
    let Some(file) = std::env::var_os("WATCHKEEPER_TESTS_AXE") else {
        let is_required = std::env::var_os("WATCHKEEPER_TESTS_REQUIRE_BROWSER").is_some();
        assert!(!is_required, "WATCHKEEPER_TESTS_AXE is not set: see tests/browser/axe-core");
        eprintln!("SKIPPED: WATCHKEEPER_TESTS_AXE is not set");
        return false;
    };
    browser.run(&std::fs::read_to_string(file).unwrap());
    true
}

/// The rules that the shown document breaks, each with its elements; axe-core is loaded.
pub(crate) fn find_barriers(browser: &Browser, rules: AxeRules) -> Value {
    let (kind, values) = match rules {
        AxeRules::All => {
            ("tag", json!(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]))
        }
        AxeRules::Colours => ("rule", json!(["color-contrast", "link-in-text-block"])),
    };
    let options = json!({"resultTypes": ["violations"], "runOnly": {"type": kind, "values": values}});
    browser.value(&format!(
        "axe.run({options}).then(\
         (found) => found.violations.map((one) => [one.id, one.nodes.map((node) => node.html)]))"
    ))
}
