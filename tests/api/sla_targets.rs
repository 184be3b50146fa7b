//! `/v1/sla-targets`: what was promised about services.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::create_unconfigured;
use crate::support::server::Server;

const PATH: &str = "/v1/sla-targets";
const KEYS: &str = "id name service_id service_name tag_id tag_label objective period rolling_days time_zone \
    business_hours created_at updated_at";

fn create_tag(client: &Client, key: &str) -> String {
    client.post("/v1/tags", &json!({"key": key})).expect(201).data()["id"].as_str().unwrap().to_owned()
}

fn item(target: &Value) -> String {
    format!("{PATH}/{}", target["id"].as_str().unwrap())
}

fn whole(client: &Client) -> Value {
    json!({"name": "Shop", "tag_id": create_tag(client, "shop"), "objective": 99.95, "period": "rolling",
        "rolling_days": 28, "time_zone": "Europe/Berlin",
        "business_hours": [{"days": ["tue", "mon"], "from": "08:00", "to": "24:00"}]})
}

/// Everything that is sent is read back; what is not sent stays; null clears what may be cleared.
#[test]
fn a_target_is_created_changed_and_deleted() {
    let client = Server::shared().tenant("business");
    let body = whole(&client);
    let created = client.post(PATH, &body).expect(201);
    let made = created.data();
    let keys: Vec<&String> = made.as_object().unwrap().keys().collect();
    assert_eq!(keys, KEYS.split_whitespace().collect::<Vec<_>>());
    assert!(created.header("location").unwrap().ends_with(&item(&made)));
    for (key, value) in body.as_object().unwrap() {
        assert_eq!(&made[key], value, "{key}");
    }
    assert_eq!(made["tag_label"], "shop");
    assert_eq!(client.get(&item(&made)).expect(200).data(), made);
    assert_eq!(client.get(PATH).expect(200).data(), json!([made]));
    assert_eq!(client.patch(&item(&made), &made).expect(200).data(), made, "it may be sent as it was read");

    let service = create_unconfigured(&client);
    let change = json!({"service_id": service, "period": "month", "business_hours": null, "objective": 99});
    let changed = client.patch(&item(&made), &change).expect(200).data();
    for (key, value) in [
        ("service_id", json!(service)),
        ("tag_id", Value::Null),
        ("objective", json!(99.0)),
        ("period", json!("month")),
        ("rolling_days", Value::Null),
        ("business_hours", Value::Null),
        ("time_zone", json!("Europe/Berlin")),
    ] {
        assert_eq!(changed[key], value, "{key}");
    }
    client.delete(&item(&made)).expect(200);
    client.get(&item(&made)).expect(404);
}

#[rstest]
#[case(json!({"name": null}), "name", "This field must not be null.")]
#[case(json!({"tag_id": null}), "service_id", "Send either service_id or tag_id.")]
#[case(json!({"service_id": "8rumoia4tHtM30RLo1EcP", "tag_id": null}), "service_id",
    "No service with the ID 8rumoia4tHtM30RLo1EcP exists.")]
#[case(json!({"tag_id": "rNSJxMbDTX2uHc08AiCqo"}), "tag_id", "No tag with the ID rNSJxMbDTX2uHc08AiCqo exists.")]
#[case(json!({"objective": "99.9"}), "objective", "This value must be a number.")]
#[case(json!({"objective": 100}), "objective", "Use 50 to 99.9999 per cent, with at most four decimals.")]
#[case(json!({"objective": 99.99999}), "objective", "Use 50 to 99.9999 per cent, with at most four decimals.")]
#[case(json!({"period": "week"}), "period", "Unknown value. Allowed: month, quarter, year, rolling.")]
#[case(json!({"rolling_days": 0}), "rolling_days", "The smallest allowed value is 1.")]
#[case(json!({"rolling_days": 367}), "rolling_days", "The largest allowed value is 366.")]
#[case(json!({"period": "month", "rolling_days": 7}), "rolling_days", "Only a rolling period has a number of days.")]
#[case(json!({"rolling_days": null}), "rolling_days", "This field must not be null.")]
#[case(json!({"time_zone": "Mars/Olympus"}), "time_zone",
    "Unknown time zone. Use a name of the IANA database, such as Europe/Berlin.")]
#[case(json!({"business_hours": []}), "business_hours", "Send at least 1 entries.")]
#[case(json!({"business_hours": [{"days": [], "from": "08:00", "to": "09:00"}]}), "business_hours.0.days",
    "Send at least 1 entries.")]
#[case(json!({"business_hours": [{"days": ["mon"], "from": "8:00", "to": "09:00"}]}), "business_hours.0.from",
    "Enter a time as HH:MM, from 00:00 to 24:00.")]
#[case(json!({"business_hours": [{"days": ["mon"], "from": "09:00", "to": "09:00"}]}), "business_hours.0.to",
    "This time must be later than from.")]
#[case(json!({"business_hours": [{"days": ["mon"], "from": "09:00", "to": "10:00", "zone": "UTC"}]}),
    "business_hours.0.zone", "Unknown field.")]
fn an_invalid_field_is_refused(#[case] change: Value, #[case] path: &str, #[case] text: &str) {
    let client = Server::shared().tenant("business");
    let mut body = whole(&client);
    for (key, value) in change.as_object().unwrap() {
        body[key] = value.clone();
    }
    assert_eq!(client.post(PATH, &body).errors(), [(path.to_owned(), text.to_owned())]);
}

/// Contract 4.4: a tag with a target cannot be deleted; a deleted service deletes its target.
#[test]
fn a_tag_in_use_cannot_be_deleted_and_a_service_deletes_its_target() {
    let client = Server::shared().tenant("business");
    let mut body = whole(&client);
    let target = client.post(PATH, &body).expect(201).data();
    let tag = format!("/v1/tags/{}", target["tag_id"].as_str().unwrap());
    let text = "This tag is still in use: SLA target Shop.".to_owned();
    assert_eq!(client.delete(&tag).errors(), [("tag".to_owned(), text)]);
    client.delete(&item(&target)).expect(200);
    client.delete(&tag).expect(200);

    let service = create_unconfigured(&client);
    (body["service_id"], body["tag_id"]) = (json!(service), Value::Null);
    let target = client.post(PATH, &body).expect(201).data();
    client.delete(&format!("/v1/services/{service}")).expect(200);
    client.get(&item(&target)).expect(404);
}
