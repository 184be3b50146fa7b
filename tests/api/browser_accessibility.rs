//! No document of a status page has barriers (axe-core), in any language, colour scheme and width; none scrolls sideways on
//! the narrowest screen; languages from right to left are written so; and a printed page has all of its text.

use rstest::rstest;
use serde_json::{Value, json};

use crate::browser::{SCHEMES, ShownPage, find_barriers, load_axe};
use crate::subscriber_messages::mailing;
use crate::support::browser::{Browser, BrowserOptions};
use crate::support::client::Client;
use crate::support::mail_server::MailServer;
use crate::support::moments::in_ms;
use crate::support::pages::{create_page, fresh, host_of, id_of, new_component, statuspage};
use crate::support::server::Server;

const OPTIONS: BrowserOptions = BrowserOptions { width: 1_280, runs_scripts: true };
const WIDTHS: [u32; 2] = [1_280, 360];
/// The narrowest screen that is supported (WCAG 1.4.10).
const NARROWEST: u32 = 320;
const PASSWORD: &str = "correct horse";

/// A page with everything, with a past, a closed group and a form to subscribe; a page with a password, and one for the people
/// on an e-mail list.
struct WalkedPage {
    page: ShownPage,
    client: Client,
    /// Address of the page with a password, without a path.
    protected: String,
    /// The same of the page for a list.
    listed: String,
}

impl WalkedPage {
    async fn create(server: &Server, client: Client) -> Self {
        let page = ShownPage::named(server, &client, &json!("Corner shop")).await;
        let channels = json!({"subscriber_channels": ["email", "webhook", "telegram"],
            "imprint_url": "https://a.example/imprint", "privacy_policy_url": "https://a.example/privacy"});
        client.patch(&statuspage(&page.id), &channels).expect(200);
        let group = new_component(
            &client,
            &page.id,
            &json!({"name": "Quiet", "is_group": true, "default_open": false}),
        );
        let fields = json!({"name": "Cellar", "description": "Below the shop", "parent_id": group});
        new_component(&client, &page.id, &fields);
        let past = json!({"title": "Cellar under water", "message": "We pump.", "is_published": true,
            "statuspage_ids": [page.id]});
        let past = id_of(&client.post("/v1/incidents", &past).expect(201).data());
        client.post(&format!("/v1/incidents/{past}/resolve"), &json!({"message": "Dry."})).expect(200);
        page.state(&client, "degraded");
        let fields = json!({"slug": fresh("walked"), "access_type": "password", "password": PASSWORD});
        let address = |page: &Value| format!("http://{}:{}", host_of(page), client.address.port());
        let protected = address(&create_page(&client, &fields));
        let readers = ["ar", "en", "de", "fr", "es"].map(|locale| format!("reader.{locale}@example.org"));
        let fields =
            json!({"slug": fresh("walked"), "access_type": "email_whitelist", "email_whitelist": readers});
        let listed = address(&create_page(&client, &fields));
        Self { page, client, protected, listed }
    }

    /// Paths of the documents that need no entry, below the language.
    fn paths(&self) -> Vec<String> {
        let ShownPage { component, incident, maintenance, .. } = &self.page;
        vec![
            "/".to_owned(),
            format!("/components/{component}"),
            format!("/incidents/{incident}"),
            format!("/maintenances/{maintenance}"),
            format!("/history/{}", &in_ms(0).date()[..7]),
            "/embed".to_owned(),
            "/nothing".to_owned(),
            "/subscribe".to_owned(),
        ]
    }

    /// Visits all documents in a language, and shows each to `look`.
    fn walk(&self, browser: &Browser, mails: &mut MailServer, locale: &str, look: &mut dyn FnMut(&str)) {
        browser.command_devtools("Network.enable", &json!({}));
        let headers = json!({"headers": {"Accept-Language": locale}});
        browser.command_devtools("Network.setExtraHTTPHeaders", &headers);
        for path in self.paths() {
            browser.visit(&self.page.at(&format!("/{locale}{path}")));
            look(&path);
        }
        self.walk_subscription(browser, mails, locale, look);
        browser.visit(&format!("{}/{locale}/", self.protected));
        look("password");
        enter(browser, "#password", "wrong horse");
        look("wrong password");
        self.walk_list(browser, mails, locale, look);
    }

    /// The form of the page for a list with its answers, and the documents behind the link in the mail.
    fn walk_list(&self, browser: &Browser, mails: &mut MailServer, locale: &str, look: &mut dyn FnMut(&str)) {
        browser.visit(&format!("{}/{locale}/", self.listed));
        look("list");
        enter(browser, "#address", &format!("reader.{locale}@example.org"));
        look("link sent");
        let link = format!("{}{}", self.listed, link(&mails.mail(), "/access/"));
        browser.visit(&link);
        look("link");
        browser.click("button");
        browser.visit(&link);
        look("link over");
    }

    /// The form to subscribe with its answers, and the documents behind the links in mails.
    fn walk_subscription(
        &self,
        browser: &Browser,
        mails: &mut MailServer,
        locale: &str,
        look: &mut dyn FnMut(&str),
    ) {
        browser.visit(&self.page.at(&format!("/{locale}/subscribe")));
        enter(browser, "#address", "anna");
        look("wrong address");
        enter(browser, "#address", &format!("anna.{locale}@example.org"));
        look("sent");
        let confirm = link(&mails.mail(), "/subscriptions/confirm/");
        browser.visit(&self.page.at(&format!("/{locale}{confirm}")));
        look("confirm");
        browser.click("button");
        look("confirmed");
        browser.visit(&self.page.at(&format!("/{locale}{confirm}")));
        look("confirm over");
        let news = json!({"title": "News", "message": "Seen", "is_published": true, "statuspage_ids": [self.page.id]});
        let news = id_of(&self.client.post("/v1/incidents", &news).expect(201).data());
        let leave = link(&mails.mail(), "/u/");
        browser.visit(&self.page.at(&leave));
        look("unsubscribe");
        browser.click("button");
        look("unsubscribed");
        self.client.delete(&format!("/v1/incidents/{news}")).expect(200);
    }
}

/// Types into a field and sends its form.
fn enter(browser: &Browser, field: &str, text: &str) {
    browser.run(&format!("document.querySelector('{field}').focus()"));
    browser.press(text);
    browser.click("button");
}

/// The path of the first link in a mail that contains this text.
fn link(mail: &Value, part: &str) -> String {
    let text = mail["text"].as_str().unwrap();
    let rest = &text[text.find(part).unwrap_or_else(|| panic!("no {part} in {text}"))..];
    rest.split_whitespace().next().unwrap().to_owned()
}

fn set_width(browser: &Browser, width: u32) {
    let metrics = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
    browser.command_devtools("Emulation.setDeviceMetricsOverride", &metrics);
}

fn set_scheme(browser: &Browser, scheme: &str) {
    let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
    browser.command_devtools("Emulation.setEmulatedMedia", &features);
}

/// Asserts that the document has no barriers in both colour schemes and widths, and does not scroll sideways.
fn assert_accessible(browser: &Browser, locale: &str, name: &str) {
    if !load_axe(browser) {
        return;
    }
    // A frame is a part of another document, which has the heading.
    let is_barrier = |found: &Value| name != "/embed" || found[0] != "page-has-heading-one";
    for width in WIDTHS {
        set_width(browser, width);
        for (scheme, rules) in SCHEMES {
            set_scheme(browser, scheme);
            let found = find_barriers(browser, rules);
            let found: Vec<&Value> = found.as_array().unwrap().iter().filter(|one| is_barrier(one)).collect();
            assert!(found.is_empty(), "{name} in {locale}, {width} px, {scheme}: {found:#?}");
        }
    }
    set_width(browser, NARROWEST);
    let wide = browser.value(
        "[document.documentElement.scrollWidth > document.documentElement.clientWidth, ...[...document.querySelectorAll('body *')]\
         .filter((one) => one.getBoundingClientRect().right > innerWidth && !one.closest('.wide'))\
         .map((one) => one.outerHTML.slice(0, 100))]",
    );
    assert_eq!(wide[0], json!(false), "{name} in {locale} scrolls sideways: {wide:#}");
}

#[rstest]
#[case::english("en")]
#[case::german("de")]
#[case::french("fr")]
#[case::spanish("es")]
#[tokio::test]
async fn no_document_has_barriers(#[case] locale: &str) {
    let Some(mut mails) = MailServer::start() else { return };
    let Some(browser) = Browser::start(OPTIONS) else { return };
    let server = mailing(&mails.variables());
    let client = server.tenant_in(&["en", "de", "fr", "es"]);
    let walked = WalkedPage::create(&server, client).await;
    let mut count = 0;
    walked.walk(&browser, &mut mails, locale, &mut |name| {
        let shown = browser.value("document.documentElement.lang");
        let expected = if name == "/nothing" { "en" } else { locale };
        assert_eq!(shown, json!(expected), "{name}");
        assert_accessible(&browser, locale, name);
        count += 1;
    });
    assert_eq!(count, 21);
}

/// A language without texts of its own, written from right to left.
#[tokio::test]
async fn languages_from_right_to_left_are_written_so() {
    let Some(mut mails) = MailServer::start() else { return };
    let Some(browser) = Browser::start(OPTIONS) else { return };
    let server = mailing(&mails.variables());
    let walked = WalkedPage::create(&server, server.tenant_in(&["ar", "en"])).await;
    walked.walk(&browser, &mut mails, "ar", &mut |name| {
        if name != "/nothing" {
            let written = browser.value("[document.documentElement.lang, document.dir]");
            assert_eq!(written, json!(["ar", "rtl"]), "{name}");
        }
        assert_accessible(&browser, "ar", name);
    });
}

#[tokio::test]
async fn a_printed_page_has_all_its_text_and_no_navigation() {
    let server = Server::shared();
    let client = server.tenant_in(&["en", "de"]);
    let Some(browser) = Browser::start(OPTIONS) else { return };
    let walked = WalkedPage::create(&server, client).await;
    for path in walked.paths().iter().take(5) {
        browser.visit(&walked.page.at(&format!("{path}?appearance=dark")));
        set_scheme(&browser, "dark");
        let on_screen = browser.value(HIDDEN);
        browser.command_devtools("Emulation.setEmulatedMedia", &json!({"media": "print", "features": []}));
        assert_eq!(browser.value(HIDDEN), json!([]), "{path}, on the screen {on_screen}");
        let shown = browser.value(
            "[...document.querySelectorAll('nav, .skip')].filter((one) => one.checkVisibility())\
             .map((one) => one.outerHTML)",
        );
        assert_eq!(shown, json!([]), "{path}");
        let ground = browser.value("getComputedStyle(document.body).backgroundColor");
        assert_eq!(ground, json!("rgb(255, 255, 255)"), "{path} needs no ink for its ground");
        let ink = browser.value("getComputedStyle(document.body).color");
        assert_eq!(ink, json!("rgb(27, 36, 48)"), "{path} is dark on light");
    }
}

/// Texts of the content that are not shown.
const HIDDEN: &str = "[...document.querySelectorAll('main *')].filter((one) => \
    [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()) && \
    !one.checkVisibility({contentVisibilityAuto: true, opacityProperty: true, visibilityProperty: true}))\
    .filter((one) => !one.closest('nav, .past')).map((one) => one.outerHTML.slice(0, 200))";
