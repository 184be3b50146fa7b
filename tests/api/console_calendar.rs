//! Calendars of the console: who is on duty on each day of a month, and the maintenances of a month.

use chrono::{Datelike as _, NaiveDate, TimeDelta};
use serde_json::json;

use crate::support::console::ConsoleUser;
use crate::support::create_unconfigured;
use crate::support::moments::moment;
use crate::support::planned::{id_of, maintenance, operate, planned};
use crate::support::server::Server;

/// Each day has its shifts in the time zone of the schedule; what nobody covers is marked, also without colours.
#[test]
fn a_month_shows_shifts_and_gaps() {
    let client = Server::shared().tenant("business");
    let user = ConsoleUser::invited(&client, "viewer");
    assert!(!user.get("/oncall?month=2026-11").expect(200).body.contains("id=\"calendar\""));
    let anna = json!({"name": "Anna", "email": "anna@example.com"});
    let anna = client.post("/v1/contacts", &anna).expect(201).data()["id"].clone();
    let layer = json!({"name": "Weeks", "contact_ids": [anna], "starts_at": "2026-11-23T08:00:00Z",
        "ends_at": "2026-12-02T00:00:00Z", "rotation": {"kind": "weekly", "day": "mon", "at": "09:00"}});
    let schedule = json!({"name": "Shop", "time_zone": "Europe/Berlin", "layers": [layer]});
    client.post("/v1/oncall/schedules", &schedule).expect(201);
    let page = user.get("/oncall?month=2026-11").expect(200).body;
    for line in ["2026-11-22  nobody", "2026-11-23  00:00–09:00 nobody, 09:00–24:00 Anna", "2026-11-24  Anna"]
    {
        assert!(page.contains(line), "{line}: {page}");
    }
    assert!(page.contains("<div class=\"problem\">00:00–09:00 nobody</div>") && page.contains("2026-11-30"));
    assert!(page.contains("href=\"?month=2026-12\"") && !page.contains("2026-12-01  "));
    let page = user.get("/oncall?month=2026-12").expect(200).body;
    assert!(page.contains("2026-12-02  00:00–01:00 Anna, 01:00–24:00 nobody"), "{page}");
    user.get("/oncall?month=nonsense").expect(200);
}

/// The windows of a month, one on each line, as they are copied as text.
fn month_of(user: &ConsoleUser, month: &str, zone: &str) -> Vec<String> {
    let page = user.get(&format!("/maintenances?month={month}&zone={zone}")).expect(200).body;
    let text = page.split("<textarea").nth(1).and_then(|text| text.split_once('>')).map(|(_, text)| text);
    let text = text.and_then(|text| text.split("</textarea>").next()).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// The first day from `from` on, of this year or the next, on which clocks of Berlin are set back. It is beyond the time for
/// which maintenances of a series are created.
fn day_of_change() -> NaiveDate {
    let today = NaiveDate::parse_from_str(&moment(0)[..10], "%Y-%m-%d").unwrap();
    let far = today + TimeDelta::days(45);
    let change = |year: i32| {
        let last = NaiveDate::from_ymd_opt(year, 10, 31).unwrap();
        last - TimeDelta::days(last.weekday().num_days_from_sunday().into())
    };
    let years = today.year()..;
    years.map(change).find(|day| *day > far).unwrap()
}

/// A window of a series keeps its local times across a change of the clocks, and is shown in both zones before it has been
/// created.
#[test]
fn a_series_is_planned_across_a_change_of_clocks() {
    let client = Server::shared().tenant("business");
    let user = ConsoleUser::invited(&client, "viewer");
    let covered = create_unconfigured(&client);
    let change = day_of_change();
    let first = change - TimeDelta::days(7);
    let body = json!({"title": "Restart", "service_ids": [covered],
        "scheduled_start": format!("{first}T02:00:00+02:00"), "scheduled_end": format!("{first}T04:00:00+02:00"),
        "recurrence": {"rrule": "FREQ=WEEKLY;BYDAY=SU;COUNT=3", "time_zone": "Europe/Berlin"}});
    let made = client.post("/v1/maintenances", &body).expect(201).data();
    let month = change.format("%Y-%m").to_string();
    let before = "02:00–04:00 Europe/Berlin · 00:00–02:00 UTC";
    let across = "02:00–04:00 Europe/Berlin · 00:00–03:00 UTC";
    // The first window has a maintenance, the others are planned by the rule.
    let expected = [
        format!("{first}  {before}  Restart (planned work, scheduled)"),
        format!("{change}  {across}  Restart (planned work, planned by the series)"),
    ];
    let shown = month_of(&user, &month, "UTC");
    assert_eq!(shown[..2], expected);
    let last = change + TimeDelta::days(7);
    let far = user.get("/maintenances?month=2099-01").expect(200).body;
    assert!(far.contains("Not everything is shown") && !far.contains("Restart"), "{far}");
    let lines = [shown, month_of(&user, &last.format("%Y-%m").to_string(), "UTC")].concat();
    let after = "02:00–04:00 Europe/Berlin · 01:00–03:00 UTC";
    assert!(
        lines.contains(&format!("{last}  {after}  Restart (planned work, planned by the series)")),
        "{lines:?}"
    );
    let in_zone = month_of(&user, &month, "Europe/Paris");
    assert_eq!(
        in_zone[1],
        format!("{change}  02:00–04:00 Europe/Paris  Restart (planned work, planned by the series)")
    );
    // A maintenance that was moved away stays the only one of its window.
    let moved = json!({"scheduled_start": format!("{first}T06:00:00Z"), "scheduled_end": format!("{first}T07:00:00Z")});
    client.patch(&maintenance(&id_of(&made)), &moved).expect(200);
    let shown = month_of(&user, &month, "UTC");
    assert_eq!(
        shown[0],
        format!("{first}  08:00–09:00 Europe/Berlin · 06:00–07:00 UTC  Restart (planned work, scheduled)")
    );
    assert_eq!(shown.iter().filter(|line| line.starts_with(&first.to_string())).count(), 1, "{shown:?}");
    // One that was cancelled is shown as such, and is not planned again.
    operate(&client, &id_of(&made), "cancel").expect(200);
    let shown = month_of(&user, &month, "UTC");
    assert!(shown[0].ends_with("Restart (planned work, cancelled)"), "{shown:?}");
    assert_eq!(shown.iter().filter(|line| line.starts_with(&first.to_string())).count(), 1, "{shown:?}");
}

/// A maintenance that spans two days is on both, with the date where it changes; one that was cancelled says so.
#[test]
fn a_maintenance_is_on_each_of_its_days() {
    let client = Server::shared().tenant("business");
    let user = ConsoleUser::invited(&client, "editor");
    let empty = user.get("/maintenances").expect(200).body;
    assert!(
        empty.contains("A maintenance announces a time")
            && empty.contains("href=\"/console/maintenances/new\"")
    );
    let day = day_of_change().with_day(5).unwrap();
    let next = day + TimeDelta::days(1);
    let long =
        json!({"scheduled_start": format!("{day}T22:00:00Z"), "scheduled_end": format!("{next}T02:00:00Z")});
    let long = planned(&client, &long);
    let open = json!({"title": "Move", "type": "emergency", "scheduled_start": format!("{next}T12:00:00Z")});
    let open = planned(&client, &open);
    operate(&client, &id_of(&open), "cancel").expect(200);
    let month = day.format("%Y-%m").to_string();
    let expected = [
        format!("{day}  22:00–{next} 02:00 UTC  Database upgrade (planned work, scheduled)"),
        format!("{next}  {day} 22:00–{next} 02:00 UTC  Database upgrade (planned work, scheduled)"),
        format!("{next}  12:00–open end UTC  Move (emergency, cancelled)"),
    ];
    assert_eq!(month_of(&user, &month, ""), expected);
    let page = user.get(&format!("/maintenances?month={month}")).expect(200).body;
    assert!(
        page.contains("<s>Move</s>") && page.contains(&format!("/console/maintenances/{}", id_of(&long)))
    );
    assert!(user.get("/maintenances").expect(200).body.contains("There is no maintenance in this month."));
    let wrong = user.get("/maintenances?zone=Nowhere%2FTown").expect(200).body;
    assert!(
        wrong.contains("“Nowhere/Town” is not a time zone")
            && wrong.contains("<option value=\"Asia/Tokyo\">")
    );
    assert!(user.get("/maintenances/all").expect(200).body.contains("data-row"));
    let zoned = user.get("/maintenances?month=2030-05&zone=Etc%2FGMT%2B5").expect(200).body;
    assert!(zoned.contains("?month=2030-06&#38;zone=Etc%2FGMT%2B5"), "{zoned}");
}
