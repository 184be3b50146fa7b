//! Overrides and absences: written, read, filtered, and what they do to shifts.

use rstest::rstest;
use serde_json::{Value, json};

use super::{create_schedule, daily, item, people, shifts, shown};
use crate::support::UNKNOWN_ID;
use crate::support::client::Client;
use crate::support::server::Server;

const OVERRIDES: &str = "/v1/oncall/overrides";
const ABSENCES: &str = "/v1/oncall/absences";

fn names(client: &Client, path: &str) -> Vec<String> {
    let rows = client.get(path).expect(200).data();
    let name = |row: &Value| row["contact_name"].as_str().unwrap().to_owned();
    rows.as_array().unwrap().iter().map(name).collect()
}

#[test]
fn overrides_and_absences_change_the_contact_on_duty() {
    let client = Server::shared().tenant("business");
    let [anna, ben, cleo] = people(&client);
    let schedule = create_schedule(&client, "Shop", &[daily(&[&anna]), daily(&[&ben])]);
    let duty = || shown(&shifts(&client, &schedule, "2026-11-23T09:00:00Z", "2026-11-24T09:00:00Z")).0;
    assert_eq!(duty(), ["23T09 Ben"]);
    let body = json!({"contact_id": ben, "starts_at": "2026-11-23T12:00:00.000Z",
        "ends_at": "2026-11-24T00:00:00.000Z"});
    let away = client.post(ABSENCES, &body).expect(201).data();
    assert_eq!(duty(), ["23T09 Ben", "23T12 Anna", "24T00 Ben"]);
    let body = json!({"schedule_id": schedule["id"], "contact_id": cleo,
        "starts_at": "2026-11-23T10:00:00.000Z", "ends_at": "2026-11-23T14:00:00.000Z"});
    let placed = client.post(OVERRIDES, &body).expect(201).data();
    for (key, value) in body.as_object().unwrap() {
        assert_eq!(&placed[key], value, "{key}");
    }
    assert_eq!((&placed["schedule_name"], &placed["contact_name"]), (&json!("Shop"), &json!("Cleo")));
    assert_eq!(duty(), ["23T09 Ben", "23T10 Cleo", "23T14 Anna", "24T00 Ben"]);
    let change = json!({"contact_id": anna, "ends_at": "2026-11-23T11:00:00Z"});
    client.patch(&item("overrides", &placed), &change).expect(200);
    assert_eq!(duty(), ["23T09 Ben", "23T10 Anna", "23T11 Ben", "23T12 Anna", "24T00 Ben"]);
    client.patch(&item("absences", &away), &json!({"contact_id": cleo})).expect(200);
    assert_eq!(duty(), ["23T09 Ben", "23T10 Anna", "23T11 Ben"]);
    client.delete(&item("overrides", &placed)).expect(200);
    client.delete(&item("absences", &away)).expect(200);
    assert_eq!(duty(), ["23T09 Ben"]);
}

#[test]
fn lists_are_filtered_by_schedule_contact_and_time() {
    let client = Server::shared().tenant("business");
    let [anna, ben, cleo] = people(&client);
    let [shop, stock] = ["Shop", "Stock"].map(|name| create_schedule(&client, name, &[daily(&[&anna])]));
    for (schedule, contact, day) in [(&shop, &cleo, 3), (&shop, &anna, 1), (&stock, &ben, 2)] {
        let (from, to) = (format!("2026-12-0{day}"), format!("2026-12-0{}", day + 1));
        let body =
            json!({"schedule_id": schedule["id"], "contact_id": contact, "starts_at": from, "ends_at": to});
        client.post(OVERRIDES, &body).expect(201);
        client.post(ABSENCES, &body).expect(201);
    }
    let id = |of: &Value| of.as_str().unwrap().to_owned();
    for path in [OVERRIDES, ABSENCES] {
        assert_eq!(names(&client, path), ["Anna", "Ben", "Cleo"], "by their begin");
        assert_eq!(
            names(&client, &format!("{path}?contact_ids={},{}", id(&cleo), id(&ben))),
            ["Ben", "Cleo"]
        );
        assert_eq!(names(&client, &format!("{path}?from=2026-12-02&to=2026-12-03")), ["Ben"]);
        assert_eq!(names(&client, &format!("{path}?contact_ids={UNKNOWN_ID}")), [""; 0]);
        assert_eq!(client.get(&format!("{path}?contact_ids=x")).expect(422).errors()[0].0, "contact_ids.0");
    }
    let of_shop = format!("{OVERRIDES}?schedule_ids={}", id(&shop["id"]));
    assert_eq!(names(&client, &of_shop), ["Anna", "Cleo"]);
}

/// A member that is wrong, and the field that is named.
#[rstest]
#[case("schedule_id", json!(UNKNOWN_ID), "schedule_id")]
#[case("schedule_id", Value::Null, "schedule_id")]
#[case("contact_id", json!(UNKNOWN_ID), "contact_id")]
#[case("contact_id", json!("x"), "contact_id")]
#[case("ends_at", json!("2026-12-01"), "ends_at")]
#[case("ends_at", json!("2027-12-03"), "ends_at")]
#[case("starts_at", Value::Null, "starts_at")]
fn an_invalid_override_or_absence_is_refused(#[case] key: &str, #[case] value: Value, #[case] field: &str) {
    let client = Server::shared().tenant("business");
    let [anna, ..] = people(&client);
    let schedule = create_schedule(&client, "Shop", &[daily(&[&anna])]);
    let mut body = json!({"schedule_id": schedule["id"], "contact_id": anna, "starts_at": "2026-12-01",
        "ends_at": "2026-12-02"});
    body[key] = value;
    let paths: &[&str] = if key == "schedule_id" { &[OVERRIDES] } else { &[OVERRIDES, ABSENCES] };
    for path in paths {
        let errors = client.post(path, &body).expect(422).errors();
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].0, field, "{errors:?}");
    }
}

#[test]
fn an_override_stays_in_its_schedule() {
    let client = Server::shared().tenant("business");
    let [anna, ..] = people(&client);
    let [shop, stock] = ["Shop", "Stock"].map(|name| create_schedule(&client, name, &[daily(&[&anna])]));
    let body = json!({"schedule_id": shop["id"], "contact_id": anna, "starts_at": "2026-12-01",
        "ends_at": "2026-12-02"});
    let placed = client.post(OVERRIDES, &body).expect(201).data();
    let refused = client.patch(&item("overrides", &placed), &json!({"schedule_id": stock["id"]})).expect(422);
    assert_eq!(refused.errors()[0].1, "This field cannot be changed after creation.");
    client.patch(&item("overrides", &placed), &json!({"schedule_id": shop["id"]})).expect(200);
}
