//! A server that is killed and starts again ten minutes later: the page says that nobody has watched meanwhile, for exactly
//! that time, and does not count it as an outage.

use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::clock_library::ClockLibrary;
use crate::support::moments::in_ms;
use crate::support::pages::{create_page, get_at, host_of, id_of, new_component};
use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{create, eventually, service, until_checks, until_status};

const AWAY_SECONDS: u32 = 600;
const AWAY_MS: i64 = AWAY_SECONDS as i64 * 1_000;
/// The time for which a result counts: a check every second.
const CHECK_MS: i64 = 2_000;
/// A busy machine may need as long for a check, and for a start.
const SLACK_MS: i64 = 60_000;

/// The days of the uptime of a service.
fn today(client: &Client, id: &str) -> Value {
    client.get(&format!("{}/uptime?days=1", service(id))).expect(200).data()
}

#[tokio::test]
async fn a_killed_server_shows_no_data_for_exactly_the_time_away() {
    let Some(clock) = ClockLibrary::find() else { return };
    let target = Target::start();
    let mut server = Server::with("", &[]);
    let client = server.client();
    let settings = json!({"interval_seconds": 1, "retries": 0});
    let body = json!({"name": "Shop", "check_type": "http", "target": target.url(), "settings": settings});
    let id = create(&client, &body);
    until_status(&client, &id, "up").await;
    until_checks(&client, &id, 5).await;
    let page = create_page(&client, &json!({"slug": "killed"}));
    let component = new_component(&client, &id_of(&page), &json!({"service_id": id}));
    let (host, path) = (host_of(&page), format!("/components/{component}"));
    let before = today(&client, &id);
    let shown = get_at(&client, &host, &path).expect(200).body;
    assert!(shown.contains("100 % uptime") && !shown.contains("No data</span> <time"), "{shown}");

    server.kill();
    let killed_at = in_ms(0);
    clock.set_ahead(AWAY_SECONDS);
    clock.give_to(&mut server);
    server.restart();
    let client = server.client();
    let path_of_changes = format!("{}/status-changes", service(&id));
    // Newest first: up, nothing decided yet, no data.
    let [back, gap] = eventually("the time without data is over", || {
        let changes = client.get(&path_of_changes).expect(200).data();
        let changes = changes.as_array().unwrap();
        let gap = changes.iter().position(|one| one["to"] == "no_data")?;
        let back = changes[..gap].iter().rfind(|one| one["to"] == "up")?;
        Some([back.clone(), changes[gap].clone()])
    })
    .await;
    let [from, to] = [&gap, &back].map(|one| one["at"].as_str().unwrap().to_owned());
    let ms = |text: &str| chrono::DateTime::parse_from_rfc3339(text).unwrap().timestamp_millis();
    println!("no data from {from} to {to}, killed at {killed_at}");
    let expected = killed_at.ms() - SLACK_MS..=killed_at.ms() + CHECK_MS;
    assert!(expected.contains(&ms(&from)), "{gap}, killed at {killed_at}");
    assert!((AWAY_MS - CHECK_MS..=AWAY_MS + 2 * SLACK_MS).contains(&(ms(&to) - ms(&from))), "{gap} {back}");
    // The days are read again a moment after the verdict has changed.
    let period = format!("No data</span> <time datetime=\"{from}\">");
    let end = format!("<time datetime=\"{to}\">");
    let shown = eventually("the page shows both edges", || {
        let shown = get_at(&client, &host, &path).expect(200).body;
        let (_, rest) = shown.split_once(&period)?;
        rest.split("</li>").next()?.contains(&end).then_some(shown)
    })
    .await;
    assert_eq!(shown.matches("No data</span> <time").count(), 1, "{shown}");
    let after = today(&client, &id);
    let home = get_at(&client, &host, "/").expect(200).body;
    assert!(home.contains("class=\"gap\""), "{home}");
    // Not an outage: the same uptime, of less of the time.
    assert!(shown.contains("100 % uptime, ") && !shown.contains("100 % of the time measured"), "{shown}");
    for day in [&before[0], &after[0]] {
        assert_eq!((&day["uptime_percent"], &day["downtime_seconds"]), (&json!(100.0), &json!(0)), "{day}");
    }
    let unmeasured = |days: &Value| days[0]["unmeasured_seconds"].as_i64().unwrap();
    let added_ms = (unmeasured(&after) - unmeasured(&before)) * 1_000;
    assert!((AWAY_MS - CHECK_MS..=AWAY_MS + 2 * SLACK_MS).contains(&added_ms), "{before} {after}");
}
