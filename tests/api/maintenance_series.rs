//! Recurring maintenances: `recurrence` of `POST /v1/maintenances`, and `/v1/maintenance-series`.

use chrono::{DateTime, FixedOffset, TimeDelta};
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::moments::in_ms;
use crate::support::planned::{id_of, maintenance, operate, planned, shown, timeline};
use crate::support::server::Server;
use crate::support::{UNKNOWN_ID, create_unconfigured, service};

const PATH: &str = "/v1/maintenance-series";
const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

/// A moment on a whole second, as rules know them.
fn second(seconds: i64) -> String {
    let now = in_ms(0);
    now.plus_ms(seconds * 1_000 - now.ms().rem_euclid(1_000)).to_string()
}

/// A daily window of an hour that starts after this number of seconds, with further fields.
fn daily(client: &Client, begins: i64, more: &Value) -> Value {
    let mut body = json!({
        "scheduled_start": second(begins), "scheduled_end": second(begins + HOUR),
        "recurrence": {"rrule": "FREQ=DAILY", "time_zone": "UTC"},
    });
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    planned(client, &body)
}

fn series_of(made: &Value) -> String {
    made["recurrence"]["series_id"].as_str().unwrap().to_owned()
}

fn path(series: &str) -> String {
    format!("{PATH}/{series}")
}

fn series(client: &Client, id: &str) -> Value {
    client.get(&path(id)).expect(200).data()
}

/// Every maintenance of this service, the first one first.
fn windows(client: &Client, covered: &str) -> Vec<Value> {
    let list = client.get(&format!("{}/maintenances?per_page=100", service(covered))).expect(200).data();
    list.as_array().unwrap().iter().rev().cloned().collect()
}

fn texts(of: &[Value], key: &str) -> Vec<String> {
    of.iter().map(|one| one[key].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_daily_window_is_planned_thirty_days_ahead() {
    let client = Server::shared_client();
    let covered = create_unconfigured(&client);
    let made = daily(&client, DAY, &json!({"service_ids": [covered], "message": "We restart."}));
    let windows = windows(&client, &covered);
    let starts: Vec<DateTime<FixedOffset>> = texts(&windows, "scheduled_start")
        .iter()
        .map(|start| DateTime::parse_from_rfc3339(start).unwrap())
        .collect();
    assert!((30..=31).contains(&starts.len()), "{}", starts.len());
    assert_eq!(texts(&windows, "scheduled_start")[0], made["scheduled_start"].as_str().unwrap());
    assert!(starts.windows(2).all(|pair| pair[1] - pair[0] == TimeDelta::days(1)), "{starts:?}");
    assert_eq!(made["id"], windows[0]["id"]);
    assert_eq!(
        made["recurrence"],
        json!({"series_id": series_of(&made), "rrule": "FREQ=DAILY", "time_zone": "UTC", "occurrence": made["scheduled_start"]})
    );
    assert_eq!((&made["status"], &made["auto_complete"]), (&json!("scheduled"), &json!(true)));
    assert_eq!(timeline(&made), [("scheduled".into(), "We restart.".into(), true)]);
    assert_eq!(timeline(&shown(&client, windows[9]["id"].as_str().unwrap()))[0].1, "We restart.");
}

#[test]
fn a_series_shows_its_upcoming_windows() {
    let client = Server::shared_client();
    let covered = create_unconfigured(&client);
    let body = json!({
        "title": "Yearly", "scheduled_start": "2196-02-29T02:00:00+01:00", "scheduled_end": "2196-02-29T04:00:00+01:00",
        "recurrence": {"rrule": " FREQ=YEARLY ", "time_zone": "Europe/Berlin"}, "service_ids": [covered],
    });
    let answer = client.post("/v1/maintenances", &body).expect(201);
    let (made, me) = (answer.data(), client.get("/v1/me").expect(200).json());
    assert!(answer.header("location").unwrap().ends_with(&maintenance(&id_of(&made))));
    let id = series_of(&made);
    let series = series(&client, &id);
    let expected = json!({
        "id": id, "title": "Yearly", "title_translations": {"en": "Yearly"}, "message": null, "message_translations": null,
        "type": "planned", "status": "active",
        "recurrence": {"rrule": "FREQ=YEARLY", "time_zone": "Europe/Berlin"},
        "scheduled_start": "2196-02-29T01:00:00.000Z", "scheduled_end": "2196-02-29T03:00:00.000Z",
        "auto_start": true, "auto_complete": true, "notify_announcement": true, "notify_24h": true, "notify_1h": true,
        "notify_start": true, "notify_complete": true, "created_at": made["created_at"],
        "created_by": {"id": me["token"]["id"], "name": me["token"]["name"], "avatar_url": ""},
        "services": [{"id": covered, "name": "Shop"}], "statuspages": [],
        "next_occurrences": [{"occurrence": "2196-02-29T01:00:00.000Z", "scheduled_start": "2196-02-29T01:00:00.000Z",
            "scheduled_end": "2196-02-29T03:00:00.000Z", "maintenance_id": made["id"], "status": "scheduled"}],
        "skipped": [],
    });
    assert_eq!(series.to_string(), expected.to_string());
    let listed = client.get(&format!("{PATH}?per_page=100")).expect(200);
    let row = listed.data().as_array().unwrap().iter().find(|row| row["id"] == id.as_str()).cloned();
    assert!(row.is_none_or(|row| row["services"] == series["services"] && row.get("skipped").is_none()));
}

#[test]
fn a_window_that_already_runs_starts_at_once() {
    let client = Server::shared_client();
    let covered = create_unconfigured(&client);
    let made = daily(&client, -60, &json!({"service_ids": [covered]}));
    assert_eq!(made["status"], "in_progress");
    let effective = client.get(&service(&covered)).expect(200).data()["effective_status"].clone();
    assert_eq!(effective, "maintenance");
    let statuses = texts(&windows(&client, &covered), "status");
    assert_eq!(statuses.iter().filter(|status| *status == "scheduled").count(), statuses.len() - 1);
}

/// 422 under the key that is wrong; nothing is created.
#[rstest]
#[case(json!({"recurrence": 7}), "recurrence", "This value must be an object.")]
#[case(json!({"recurrence": {"rrule": "FREQ=DAILY"}}), "recurrence.time_zone", "This field is required.")]
#[case(json!({"recurrence": {"rrule": "FREQ=DAILY", "time_zone": "CEST"}}), "recurrence.time_zone",
    "Unknown time zone. Use a name of the IANA database, such as Europe/Berlin.")]
#[case(json!({"recurrence": {"rrule": "FREQ=MINUTELY", "time_zone": "UTC"}}), "recurrence.rrule",
    "FREQ must be DAILY, WEEKLY, MONTHLY or YEARLY.")]
#[case(json!({"recurrence": {"rrule": "DTSTART:20260101T000000Z", "time_zone": "UTC"}}), "recurrence.rrule",
    "Send the rule alone, such as FREQ=WEEKLY;BYDAY=SU; it begins at scheduled_start.")]
#[case(json!({"recurrence": {"rrule": "FREQ=DAILY", "time_zone": "UTC", "count": 3}}), "recurrence.count", "Unknown field.")]
#[case(json!({"scheduled_end": null}), "scheduled_end", "This field is required.")]
#[case(json!({"scheduled_end": second(3 * DAY)}), "recurrence.rrule",
    "A window would begin before the one before it has ended.")]
#[case(json!({"recurrence": {"rrule": "FREQ=DAILY;UNTIL=20200101", "time_zone": "UTC"}}), "recurrence.rrule",
    "This rule never occurs.")]
#[case(json!({"scheduled_start": second(-2 * HOUR), "scheduled_end": second(-HOUR)}), "scheduled_end",
    "This time must be in the future.")]
#[case(json!({"title": ""}), "title", "Use at least 1 characters.")]
fn a_wrong_recurrence_is_refused(#[case] changed: Value, #[case] key: &str, #[case] text: &str) {
    let client = Server::shared_client();
    let covered = create_unconfigured(&client);
    let mut body = json!({
        "title": "Restart", "service_ids": [covered], "scheduled_start": second(DAY), "scheduled_end": second(DAY + HOUR),
        "recurrence": {"rrule": "FREQ=DAILY", "time_zone": "UTC"},
    });
    for (key, value) in changed.as_object().unwrap() {
        body[key] = value.clone();
    }
    assert_eq!(client.post("/v1/maintenances", &body).errors(), [(key.to_owned(), text.to_owned())]);
    assert_eq!(windows(&client, &covered), [] as [Value; 0]);
}

/// Cancelled, or deleted: it is skipped, and a change of the series does not bring it back.
#[rstest]
#[case::cancelled("cancel")]
#[case::deleted("delete")]
fn one_window_can_be_skipped(#[case] how: &str) {
    let client = Server::shared_client();
    let covered = create_unconfigured(&client);
    let made = daily(&client, DAY, &json!({"service_ids": [covered]}));
    let before = windows(&client, &covered);
    let (third, id) = (before[2]["id"].as_str().unwrap(), series_of(&made));
    match how {
        "cancel" => operate(&client, third, "cancel").expect(200),
        _ => client.delete(&maintenance(third)).expect(200),
    };
    let skipped = series(&client, &id);
    assert_eq!(skipped["skipped"], json!([before[2]["scheduled_start"]]));
    let next = texts(skipped["next_occurrences"].as_array().unwrap(), "occurrence");
    assert!(!next.contains(&before[2]["scheduled_start"].as_str().unwrap().to_owned()));
    assert_eq!(next.len(), 10);
    // A minute later, on every day but the third.
    let moved = client.patch(&path(&id), &json!({"scheduled_start": second(DAY + 60)})).expect(200).data();
    let third_day = &before[2]["scheduled_start"].as_str().unwrap()[..10];
    assert_eq!(moved["skipped"].as_array().unwrap().len(), 1);
    let stand = windows(&client, &covered);
    let of_day: Vec<&Value> =
        stand.iter().filter(|one| one["scheduled_start"].as_str().unwrap().starts_with(third_day)).collect();
    let expected: &[&str] = if how == "cancel" { &["cancelled"] } else { &[] };
    let found: Vec<&str> = of_day.iter().map(|one| one["status"].as_str().unwrap()).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_changed_series_changes_only_future_windows() {
    let client = Server::shared_client();
    let (covered, other) = (create_unconfigured(&client), create_unconfigured(&client));
    let made = daily(&client, -60, &json!({"service_ids": [covered]}));
    let (before, id) = (windows(&client, &covered), series_of(&made));
    let own = before[3]["id"].as_str().unwrap();
    client.patch(&maintenance(own), &json!({"title": "Own"})).expect(200);
    let change = json!({
        "title": "Later", "type": "emergency", "service_ids": [covered, other], "notify_24h": false,
        "scheduled_start": second(DAY + 600), "scheduled_end": second(DAY + 1_200),
    });
    let changed = client.patch(&path(&id), &change).expect(200).data();
    assert_eq!((&changed["title"], &changed["notify_24h"]), (&json!("Later"), &json!(false)));
    let after = windows(&client, &covered);
    let ids = |of: &[Value]| texts(of, "id");
    // The last one has moved beyond the time for which maintenances are created.
    let kept = before.len() - 1;
    assert_eq!(ids(&after)[..kept], ids(&before)[..kept], "those that move keep their ids");
    // Running windows and edited windows stay as they were.
    assert_eq!((&after[0]["title"], &after[0]["services"]), (&before[0]["title"], &before[0]["services"]));
    assert_eq!(
        (&after[3]["title"], &after[3]["scheduled_start"]),
        (&json!("Own"), &before[3]["scheduled_start"])
    );
    for place in [1, 2, 4] {
        let (one, old) = (&after[place], &before[place]);
        assert_eq!((&one["title"], &one["type"]), (&json!("Later"), &json!("emergency")));
        assert_eq!(one["services"].as_array().unwrap().len(), 2);
        assert_ne!(one["scheduled_start"], old["scheduled_start"]);
        let moved = shown(&client, one["id"].as_str().unwrap());
        assert!(timeline(&moved)[1].1.starts_with("The maintenance is now planned from "), "{moved}");
    }
    let again = client.patch(&path(&id), &change).expect(200).data();
    assert_eq!(again, changed);
    assert_eq!(windows(&client, &covered), after);
}

#[test]
fn a_changed_rule_removes_and_adds_windows() {
    let client = Server::shared_client();
    let covered = create_unconfigured(&client);
    let made = daily(&client, DAY, &json!({"service_ids": [covered]}));
    let before = windows(&client, &covered);
    let rule = json!({"recurrence": {"rrule": "FREQ=DAILY;INTERVAL=2;COUNT=4"}});
    client.json("PUT", &path(&series_of(&made)), &rule).expect(200);
    let after = windows(&client, &covered);
    let expected: Vec<&Value> = before.iter().step_by(2).take(4).map(|one| &one["id"]).collect();
    assert_eq!(after.iter().map(|one| &one["id"]).collect::<Vec<_>>(), expected);
    let back = json!({"recurrence": {"rrule": "FREQ=DAILY"}});
    client.patch(&path(&series_of(&made)), &back).expect(200);
    assert_eq!(texts(&windows(&client, &covered), "scheduled_start"), texts(&before, "scheduled_start"));
}

#[rstest]
#[case(json!({"recurrence": {"rrule": "FREQ=HOURLY"}}), "recurrence.rrule", "FREQ must be DAILY, WEEKLY, MONTHLY or YEARLY.")]
#[case(json!({"recurrence": null}), "recurrence", "This field must not be null.")]
#[case(json!({"recurrence": {"zone": 1}}), "recurrence.zone", "Unknown field.")]
#[case(json!({"scheduled_start": second(-2 * DAY)}), "scheduled_start", "This time must be in the future.")]
#[case(json!({"scheduled_end": second(-2 * DAY)}), "scheduled_end",
    "This time must be later than scheduled_start, also on the clocks of the time zone.")]
#[case(json!({"title": null}), "title", "This field must not be null.")]
#[case(json!({"auto_complete": "yes"}), "auto_complete", "This value must be true or false.")]
#[case(json!({"service_ids": [UNKNOWN_ID]}), "service_ids.0", "No service with the ID AAAAAAAAAAAAAAAAAAAAA exists.")]
#[case(json!({"statuspage_ids": ["x"]}), "statuspage_ids.0", "This is not a valid ID.")]
fn a_wrong_change_is_refused(#[case] body: Value, #[case] key: &str, #[case] text: &str) {
    let client = Server::shared_client();
    let id = series_of(&daily(&client, DAY, &json!({})));
    let before = series(&client, &id);
    assert_eq!(client.patch(&path(&id), &body).errors(), [(key.to_owned(), text.to_owned())]);
    assert_eq!(client.patch(&path(&id), &json!({})).expect(200).data(), before);
}

#[test]
fn a_deleted_series_keeps_started_and_cancelled_windows() {
    let client = Server::shared_client();
    let covered = create_unconfigured(&client);
    let made = daily(&client, -60, &json!({"service_ids": [covered]}));
    let before = windows(&client, &covered);
    operate(&client, before[1]["id"].as_str().unwrap(), "cancel").expect(200);
    let id = series_of(&made);
    let answer = client.delete(&path(&id)).expect(200).data();
    assert_eq!(answer, json!({"id": id, "deleted": true}));
    let left = windows(&client, &covered);
    assert_eq!(texts(&left, "status"), ["in_progress", "cancelled"]);
    assert!(left.iter().all(|one| one["recurrence"].is_null()));
    client.delete(&path(&id)).expect(404);
    client.get(&path(&id)).expect(404);
}

/// Contract 4.3.9 for series: one that covers nothing else ends as its maintenances do.
#[rstest]
#[case::kept("", "cancelled")]
#[case::deleted("?delete_orphaned_maintenances=true", "gone")]
fn a_deleted_service_ends_its_own_series(#[case] flag: &str, #[case] expected: &str) {
    let client = Server::shared_client();
    let (covered, other) = (create_unconfigured(&client), create_unconfigured(&client));
    let alone = series_of(&daily(&client, DAY, &json!({"service_ids": [covered]})));
    let both = series_of(&daily(&client, DAY, &json!({"service_ids": [covered, other]})));
    let cleanup =
        client.delete(&format!("{}{flag}", service(&covered))).expect(200).data()["cleanup"].clone();
    let key = if flag.is_empty() { "maintenances_cancelled" } else { "maintenances_deleted" };
    assert!((30..=31).contains(&cleanup[key].as_u64().unwrap()) || cleanup[key] == 0, "{cleanup}");
    if expected == "gone" {
        client.get(&path(&alone)).expect(404);
    } else {
        let series = series(&client, &alone);
        assert_eq!((&series["status"], &series["next_occurrences"]), (&json!("cancelled"), &json!([])));
        let refused = client.patch(&path(&alone), &json!({"title": "X"})).expect(409);
        assert_eq!(refused.message(), "The series is cancelled; create a new one.");
        client.delete(&path(&alone)).expect(200);
    }
    let left = series(&client, &both);
    assert_eq!(
        (&left["status"], &left["services"]),
        (&json!("active"), &json!([{"id": other, "name": "Shop"}]))
    );
}

/// Several who change, skip and delete at once leave neither two maintenances for a window nor an error.
#[test]
fn simultaneous_changes_create_each_window_once() {
    let client = Server::shared_client();
    let covered = create_unconfigured(&client);
    let id = series_of(&daily(&client, DAY, &json!({"service_ids": [covered]})));
    let stand = windows(&client, &covered);
    std::thread::scope(|scope| {
        for place in 0..4_usize {
            let (client, id, stand) = (&client, &id, &stand);
            scope.spawn(move || {
                let start = second(DAY + 60 * i64::try_from(place).unwrap());
                client.patch(&path(id), &json!({"scheduled_start": start})).expect(200);
                operate(client, stand[place + 5]["id"].as_str().unwrap(), "cancel").expect(200);
                client.delete(&maintenance(stand[place + 15]["id"].as_str().unwrap())).expect(200);
            });
        }
    });
    let left: Vec<Value> =
        windows(&client, &covered).into_iter().filter(|one| one["status"] == "scheduled").collect();
    let days: std::collections::BTreeSet<String> =
        texts(&left, "scheduled_start").iter().map(|start| start[..10].to_owned()).collect();
    assert_eq!(left.len(), days.len());
    assert_eq!(series(&client, &id)["skipped"].as_array().unwrap().len(), 8);
}
