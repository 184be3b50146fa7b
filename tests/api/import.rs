//! `watchkeeper import`: what other tools have measured, seen afterwards as if it had been measured here.
//!
//! The server is stopped while its files are written, and queried afterwards.

use std::path::PathBuf;
use std::process::Output;
use std::time::Duration;

use rstest::rstest;
use sea_orm::EntityTrait as _;
use serde_json::{Value, json};
use watchkeeper::clock::judgement::ClockMark;
use watchkeeper::clock::{DAY_MS, Timestamp};
use watchkeeper::config::limits::StoreLimits;
use watchkeeper::store::Databases;
use watchkeeper::timetable::wall_clock;
use watchkeeper_entities::history_progress;

use crate::support::client::Client;
use crate::support::moments::in_ms;
use crate::support::server::Server;
use crate::support::{create, service};

const MINUTE_MS: i64 = 60_000;

/// A service that is checked once, at a closed port.
fn created(client: &Client, name: &str) -> String {
    let settings = json!({"interval_seconds": 604_800, "retries": 0});
    let body = json!({"name": name, "check_type": "tcp", "target": "127.0.0.1:9", "settings": settings});
    create(client, &body)
}

/// A stopped server with a service, whose first own result is stored.
async fn stopped() -> (Server, String) {
    let mut server = Server::start();
    let id = created(&server.client(), "Shop");
    crate::support::until_checks(&server.client(), &id, 1).await;
    server.kill();
    (server, id)
}

fn file(server: &Server, name: &str, text: &str) -> String {
    let path: PathBuf = server.data().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn summary(server: &Server, arguments: &[&str]) -> Value {
    server.command_json(&[&["import", "--interval", "60"], arguments].concat())
}

/// Midnight, the given number of days ago.
fn midnight(days_ago: i64) -> i64 {
    (in_ms(0).day() - days_ago) * DAY_MS
}

/// Results of one day, every minute; `down` from noon for the given number of minutes.
fn day(start_ms: i64, down_minutes: i64) -> impl Iterator<Item = (i64, bool)> {
    let is_down = move |minute: &i64| (720..720 + down_minutes).contains(minute);
    (0..1_440).map(move |minute| (start_ms + minute * MINUTE_MS, !is_down(&minute)))
}

/// A clock that is far from the newest time that the installation has seen: an import would take all that is kept for
/// too old.
#[tokio::test]
async fn nothing_is_imported_with_an_untrusted_clock() {
    let (server, id) = stopped().await;
    let [main, history] = server.urls();
    let databases = Databases::open(&main, &history, &StoreLimits::default()).await.unwrap();
    let mark = ClockMark { newest: in_ms(-400 * DAY_MS), doubted: None };
    wall_clock::keep(&databases, mark).await.unwrap();
    databases.main.close().await;
    databases.history.close().await;
    let line = format!("service,location,time,status\n{id},fra,{},up\n", midnight(1));
    let path = file(&server, "a.csv", &line);
    let refused = server.command(&["import", &path]);
    assert_eq!(refused.status.code(), Some(2));
    let said = stderr(&refused);
    assert!(
        said.contains("the clock is 400 days ahead of the newest time") && said.contains("--trust-clock"),
        "{said}"
    );
    assert_eq!(summary(&server, &["--trust-clock", &path])["stored"], 1);
}

/// Contract 4.3.1, 4.7: the imported time counts, and the history begins with it.
#[tokio::test]
async fn imported_days_have_uptime() {
    let (mut server, id) = stopped().await;
    let mut csv = String::from("service,location,time,status,response_time_ms\n");
    for (at, is_up) in day(midnight(3), 0) {
        csv += &format!("{id},fra,{at},{},{}\n", i32::from(is_up), if is_up { "81.5" } else { "" });
    }
    let mut json_lines = String::new();
    for (at, is_up) in day(midnight(2), 144) {
        json_lines +=
            &format!("{}\n", json!({"service": "Shop", "location": "fra", "time": at, "status": is_up}));
    }
    let files = [file(&server, "a.csv", &csv), file(&server, "b.jsonl", &json_lines)];
    // The later day first: what is imported is put in order.
    for (path, repeats) in [(&files[1], false), (&files[0], false), (&files[0], true), (&files[1], true)] {
        let done = summary(&server, &[path]);
        let (stored, there) = if repeats { (0, 1_440) } else { (1_440, 0) };
        let counts =
            ["read", "stored", "already_there", "stored_before", "too_old", "bad"].map(|key| &done[key]);
        assert_eq!(counts, [1_440, stored, there, 0, 0, 0].map(|count| json!(count)).each_ref(), "{done}");
        assert_eq!(done["services"][0]["id"], id.as_str());
    }
    server.restart();
    let client = server.client();
    let uptime = client.get(&format!("{}/uptime?days=4", service(&id))).expect(200).data();
    let of_day = |at: usize| (uptime[at]["uptime_percent"].clone(), uptime[at]["downtime_seconds"].clone());
    assert_eq!(of_day(0), (json!(100.0), json!(0)), "{uptime}");
    assert_eq!(of_day(1), (json!(90.0), json!(8_640)), "{uptime}");
    assert_eq!(uptime[2]["status"], "no_data", "{uptime}");
    let shown = client.get(&service(&id)).expect(200).data();
    assert_eq!(shown["configured_at"], Timestamp::from_ms(midnight(3)).to_string());
    assert_eq!(shown["status"], "down", "what was measured here decides what is now");
}

/// Contract 4.5, 4.8: every column is shown again; figures count it.
#[rstest]
#[case::csv("new.csv")]
#[case::json_lines("new.jsonl")]
#[tokio::test]
async fn every_column_is_read_back(#[case] name: &str) {
    let (mut server, id) = stopped().await;
    let (up_at, down_at) = (in_ms(-8 * MINUTE_MS), in_ms(-7 * MINUTE_MS));
    let timings =
        json!({"dns": 3.125, "connect": 1.0, "tls": 20.5, "ttfb": 50.0, "transfer": 0.25, "total": 81.5});
    let text = if name == "new.csv" {
        format!(
            "time,Location,service,status,attempt,scheduled_at,response_time_ms,status_code,error_code,error_message,\
            dns,connect,tls,ttfb,transfer,total\r\n\
            {up_at},mars-1,Shop,up,,,82,200,,,3.125,1,20.5,50,0.25,81.5\r\n\
            {},mars-1,{id},DOWN,3,{up_at},,503,http_timeout,\"slow, \"\"very\"\"\",,,,,,\r\n",
            down_at.ms()
        )
    } else {
        let up = json!({"service": id, "checked_at": up_at.to_string(), "probe": "mars-1", "status": "up",
            "response_time_ms": 82, "status_code": 200, "timings": timings, "error_code": null});
        let down = json!({"service": "Shop", "time": down_at.ms(), "location": "mars-1", "status": false, "attempt": 3,
            "scheduled_at": up_at.to_string(), "status_code": 503, "error_code": "http_timeout",
            "error_message": "slow, \"very\""});
        format!("{up}\n\n{down}\n")
    };
    let path = file(&server, name, &text);
    assert_eq!(summary(&server, &[&path])["stored"], 2);
    server.restart();
    let checks = server.client().get(&format!("{}/checks?probe=mars-1", service(&id))).expect(200).data();
    let none =
        json!({"dns": null, "connect": null, "tls": null, "ttfb": null, "transfer": null, "total": null});
    let expected = json!([
        {"checked_at": down_at.to_string(), "probe": "mars-1", "status": "down", "response_time_ms": null,
            "status_code": 503, "error_message": "slow, \"very\"", "timings": none, "scheduled_at": up_at.to_string(),
            "attempt": 3, "error_code": "http_timeout"},
        {"checked_at": up_at.to_string(), "probe": "mars-1", "status": "up", "response_time_ms": 82,
            "status_code": 200, "error_message": null, "timings": timings, "scheduled_at": up_at.to_string(),
            "attempt": 1, "error_code": null},
    ]);
    assert_eq!(checks.as_array().unwrap(), expected.as_array().unwrap());
    let metrics = server.client().get(&format!("{}/metrics?range=1h", service(&id))).expect(200).data();
    assert_eq!((&metrics["total_checks"], &metrics["failed_checks"]), (&json!(3), &json!(2)), "{metrics}");
    assert_eq!(metrics["max_ms"], 82.0, "{metrics}");
}

/// An invalid line ends the import and keeps the lines before it, unless it is to be skipped; it is named either way.
#[tokio::test]
async fn a_bad_line_ends_the_import_or_is_skipped() {
    let (mut server, id) = stopped().await;
    create_unfit(&mut server);
    let at = midnight(1);
    for (place, (line, problem)) in [
        ("Nobody,fra,{at},up", "service: there is no 'Nobody'; it must be the id of a service"),
        ("By hand,fra,{at},up", "service: 'By hand' is manual; it has no results"),
        ("Twice,fra,{at},up", "service: several are called 'Twice'; use the id of one"),
        ("Plain,fra,{at},up", "service: 'Plain' is not configured; give it settings first"),
        (",fra,{at},up", "service is missing"),
        ("Shop,FRA,{at},up", "location: 'FRA' is not a location code"),
        ("Shop,push,{at},up", "location = 'push' is not allowed"),
        ("Shop,fra,7289654300000,up", "it must be in the past"),
        ("Shop,fra,noon,up", "time = 'noon' is not allowed; it must be RFC 3339"),
        ("Shop,fra,{at},fine", "status = 'fine' is not allowed; it must be up, degraded or down"),
        ("Shop,fra,{at}", "there are 3 fields; the header names 4 columns"),
    ]
    .into_iter()
    .enumerate()
    {
        let good = at + 2 * i64::try_from(place).unwrap() * MINUTE_MS;
        let text = format!(
            "service,location,time,status\n{id},fra,{good},up\n{}\nShop,fra,{},up\n",
            line.replace("{at}", &at.to_string()),
            good + MINUTE_MS
        );
        let path = file(&server, "bad.csv", &text);
        let stopped = server.command(&["import", "--json", &path]);
        assert_eq!(stopped.status.code(), Some(1), "{line}");
        let said = stderr(&stopped);
        assert!(said.starts_with("watchkeeper: line 3: ") && said.contains(problem), "{said}");
        let done: Value = serde_json::from_slice(&stopped.stdout).unwrap();
        assert_eq!((&done["stored"], &done["bad"]), (&json!(1), &json!(1)), "{line}");
        let done = server.command_json(&["import", "--skip-bad-lines", &path]);
        let counts = (&done["read"], &done["stored"], &done["stored_before"], &done["bad"]);
        assert_eq!(counts, (&json!(3), &json!(1), &json!(1), &json!(1)), "{line}");
        assert!(done["problems"][0].as_str().unwrap().starts_with("line 3: "), "{done}");
    }
}

/// Creates services that accept no results, or have the same name.
fn create_unfit(server: &mut Server) {
    server.restart();
    let client = server.client();
    create(&client, &json!({"name": "By hand", "check_type": "manual"}));
    create(&client, &json!({"name": "Plain", "check_type": "http", "target": "http://127.0.0.1:9/"}));
    created(&client, "Twice");
    created(&client, "Twice");
    server.kill();
}

/// Exit code 2 and one line.
#[rstest]
#[case(&["missing.csv"], "missing.csv: No such file")]
#[case(&["settings.toml"], "say how it is written: --format csv or --format jsonl")]
#[case(&["--format", "csv", "-", "--org", "AAAAAAAAAAAAAAAAAAAAA"], "there is no organisation 'AAA")]
#[case(&["--format", "csv", "-", "--service-map", "old=Nobody"], "--service-map: there is no service 'Nobody'")]
#[case(&["--format", "csv", "-", "--service-map", "old"], "it looks like NAME=SERVICE")]
#[case(&["--format", "xml", "-"], "[possible values: csv, jsonl]")]
#[tokio::test]
async fn wrong_usage_is_refused(#[case] arguments: &[&str], #[case] problem: &str) {
    let mut server = Server::start();
    server.kill();
    let output = server.command(&[&["import"], arguments].concat());
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains(problem), "{}", stderr(&output));
}

/// The embedded history has one writer.
#[tokio::test]
async fn an_import_into_the_files_of_a_running_server_is_refused() {
    let server = Server::embedded("", &[]);
    let id = created(&server.client(), "Shop");
    let path =
        file(&server, "a.csv", &format!("service,location,time,status\n{id},fra,{},up\n", midnight(1)));
    let output = server.command(&["import", &path]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).starts_with("watchkeeper: stop the server first: "), "{}", stderr(&output));
    let done = server.command_json(&["import", "--dry-run", &path]);
    assert_eq!((&done["dry_run"], &done["read"], &done["stored"]), (&json!(true), &json!(1), &json!(0)));
}

/// PostgreSQL takes in what several processes write.
#[tokio::test]
async fn results_imported_while_a_server_runs_on_postgresql_are_shown() {
    let Some(server) = Server::on_postgres(&[]) else { return };
    let client = server.client();
    let id = created(&client, "Shop");
    crate::support::until_checks(&client, &id, 1).await;
    let path =
        file(&server, "a.csv", &format!("service,location,time,status\n{id},fra,{},up\n", midnight(1)));
    assert_eq!(summary(&server, &[&path])["stored"], 1);
    let checks = crate::support::until_checks(&client, &id, 2).await;
    assert_eq!(checks.iter().filter(|check| check["probe"] == "fra").count(), 1, "{checks:?}");
}

/// Names of another tool, a location for all, and lines that are too old.
#[tokio::test]
async fn flags_supply_missing_columns() {
    let (server, id) = stopped().await;
    let text = format!("service,time,status\nold=shop,{},up\nShop,1000000000,up\n", midnight(1));
    let path = file(&server, "a.csv", &text);
    let map = format!("old=shop={id}");
    let done = summary(&server, &["--default-location", "fra", "--service-map", &map, &path]);
    let counts = (&done["read"], &done["stored"], &done["too_old"]);
    assert_eq!(counts, (&json!(2), &json!(1), &json!(1)), "{done}");
    assert_eq!(done["services"][0]["results"], 1);
    let shown =
        server.command(&["import", "--default-location", "fra", "--service-map", &map, "--dry-run", &path]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    let heads = shown.lines().find(|line| line.starts_with("service")).unwrap_or_default();
    let words = heads.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words, "service first result last result results name", "{shown}");
}

/// Bytes of its file that an import has stored.
async fn reached(history: &sea_orm::DatabaseConnection) -> i64 {
    let progress = history_progress::Entity::find().all(history).await.unwrap();
    progress.iter().filter(|row| row.name.starts_with("import ")).map(|row| row.value).max().unwrap_or(0)
}

/// A killed import continues where it was; nothing is lost or doubled.
#[tokio::test]
async fn a_killed_import_continues() {
    const LINES: i64 = 120_000;
    /// Minimum progress at the kill: there are several commits before and after it.
    const SOME_BYTES: i64 = 1_000_000;
    let (server, id) = stopped().await;
    let mut text = String::from("service,location,time,status\n");
    for line in 0..LINES {
        let at = midnight(40) + (line / 2) * 30_000;
        text += &format!("{id},{},{at},up\n", if line % 2 == 0 { "fra" } else { "nyc" });
    }
    let path = file(&server, "a.csv", &text);
    let history = sea_orm::Database::connect(server.urls()[1].clone()).await.unwrap();
    let mut import = server.spawn(&["import", "--interval", "30", &path]);
    let some = async {
        while reached(&history).await < SOME_BYTES {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), some).await.expect("some lines are stored");
    import.kill().unwrap();
    import.wait().unwrap();
    history.close().await.unwrap();
    let done = summary(&server, &[&path]);
    let count = |key: &str| done[key].as_i64().unwrap();
    assert_eq!((count("read"), count("already_there")), (LINES, 0), "{done}");
    assert_eq!(count("stored_before") + count("stored"), LINES, "{done}");
    assert!(count("stored_before") > 0, "{done}");
    let again = summary(&server, &[&path]);
    assert_eq!((&again["stored"], &again["already_there"]), (&json!(0), &json!(LINES)), "{again}");
}
