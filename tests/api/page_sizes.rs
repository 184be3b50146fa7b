//! What a first visit to a large status page costs over the wire: 100 components with 90 days of troubles, and 1,000 components
//! in five levels.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::support::browser::{Browser, BrowserOptions};
use crate::support::client::Client;
use crate::support::moments::in_ms;
use crate::support::pages::{create_page, fresh, get_at, get_bytes, host_of, id_of, new_component};
use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{create, eventually};

const KIB: u64 = 1_024;
const DAYS: i64 = 90;
const DAY_MS: i64 = 86_400_000;
/// Requests of a first visit, with the stream of changes.
const REQUESTS_MAX: usize = 4;

/// A server with services that have a past, and a page that shows them.
struct LargePage {
    server: Server,
    host: String,
    _target: Target,
}

/// A number below `of` that looks random and is the same in every run (splitmix64).
const fn scattered(service: usize, day: i64, of: u64) -> u64 {
    let mut seed = (service as u64) << 32 | day.unsigned_abs();
    seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    seed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    seed = (seed ^ (seed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (seed ^ (seed >> 31)) % of
}

/// Results of 90 days every few hours. On one day in 50 a service was down, on one in 30 slow, on one in 50 not measured.
fn past(ids: &[String], hours: i64) -> String {
    let mut text = "service,location,time,status,response_time_ms\n".to_owned();
    for (service, id) in ids.iter().enumerate() {
        for day in 1..DAYS {
            let fate = scattered(service, day, 150);
            for hour in (0..24).step_by(usize::try_from(hours).unwrap()) {
                let status = match fate {
                    0..3 if hour == 12 => "down",
                    3..8 if hour >= 12 => "degraded",
                    8..11 if hour < 12 => continue,
                    _ => "up",
                };
                let at = in_ms(-day * DAY_MS + hour * 3_600_000);
                let _ = writeln!(text, "{id},fra,{at},{status},{}", 60 + fate);
            }
        }
    }
    text
}

impl LargePage {
    /// `build` creates the components of the page with this id.
    async fn create(services: usize, hours: i64, build: impl Fn(&Client, &str, &[String])) -> Self {
        let mut server = Server::with("", &[]);
        let client = server.client();
        let target = Target::start();
        let settings = json!({"interval_seconds": 604_800, "retries": 0});
        let service = |place: usize| {
            let body = json!({"name": format!("Service {place}"), "check_type": "http", "target": target.url(),
                "settings": settings});
            create(&client, &body)
        };
        let ids: Vec<String> = (0..services).map(service).collect();
        let page = create_page(&client, &json!({"slug": fresh("large"), "name": "Large shop"}));
        build(&client, &id_of(&page), &ids);
        eventually("every service was checked", || (target.requests().len() >= services).then_some(())).await;
        assert_eq!(server.terminate().await, Some(0));
        let path = server.data().join("past.csv");
        std::fs::write(&path, past(&ids, hours)).unwrap();
        let interval = (hours * 3_600).to_string();
        server.command_json(&["import", "--interval", &interval, path.to_str().unwrap()]);
        server.restart();
        let host = host_of(&page);
        let client = server.client();
        eventually("all bars are shown", || {
            let html = get_at(&client, &host, "/").expect(200).body;
            let count = |text: &str| html.matches(text).count();
            let has_past =
                count("class=\"gap\"") > services / 2 && count("class=\"degraded\"") > services / 2;
            (has_past && count("<a class=\"bar\"") == services).then_some(())
        })
        .await;
        Self { server, host, _target: target }
    }

    /// Bytes of the document as it is sent in each coding.
    fn document_bytes(&self) -> Vec<(&'static str, usize)> {
        let client = self.server.client();
        ["identity", "gzip", "br", "zstd"]
            .map(|coding| (coding, get_bytes(&client, &self.host, "/", coding).1.len()))
            .to_vec()
    }

    /// Visits the page for the first time; returns the bytes and the number of its requests.
    async fn visit(&self) -> Option<(u64, usize)> {
        let browser = Browser::start(BrowserOptions { width: 1_280, runs_scripts: true })?;
        let address = format!("http://{}:{}", self.host, self.server.client().address.port());
        browser.requests();
        browser.visit(&format!("{address}/"));
        eventually("the stream is open", || {
            (browser.value("'live' in document.body.dataset") == json!(true)).then_some(())
        })
        .await;
        let requests: Vec<String> =
            browser.requests().into_iter().filter(|url| !url.starts_with("data:")).collect();
        assert!(requests.iter().all(|url| url.starts_with(&address)), "{requests:?}");
        let entries = browser.value(
            "performance.getEntriesByType('navigation').concat(performance.getEntriesByType('resource'))\
             .map((one) => [one.name, one.transferSize])",
        );
        println!("{entries}, {requests:?}");
        let sizes = entries.as_array().unwrap().iter().map(|entry: &Value| entry[1].as_u64().unwrap());
        Some((sizes.sum(), requests.len()))
    }
}

#[tokio::test]
async fn a_page_with_a_hundred_components_is_small() {
    let page = LargePage::create(100, 6, |client, page, ids| {
        for (place, id) in ids.iter().enumerate() {
            let name =
                format!("{} {place}", ["Checkout", "Search", "Payments API", "Mail", "Reports"][place % 5]);
            new_component(client, page, &json!({"name": name, "service_id": id}));
        }
    })
    .await;
    let sizes = page.document_bytes();
    println!("100 components: {sizes:?}");
    let Some((bytes, requests)) = page.visit().await else { return };
    println!("100 components: {bytes} bytes in {requests} requests");
    assert!(requests <= REQUESTS_MAX, "{requests}");
    assert!(bytes <= 50 * KIB, "{bytes} bytes");
}

/// 330 groups in four levels, and 670 components in the fifth.
#[tokio::test]
async fn a_page_with_a_thousand_components_in_five_levels_is_small() {
    const LEVELS: [usize; 4] = [5, 25, 100, 200];
    const LEAVES: usize = 670;
    let page = LargePage::create(LEAVES, 12, |client, page, ids| {
        let mut parents: Vec<String> = Vec::new();
        for (level, count) in LEVELS.into_iter().enumerate() {
            let group = |place: usize| {
                let parent = parents.get(place * parents.len() / count);
                let body =
                    json!({"name": format!("Region {level}.{place}"), "is_group": true, "parent_id": parent});
                new_component(client, page, &body)
            };
            parents = (0..count).map(group).collect();
        }
        for (place, id) in ids.iter().enumerate() {
            let parent = &parents[place * parents.len() / ids.len()];
            let name =
                format!("{} {place}", ["Checkout", "Search", "Payments API", "Mail", "Reports"][place % 5]);
            new_component(client, page, &json!({"name": name, "service_id": id, "parent_id": parent}));
        }
    })
    .await;
    let sizes = page.document_bytes();
    println!("1,000 components: {sizes:?}");
    let Some((bytes, requests)) = page.visit().await else { return };
    println!("1,000 components: {bytes} bytes in {requests} requests");
    assert!(requests <= REQUESTS_MAX, "{requests}");
    assert!(bytes <= 120 * KIB, "{bytes} bytes");
}
