//! Duty that follows from schedules: shifts, uncovered periods, previews, and the contact who is on duty now.

use rstest::rstest;
use serde_json::{Value, json};

use super::{SCHEDULES, create_schedule, daily, item, people, shifts, shown};
use crate::support::server::Server;

/// Two alternating contacts; a later layer takes precedence on weekday nights; shifts and uncovered periods fill the whole period.
#[test]
fn layers_become_shifts_and_uncovered_periods() {
    let client = Server::shared().tenant("business");
    let [anna, ben, cleo] = people(&client);
    let mut days = daily(&[&anna, &ben]);
    days["hours"] = json!([{"days": ["mon", "tue"], "from": "00:00", "to": "24:00"}]);
    let mut nights = daily(&[&cleo]);
    nights["hours"] = json!([{"days": ["mon", "tue", "wed"], "from": "20:00", "to": "24:00"}]);
    let schedule = create_schedule(&client, "Shop", &[days, nights]);
    let duty = shifts(&client, &schedule, "2026-11-23T09:00:00Z", "2026-11-26T00:00:00Z");
    let (taken, gaps) = shown(&duty);
    assert_eq!(taken, ["23T09 Anna", "23T20 Cleo", "24T00 Anna", "24T09 Ben", "24T20 Cleo", "25T20 Cleo"]);
    assert_eq!(gaps, ["25T00-25T20"]);
    let second = &duty["shifts"][1];
    assert_eq!((&second["source"], &second["layer_name"]), (&json!("layer"), &json!("Days")));
    assert_eq!((&duty["from"], &duty["time_zone"]), (&json!("2026-11-23T09:00:00.000Z"), &json!("UTC")));
}

/// In Berlin duty changes hands at nine by the clocks on the wall, before and after they are set back.
#[test]
fn handovers_follow_the_time_zone_of_the_schedule() {
    let client = Server::shared().tenant("business");
    let [anna, ben, _] = people(&client);
    let mut layer = daily(&[&anna, &ben]);
    layer["starts_at"] = json!("2026-10-23T07:00:00Z");
    let body = json!({"name": "Shop", "time_zone": "Europe/Berlin", "layers": [layer]});
    let schedule = client.post(SCHEDULES, &body).expect(201).data();
    let duty = shifts(&client, &schedule, "2026-10-23T07:00:00Z", "2026-10-27T00:00:00Z");
    assert_eq!(shown(&duty).0, ["23T07 Anna", "24T07 Ben", "25T08 Anna", "26T08 Ben"]);
}

/// A preview answers as the saved schedule does, and saves nothing; one of a change includes overrides and absences.
#[test]
fn a_preview_shows_the_resulting_duty() {
    let client = Server::shared().tenant("business");
    let [anna, ben, cleo] = people(&client);
    let away =
        json!({"contact_id": ben, "starts_at": "2026-11-24T12:00:00Z", "ends_at": "2026-11-24T14:00:00Z"});
    client.post("/v1/oncall/absences", &away).expect(201);
    let period = json!({"from": "2026-11-23T09:00:00Z", "to": "2026-11-25T09:00:00Z"});
    let mut body = json!({"name": "Shop", "layers": [daily(&[&anna, &ben])]});
    body.as_object_mut().unwrap().extend(period.as_object().unwrap().clone());
    let preview = client.post(&format!("{SCHEDULES}/preview"), &body).expect(200).data();
    let expected = (vec!["23T09 Anna", "24T09 Ben", "24T14 Ben"], vec!["24T12-24T14"]);
    assert_eq!(shown(&preview), owned(&expected));
    assert_eq!(client.get(SCHEDULES).expect(200).data(), json!([]));

    let schedule = create_schedule(&client, "Shop", &[daily(&[&anna, &ben])]);
    let saved = shifts(&client, &schedule, "2026-11-23T09:00:00Z", "2026-11-25T09:00:00Z");
    assert_eq!(saved, preview);
    let placed = json!({"schedule_id": schedule["id"], "contact_id": cleo,
        "starts_at": "2026-11-24T12:00:00Z", "ends_at": "2026-11-24T13:00:00Z"});
    client.post("/v1/oncall/overrides", &placed).expect(201);
    let mut change = json!({"layers": [daily(&[&ben, &anna])]});
    change.as_object_mut().unwrap().extend(period.as_object().unwrap().clone());
    let path = format!("{}/preview", item("schedules", &schedule));
    let preview = client.post(&path, &change).expect(200).data();
    let expected = (vec!["23T09 Ben", "24T09 Anna", "24T12 Cleo", "24T13 Anna"], vec![]);
    assert_eq!(shown(&preview), owned(&expected));
    assert_eq!(client.get(&item("schedules", &schedule)).expect(200).data(), schedule);
}

fn owned((taken, gaps): &(Vec<&str>, Vec<&str>)) -> (Vec<String>, Vec<String>) {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    (texts(taken), texts(gaps))
}

/// A query, and the field that is refused.
#[rstest]
#[case("from=2026-01-01&to=2027-02-06", "to")]
#[case("from=2026-01-02&to=2026-01-01", "to")]
#[case("from=soon", "from")]
fn an_invalid_period_is_refused(#[case] query: &str, #[case] field: &str) {
    let client = Server::shared().tenant("business");
    let [anna, ..] = people(&client);
    let schedule = create_schedule(&client, "Shop", &[daily(&[&anna])]);
    let path = format!("{}/shifts?{query}", item("schedules", &schedule));
    assert_eq!(client.get(&path).expect(422).errors()[0].0, field);
}

/// Each schedule shows the contact on duty and the next one, or that nobody is on duty.
#[test]
fn the_current_duty_of_every_schedule_is_shown() {
    let client = Server::shared().tenant("business");
    let [anna, ben, _] = people(&client);
    let mut turns = daily(&[&anna, &ben]);
    turns["starts_at"] = json!("2020-01-01T00:00:00Z");
    create_schedule(&client, "Shop", &[turns]);
    let mut never = daily(&[&anna]);
    (never["starts_at"], never["ends_at"]) = (json!("2000-01-01"), json!("2000-01-02"));
    create_schedule(&client, "Museum", &[never]);
    let current = client.get("/v1/oncall/current").expect(200).data();
    let shop = &current[0];
    let (now, next) = (&shop["on_duty"]["contact_name"], &shop["next"]["contact_name"]);
    assert!([(now, next), (next, now)].contains(&(&json!("Anna"), &json!("Ben"))), "{shop}");
    assert_eq!((&shop["schedule_name"], &shop["next"]["starts_at"]), (&json!("Shop"), &shop["until"]));
    assert!(shop["since"].as_str().unwrap().ends_with("T09:00:00.000Z"), "{shop}");
    let museum = &current[1];
    assert_eq!(museum["schedule_name"], "Museum");
    for key in ["on_duty", "since", "until", "next"] {
        assert_eq!(museum[key], Value::Null, "{key}");
    }
}
