//! Reliability 15, the whole process: a start whose clock is 400 days ahead serves, says so, and deletes nothing; when the
//! operator says that the clock is right, what is old enough is deleted.
//!
//! In this process, for no test sets the clock of the machine.

use std::path::Path;
use std::time::Duration;

use actix::System;
use serde_json::{Value, json};
use watchkeeper::app::App;
use watchkeeper::clock::{Clock, DAY_MS, Timestamp};
use watchkeeper::config::limits::StoreLimits;
use watchkeeper::config::{Config, PlanSettings, PlanValue};
use watchkeeper::model::check::{CheckStatus, Measurement, PhaseTimings};
use watchkeeper::model::history::MeasuredStatus::{Down, Unknown, Up};
use watchkeeper::model::history::{ChangeCause, CheckRecord, StatusChange};
use watchkeeper::model::service::ProbeRole;
use watchkeeper::store::Databases;
use watchkeeper::store::database::sqlite_url;
use watchkeeper::store::history::locations::LocationNumbers;
use watchkeeper::store::history::{append, changes, segments};
use watchkeeper::supervise::Supervisor;

use crate::support::client::Client;

/// A noon.
const START: Timestamp = Timestamp::from_ms(20_000 * DAY_MS + DAY_MS / 2);
/// As long as some passes of the compaction take.
const SOME_PASSES: Duration = Duration::from_millis(1_500);

async fn start(folder: &Path, days_ahead: i64, trust_clock: bool) -> App {
    let mut config = Config {
        listen: "127.0.0.1:0".parse().unwrap(),
        data_dir: folder.to_owned(),
        trust_clock,
        ..Config::default()
    };
    let retention = [("retention_days".to_owned(), PlanValue("90".into()))];
    config.plans = PlanSettings([("business".to_owned(), retention.into())].into());
    config.compaction.pass_ms = 100;
    config.record.upkeep_ms = 100;
    let clock = Clock::driven(START.plus_ms(days_ahead * DAY_MS));
    App::start(config, clock, Supervisor::default()).await.unwrap()
}

async fn open(folder: &Path) -> Databases {
    let url = |name: &str| sqlite_url(&folder.join(name));
    Databases::open(&url("main.db"), &url("history.db"), &StoreLimits::default()).await.unwrap()
}

/// A result of two days ago, and status changes of the last year, of the first service.
async fn remember(databases: &Databases) {
    let check = CheckRecord {
        service: 1,
        location: "local".parse().unwrap(),
        role: ProbeRole::Full,
        scheduled_at: START.plus_ms(-2 * DAY_MS),
        checked_at: START.plus_ms(-2 * DAY_MS),
        attempt: 1,
        measurement: Measurement {
            status: CheckStatus::Up,
            response_time: None,
            timings: PhaseTimings::default(),
            status_code: None,
            failure: None,
        },
    };
    let moves = [(300, Unknown, Up), (200, Up, Down), (100, Down, Up)];
    let moves = moves.map(|(days_ago, from, to)| StatusChange {
        service: 1,
        at: START.plus_ms(-days_ago * DAY_MS),
        from,
        to,
        cause: ChangeCause::Votes,
    });
    let transaction = databases.history.begin().await.unwrap();
    let numbers = LocationNumbers::ensure(&transaction, &["local".parse().unwrap()]).await.unwrap();
    append::checks(&transaction, databases.history.storage(), &[check], &numbers).await.unwrap();
    append::changes(&transaction, &moves).await.unwrap();
    transaction.commit().await.unwrap();
}

/// Segments that are not retired, and status changes.
async fn left(databases: &Databases) -> (usize, usize) {
    let reader = databases.history.reader();
    let segments = segments::visible(reader).await.unwrap().len();
    (segments, changes::since(reader, 1, Timestamp::from_ms(0)).await.unwrap().len())
}

/// Asks from a thread of its own: this one serves.
async fn ask<T: Send + 'static>(
    app: &App,
    token: Option<String>,
    question: impl FnOnce(Client) -> T + Send + 'static,
) -> T {
    let client = Client { address: app.listen.local_address(), token, _server: None };
    tokio::task::spawn_blocking(move || question(client)).await.unwrap()
}

async fn ready(app: &App) -> Value {
    ask(app, None, |client| client.get("/readyz").expect(200).json()).await
}

#[test]
fn a_start_with_a_wrong_clock_deletes_nothing_and_warns() {
    System::new().block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let app = start(&data, 0, false).await;
        let token = app.first_start.as_ref().map(|made| made.token.clone());
        let service = json!({"name": "watched", "check_type": "heartbeat"});
        ask(&app, token, move |client| client.post("/v1/services", &service).expect(201)).await;
        let databases = open(&data).await;
        remember(&databases).await;
        let mut sealed = 0;
        while sealed == 0 {
            tokio::time::sleep(Duration::from_millis(50)).await;
            sealed = left(&databases).await.0;
        }
        app.stop().await.unwrap();

        let app = start(&data, 400, false).await;
        tokio::time::sleep(SOME_PASSES).await;
        // The start itself may note the gap.
        let (results, changes) = left(&databases).await;
        assert!(results == 1 && changes >= 3, "{results} results and {changes} changes are left");
        let ready_there = ready(&app).await;
        let warning = ready_there["warnings"][0].as_str().unwrap();
        // Whole days: 399 when the first start has lived for a moment.
        let is_told =
            |days: u16| warning.starts_with(&format!("the clock is {days} days ahead of the newest time"));
        assert!(is_told(399) || is_told(400), "{warning}");
        let metrics = ask(&app, None, |client| client.get("/metrics").expect(200).body).await;
        assert!(metrics.contains("\nwatchkeeper_clock_trusted 0\n"), "{metrics}");
        app.stop().await.unwrap();

        let app = start(&data, 400, true).await;
        let gone = tokio::time::timeout(Duration::from_secs(30), async {
            loop {
                let seen = left(&databases).await;
                if seen.0 == 0 && seen.1 < changes {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
        assert!(gone.await.is_ok(), "{:?}", left(&databases).await);
        assert_eq!(ready(&app).await["warnings"], Value::Null);
        app.stop().await.unwrap();
        databases.main.close().await;
        databases.history.close().await;
    });
}
