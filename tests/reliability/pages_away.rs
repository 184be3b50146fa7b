//! Both databases are away for ten minutes: a page that was shown before is shown on, marked with the time of its data, as one
//! and the same representation; and without the mark as soon as the databases are back.

use std::time::Duration;

use serde_json::json;

use crate::support::client::{Answer, Client};
use crate::support::clock_library::ClockLibrary;
use crate::support::eventually;
use crate::support::pages::{create_page, get_at, host_of, id_of, new_component, visit};
use crate::support::postgres::Postgres;
use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{create, until_status};

const AWAY_SECONDS: u32 = 600;
/// The steps in which the clock passes the ten minutes.
const STEP_SECONDS: usize = 200;
const MARK: &str = "As of <time";

/// A document in each form: as a page, of a component, for programs, as a feed and as a badge.
fn all(client: &Client, host: &str, component: &str) -> Vec<Answer> {
    [
        "/",
        &format!("/components/{component}"),
        "/api/v2/summary.json",
        "/history.atom",
        "/badge/status.svg",
        "/embed",
    ]
    .map(|path| get_at(client, host, path).expect(200))
    .into_iter()
    .collect()
}

fn tags(answers: &[Answer]) -> Vec<String> {
    answers.iter().map(|answer| answer.header("etag").unwrap().to_owned()).collect()
}

#[tokio::test]
async fn pages_are_shown_while_both_databases_are_away_for_ten_minutes() {
    let Some(clock) = ClockLibrary::find() else { return };
    let Some(postgres) = Postgres::start() else { return };
    postgres.answer("postgres", &["CREATE DATABASE history"]);
    let (main, history) = (postgres.url(), postgres.url_of("history"));
    let of_clock = clock.variables();
    let mut variables = vec![("WATCHKEEPER_DATABASE_URL", &*main), ("WATCHKEEPER_HISTORY_URL", &*history)];
    variables.extend(of_clock.iter().map(|(name, value)| (*name, value.as_str())));
    let server = Server::with("", &variables);
    let client = server.client();
    let target = Target::start();
    let body = json!({"name": "Shop", "check_type": "http", "target": target.url(),
        "settings": {"interval_seconds": 604_800}});
    let id = create(&client, &body);
    until_status(&client, &id, "up").await;
    let page = create_page(&client, &json!({"slug": "lasting", "name": "Lasting"}));
    let component = new_component(&client, &id_of(&page), &json!({"service_id": id}));
    let host = host_of(&page);
    eventually("the bar is shown", || {
        get_at(&client, &host, "/").expect(200).body.contains("class=\"bar\"").then_some(())
    })
    .await;
    let before = all(&client, &host, &component);
    assert!(before.iter().all(|answer| !answer.body.contains(MARK)));

    postgres.stop();
    eventually("the page is marked", || {
        let marked = |path: &str| get_at(&client, &host, path).expect(200).body.contains(MARK);
        (marked("/") && marked(&format!("/components/{component}"))).then_some(())
    })
    .await;
    let marked = all(&client, &host, &component);
    let line = marked[0].body.split(MARK).nth(1).unwrap().split("</time>").next().unwrap().to_owned();
    for seconds in (0..=AWAY_SECONDS).step_by(STEP_SECONDS) {
        clock.set_ahead(seconds);
        // So that the server tries to read its databases in between.
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        let shown = all(&client, &host, &component);
        assert!(
            shown[0].body.contains(&line),
            "the time of the data has changed from {line}: {}",
            shown[0].body
        );
        assert_eq!(tags(&shown), tags(&marked), "{seconds} s");
        let known = format!("If-None-Match: {}", marked[0].header("etag").unwrap());
        visit(&client, "GET", &host, "/", &[&known]).expect(304);
    }
    assert_ne!(tags(&marked)[0], tags(&before)[0]);

    postgres.start_again();
    let after = eventually("the page is read again", || {
        let answer = get_at(&client, &host, "/").expect(200);
        (!answer.body.contains(MARK)).then_some(answer)
    })
    .await;
    assert!(after.body.contains("<h1>Lasting</h1>"), "{}", after.body);
    for answer in all(&client, &host, &component) {
        assert!(!answer.body.contains(MARK), "{}", answer.body);
    }
}
