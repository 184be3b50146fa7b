//! Schedules: written, read, refused.

use rstest::rstest;
use serde_json::{Value, json};

use super::{SCHEDULES, create_schedule, daily, item, people};
use crate::contacts::{contact_item, create_contact};
use crate::support::UNKNOWN_ID;
use crate::support::server::Server;

const KEYS: &str = "id name time_zone layers created_at updated_at";

/// Everything that is sent is read back; what is not sent stays.
#[test]
fn a_schedule_is_created_changed_and_deleted() {
    let client = Server::shared().tenant("business");
    let [anna, ben, cleo] = people(&client);
    let nights = json!({"name": "Nights", "contact_ids": [cleo, anna, cleo],
        "starts_at": "2026-11-23T00:00:00.000Z", "ends_at": "2027-11-23T00:00:00.000Z",
        "rotation": {"kind": "weekly", "length": 2, "day": "mon", "at": "18:30"},
        "hours": [{"days": ["mon", "fri"], "from": "18:00", "to": "24:00"}]});
    let hours = json!({"name": "Hours", "contact_ids": [anna], "starts_at": "2026-11-23T00:00:00.000Z",
        "ends_at": null, "rotation": {"kind": "hours", "length": 12, "day": null, "at": null}, "hours": null});
    let layers = json!([daily(&[&anna, &ben]), nights, hours]);
    let body = json!({"name": "Shop", "time_zone": "Europe/Berlin", "layers": layers});
    let created = client.post(SCHEDULES, &body).expect(201);
    let made = created.data();
    let keys: Vec<&String> = made.as_object().unwrap().keys().collect();
    assert_eq!(keys, KEYS.split_whitespace().collect::<Vec<_>>());
    for (key, value) in body.as_object().unwrap() {
        assert_eq!(&made[key], value, "{key}");
    }
    let path = item("schedules", &made);
    assert!(created.header("location").unwrap().ends_with(&path));
    assert_eq!(client.get(&path).expect(200).data(), made);
    assert_eq!(client.get(SCHEDULES).expect(200).data(), json!([made]));
    assert_eq!(client.patch(&path, &made).expect(200).data(), made, "it may be sent as it was read");
    let changed = client.patch(&path, &json!({"time_zone": "UTC", "layers": [hours]})).expect(200).data();
    assert_eq!((&changed["name"], &changed["time_zone"]), (&json!("Shop"), &json!("UTC")));
    assert_eq!(changed["layers"], json!([hours]));
    client.delete(&path).expect(200);
    client.get(&path).expect(404);
}

/// A member of the first layer that is wrong, and the field that is named.
#[rstest]
#[case("name", Value::Null, "layers.0.name")]
#[case("contact_ids", json!([]), "layers.0.contact_ids")]
#[case("contact_ids", json!([UNKNOWN_ID]), "layers.0.contact_ids.0")]
#[case("starts_at", json!("soon"), "layers.0.starts_at")]
#[case("ends_at", json!("2026-11-23T09:00:00Z"), "layers.0.ends_at")]
#[case("when", json!(1), "layers.0.when")]
#[case("rotation", json!({"kind": "monthly"}), "layers.0.rotation.kind")]
#[case("rotation", json!({"kind": "daily"}), "layers.0.rotation.at")]
#[case("rotation", json!({"kind": "daily", "at": "24:00"}), "layers.0.rotation.at")]
#[case("rotation", json!({"kind": "daily", "at": "09:00", "day": "mon"}), "layers.0.rotation.day")]
#[case("rotation", json!({"kind": "weekly", "at": "09:00"}), "layers.0.rotation.day")]
#[case("rotation", json!({"kind": "hours", "length": 0}), "layers.0.rotation.length")]
#[case("rotation", json!({"kind": "hours", "length": 367}), "layers.0.rotation.length")]
#[case("hours", json!([]), "layers.0.hours")]
fn an_invalid_layer_is_refused(#[case] key: &str, #[case] value: Value, #[case] field: &str) {
    let client = Server::shared().tenant("business");
    let contact = create_contact(&client, "Anna", &json!({}));
    let mut layer = daily(&[&contact]);
    layer[key] = value;
    let body = json!({"name": "Shop", "layers": [layer]});
    for path in [SCHEDULES.to_owned(), format!("{SCHEDULES}/preview")] {
        let errors = client.post(&path, &body).expect(422).errors();
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].0, field, "{errors:?}");
    }
    assert_eq!(client.get(SCHEDULES).expect(200).data(), json!([]));
}

#[test]
fn a_contact_in_use_cannot_be_deleted() {
    let client = Server::shared().tenant("business");
    let [anna, ben, cleo] = people(&client);
    let schedule = create_schedule(&client, "Shop", &[daily(&[&anna])]);
    let placed = json!({"schedule_id": schedule["id"], "contact_id": ben,
        "starts_at": "2026-01-01", "ends_at": "2026-02-01"});
    let placed = client.post("/v1/oncall/overrides", &placed).expect(201).data();
    let later = json!({"starts_at": "2190-01-01", "ends_at": "2190-02-01"});
    client.patch(&item("overrides", &placed), &later).expect(200);
    let asks = json!({"schedule_id": schedule["id"], "contact_id": cleo, "starts_at": "2190-01-01",
        "ends_at": "2190-01-02"});
    let request = client.post("/v1/oncall/cover-requests", &asks).expect(201).data();
    let refused = [&anna, &ben, &cleo]
        .map(|contact| client.delete(&contact_item(contact)).expect(422).errors().remove(0).1);
    let expected = [
        "This contact is still in use: on-call schedule Shop, cover request of Shop.",
        "This contact is still in use: override of Shop.",
        "This contact is still in use: cover request of Shop.",
    ];
    assert_eq!(refused, expected);
    client.post(&format!("{}/cancel", item("cover-requests", &request)), &json!({})).expect(200);
    client.delete(&item("schedules", &schedule)).expect(200);
    for contact in [anna, ben, cleo] {
        client.delete(&contact_item(&contact)).expect(200);
    }
}

#[test]
fn the_plan_limits_schedules() {
    let client = Server::shared().tenant("team");
    let contact = create_contact(&client, "Anna", &json!({}));
    for number in 0..10 {
        create_schedule(&client, &format!("Schedule {number}"), &[daily(&[&contact])]);
    }
    let refused =
        client.post(SCHEDULES, &json!({"name": "Shop", "layers": [daily(&[&contact])]})).expect(402);
    assert_eq!(refused.json()["upsell"], json!({"reason": "limit", "key": "oncall_schedules"}));
}
