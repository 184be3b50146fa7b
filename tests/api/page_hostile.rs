//! Hostile texts in every field that a visitor can see stay texts: in documents, feeds, badges, frames, forms and mails. The
//! real browser reads all of them.

mod mails;
mod sheets;
mod texts;

use serde_json::{Value, json};

use crate::page_hostile::texts::HOSTILE_TEXTS;
use crate::support::browser::{Browser, BrowserOptions};
use crate::support::client::{Answer, Client};
use crate::support::create;
use crate::support::moments::in_ms;
use crate::support::pages::{create_page, fresh, get_at, host_of, id_of, send_form, statuspage};
use crate::support::server::Server;

const OPTIONS: BrowserOptions = BrowserOptions { width: 1_280, runs_scripts: true };
/// The functions that look for what no text may bring into a document.
const INSPECTION: &str = include_str!("../browser/inspect.js");
/// The longest title, name of a component and name of a page.
const TITLE_LENGTH: usize = 255;
/// A part of the page in each of which a text is shown by itself.
const GROUP_SIZE: usize = 16;

/// All texts on as few lines as titles allow.
fn hostile_lines() -> Vec<String> {
    let mut lines = vec![String::new()];
    for text in HOSTILE_TEXTS.iter().filter(|text| !text.contains(char::is_control)) {
        let last = lines.last_mut().unwrap();
        if last.chars().count() + text.chars().count() >= TITLE_LENGTH {
            lines.push((*text).to_owned());
        } else {
            *last = format!("{last} {text}");
        }
    }
    lines.retain(|line| line.chars().count() <= TITLE_LENGTH);
    lines
}

/// What was accepted; `None` for a text with control characters that was refused.
#[track_caller]
fn accepted(answer: &Answer, text: &str) -> Option<Value> {
    let may_be_refused = text.contains(|c: char| c.is_control() || c == '\u{feff}') || text.trim().is_empty();
    if answer.status == 422 && may_be_refused {
        return None;
    }
    assert!([200, 201].contains(&answer.status), "{text:?}: {}", answer.body);
    Some(answer.data())
}

/// Documents for the browser to inspect: their kind, a word about each, and the text.
struct Inspected(Vec<Value>);

impl Inspected {
    fn add(&mut self, kind: &str, label: &str, text: &str) {
        self.0.push(json!([kind, label, text]));
    }

    fn get(&mut self, client: &Client, host: &str, paths: &[(&str, &str)]) {
        for (kind, path) in paths {
            let answer = get_at(client, host, path).expect(200);
            assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
            self.add(kind, path, &answer.body);
        }
    }

    /// Inspects all of them in a document without a content security policy.
    fn assert_harmless(self, browser: &Browser) {
        browser.visit("about:blank");
        for some in self.0.chunks(100) {
            let found = browser.call(&format!("{INSPECTION}; return inspectAll(arguments[0])"), &json!(some));
            assert_eq!(found, json!([]), "{found:#}");
        }
    }
}

/// Looks at a page with scripts on: it has only what templates bring, asks no other host and reports nothing.
fn assert_harmless_live(browser: &Browser, address: &str, kind: &str) {
    browser.requests();
    browser.visit(address);
    let found = browser
        .call(&format!("{INSPECTION}; return inspect(document, location.href, arguments[0])"), &json!(kind));
    assert_eq!(found, json!([]), "{address}: {found:#}");
    let turning = browser.value(&format!("(() => {{ {INSPECTION}; return turning() }})()"));
    assert_eq!(turning, json!([]), "{address} turns around what stands beside a text: {turning:#}");
    let origin = browser.value("location.origin");
    let origin = origin.as_str().unwrap();
    let is_own = |url: &&String| url.starts_with(&format!("{origin}/")) || *url == "data:,";
    let requests = browser.requests();
    let foreign: Vec<&String> = requests.iter().filter(|url| !is_own(url)).collect();
    assert!(foreign.is_empty() && !requests.is_empty(), "{address}: {requests:?}");
    assert_eq!(browser.errors(), Vec::<String>::new(), "{address}");
}

/// A page on which each text is the name and the description of a component, the text of an incident, and a part of a title.
struct HostilePage {
    host: String,
    address: String,
    /// Paths of documents of each kind.
    documents: Vec<String>,
    components: Vec<String>,
}

impl HostilePage {
    fn create(client: &Client) -> Self {
        let fields = json!({"slug": fresh("hostile"), "show_unlinked_services": true,
            "subscriber_channels": ["webhook", "telegram"]});
        let page = create_page(client, &fields);
        let (id, host) = (id_of(&page), host_of(&page));
        let components = Self::create_components(client, &id);
        let mut documents =
            vec!["/".to_owned(), "/de/".to_owned(), format!("/history/{}", &in_ms(0).date()[..7])];
        documents.extend(components.iter().take(2).map(|id| format!("/components/{id}")));
        let incident = Self::create_incident(client, &id);
        documents.push(format!("/incidents/{incident}"));
        for (place, line) in hostile_lines().iter().enumerate() {
            let service = create(client, &json!({"name": line, "check_type": "manual"}));
            let body = json!({"title": {"en": line, "de": line}, "message": line, "is_published": true,
                "statuspage_ids": [id], "service_ids": [service]});
            let made = client.post("/v1/incidents", &body).expect(201).data();
            let body = json!({"title": line, "message": line, "statuspage_ids": [id], "service_ids": [service],
                "scheduled_start": in_ms(86_400_000).to_string()});
            let planned = client.post("/v1/maintenances", &body).expect(201).data();
            if place < 2 {
                documents.push(format!("/incidents/{}", id_of(&made)));
                documents.push(format!("/maintenances/{}", id_of(&planned)));
            }
        }
        let address = format!("http://{host}:{}", client.address.port());
        Self { host, address, documents, components }
    }

    /// A tree of components, in groups.
    fn create_components(client: &Client, page: &str) -> Vec<String> {
        let mut components = Vec::new();
        let mut group = None;
        for (place, text) in HOSTILE_TEXTS.iter().enumerate() {
            let is_group = place % GROUP_SIZE == 0;
            let body = json!({"name": text, "description": text, "is_group": is_group,
                "parent_id": if is_group { None } else { group.clone() }});
            let answer = client.post(&format!("{}/components", statuspage(page)), &body);
            let Some(made) = accepted(&answer, text) else { continue };
            group = if is_group { Some(id_of(&made)) } else { group };
            components.push(id_of(&made));
        }
        components
    }

    /// An incident with an entry for each text.
    fn create_incident(client: &Client, page: &str) -> String {
        let body = json!({"title": "Updates", "message": "We look.", "is_published": true, "statuspage_ids": [page]});
        let incident = id_of(&client.post("/v1/incidents", &body).expect(201).data());
        for text in HOSTILE_TEXTS {
            let body = json!({"status": "identified", "message": text});
            accepted(&client.post(&format!("/v1/incidents/{incident}/updates"), &body), text);
        }
        incident
    }
}

#[tokio::test]
async fn hostile_texts_stay_texts_in_every_document() {
    assert!(HOSTILE_TEXTS.len() >= 200);
    let server = Server::shared();
    let client = server.bilingual_tenant();
    let Some(browser) = Browser::start(OPTIONS) else { return };
    let page = HostilePage::create(&client);
    for path in &page.documents {
        assert_harmless_live(&browser, &format!("{}{path}", page.address), "page");
    }
    assert_harmless_live(&browser, &format!("{}/subscribe", page.address), "form");
    assert_harmless_live(&browser, &format!("{}/embed", page.address), "frame");
    let mut inspected = Inspected(Vec::new());
    for id in &page.components {
        let paths = [("page", ""), ("drawing", "/badge/status.svg"), ("drawing", "/badge/uptime.svg")];
        let paths = paths.map(|(kind, rest)| (kind, format!("/components/{id}{rest}")));
        let found = paths.map(|(kind, path)| (kind, path.clone(), get_at(&client, &page.host, &path)));
        for (kind, path, answer) in found {
            // A group has no uptime.
            if answer.status != 404 || kind == "page" {
                inspected.add(kind, &path, &answer.expect(200).body);
            }
        }
    }
    for path in ["/history.atom", "/history.rss", "/history.atom?each=update", "/history.rss?each=update"] {
        inspected.get(&client, &page.host, &[("feed", path)]);
    }
    let feed = get_at(&client, &page.host, "/feed.json?each=update").expect(200).json();
    for item in feed["items"].as_array().unwrap() {
        inspected.add("markdown", "/feed.json", item["content_html"].as_str().unwrap());
    }
    assert!(inspected.0.len() > 2 * HOSTILE_TEXTS.len());
    assert_calendar(&get_at(&client, &page.host, "/maintenances.ics").expect(200).body);
    for path in ["summary", "components", "incidents", "scheduled-maintenances"] {
        let answer = get_at(&client, &page.host, &format!("/api/v2/{path}.json")).expect(200);
        assert_eq!(answer.header("content-type"), Some("application/json; charset=utf-8"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        answer.json();
    }
    inspected.assert_harmless(&browser);
}

/// No text begins a line of its own in the calendar.
fn assert_calendar(text: &str) {
    let known = "BEGIN END VERSION PRODID CALSCALE METHOD NAME X-WR-CALNAME REFRESH-INTERVAL X-PUBLISHED-TTL UID DTSTAMP \
        DTSTART DTEND SUMMARY DESCRIPTION URL STATUS SEQUENCE LAST-MODIFIED CREATED CATEGORIES TRANSP SOURCE";
    assert!(text.matches("\r\n").count() == text.matches('\n').count() && !text.contains("\r\r"));
    for line in text.replace("\r\n ", "").split_terminator("\r\n") {
        let name = line.split([':', ';']).next().unwrap();
        assert!(known.split_whitespace().any(|known| known == name), "{line}");
        assert!(
            !name.is_empty() && !line.contains("ATTACH:")
                || line.starts_with("SUMMARY")
                || line.starts_with("DESC")
        );
    }
    let (begun, lines) = (text.matches("\r\nBEGIN:VEVENT\r\n").count(), hostile_lines().len());
    assert_eq!((begun, text.matches("\r\nEND:VEVENT\r\n").count()), (lines, lines));
}

/// Texts of which a page has one: its name, those for search engines and previews, and the links of the footer; and what
/// visitors enter.
#[tokio::test]
async fn hostile_texts_stay_texts_in_the_fields_of_a_page() {
    let server = Server::shared();
    let client = server.bilingual_tenant();
    let Some(browser) = Browser::start(OPTIONS) else { return };
    let page = create_page(&client, &json!({"slug": fresh("hostile"), "subscriber_channels": ["webhook"]}));
    let (id, host) = (id_of(&page), host_of(&page));
    let path = statuspage(&id);
    let mut inspected = Inspected(Vec::new());
    for text in HOSTILE_TEXTS {
        let cut = |most: usize| text.chars().take(most).collect::<String>();
        accepted(&client.patch(&path, &json!({"name": {"en": text, "de": text}})), text);
        let seo = json!({"title": {"en": cut(70)}, "description": {"en": cut(160)}, "image_subtitle": {"en": cut(90)}});
        accepted(&client.patch(&path, &json!({ "seo": seo })), text);
        for (field, url) in [
            ("imprint_url", (*text).to_owned()),
            ("privacy_policy_url", format!("https://a.example/{text}")),
            ("imprint_url", format!("mailto:a@a.example?{text}")),
        ] {
            // Nothing but an http, https or mailto URL is accepted.
            assert!([200, 422].contains(&client.patch(&path, &json!({ field: url })).status), "{url}");
        }
        let paths = [
            ("page", "/"),
            ("frame", "/embed"),
            ("form", "/subscribe"),
            ("drawing", "/badge/status.svg"),
            ("feed", "/history.atom"),
            ("feed", "/history.rss"),
        ];
        inspected.get(&client, &host, &paths);
        let entered = [("channel", "webhook"), ("address", text), ("component", text), ("language", text)];
        let answer = send_form(&client, &host, "/subscribe", &entered);
        assert!(answer.status == 422 || answer.status == 200, "{text:?}: {}", answer.body);
        inspected.add("form", "/subscribe", &answer.body);
    }
    let label: String = url::form_urlencoded::byte_serialize(HOSTILE_TEXTS.concat().as_bytes()).collect();
    for label in [&label[..3_000], "%00%01%0d%0a%3C/svg%3E"] {
        inspected.get(&client, &host, &[("drawing", &format!("/badge/status.svg?label={label}"))]);
    }
    inspected.assert_harmless(&browser);
    let address = format!("http://{host}:{}", client.address.port());
    for line in hostile_lines().iter().step_by(8) {
        client.patch(&path, &json!({"name": {"en": line, "de": line}})).expect(200);
        assert_harmless_live(&browser, &format!("{address}/"), "page");
    }
}
