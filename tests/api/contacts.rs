//! `/v1/contacts`: people who can be notified.

use rstest::rstest;
use serde_json::{Value, json};

use crate::notification_channels::{create_channel, webhook};
use crate::support::UNKNOWN_ID;
use crate::support::client::Client;
use crate::support::server::Server;
use crate::support::sink::Sink;

const PATH: &str = "/v1/contacts";
const KEYS: &str = "id name email time_zone language channel_ids quiet_hours created_at updated_at";

/// Creates a contact and gives its id.
pub(crate) fn create_contact(client: &Client, name: &str, more: &Value) -> Value {
    let mut body = json!({"name": name, "email": format!("{}@example.com", name.to_lowercase())});
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    client.post(PATH, &body).expect(201).data()["id"].clone()
}

/// The path of a contact.
pub(crate) fn contact_item(id: &Value) -> String {
    format!("{PATH}/{}", id.as_str().unwrap())
}

fn channel(client: &Client) -> Value {
    create_channel(client, &webhook(&Sink::start().url(), &json!({})))["id"].clone()
}

/// Everything that is sent is read back; what is not sent stays; null clears what may be cleared.
#[test]
fn a_contact_is_created_changed_and_deleted() {
    let client = Server::shared().tenant("business");
    let channel = channel(&client);
    let hours = json!([{"days": ["sat", "sun"], "from": "00:00", "to": "24:00"}]);
    let body = json!({"name": "Anna", "email": "anna@example.com", "time_zone": "Europe/Berlin",
        "language": "en", "channel_ids": [channel],
        "quiet_hours": {"hours": hours, "except_from": "major"}});
    let created = client.post(PATH, &body).expect(201);
    let made = created.data();
    let keys: Vec<&String> = made.as_object().unwrap().keys().collect();
    assert_eq!(keys, KEYS.split_whitespace().collect::<Vec<_>>());
    assert!(created.header("location").unwrap().ends_with(&contact_item(&made["id"])));
    for (key, value) in body.as_object().unwrap() {
        assert_eq!(&made[key], value, "{key}");
    }
    let item = contact_item(&made["id"]);
    assert_eq!(client.get(&item).expect(200).data(), made);
    assert_eq!(client.get(PATH).expect(200).data(), json!([made]));
    assert_eq!(client.patch(&item, &made).expect(200).data(), made, "it may be sent as it was read");
    let moved = client.patch(&item, &json!({"time_zone": "Asia/Tokyo"})).expect(200).data();
    assert_eq!((&moved["time_zone"], &moved["quiet_hours"]), (&json!("Asia/Tokyo"), &body["quiet_hours"]));
    let change = json!({"channel_ids": [], "quiet_hours": null});
    let cleared = client.patch(&item, &change).expect(200).data();
    assert_eq!((&cleared["channel_ids"], &cleared["quiet_hours"]), (&json!([]), &Value::Null));
    client.delete(&item).expect(200);
    client.get(&item).expect(404);
}

#[test]
fn omitted_fields_have_defaults() {
    let client = Server::shared().tenant("business");
    let contact = create_contact(
        &client,
        "Ben",
        &json!({"quiet_hours":
        {"hours": [{"days": ["sun"], "from": "00:00", "to": "24:00"}]}}),
    );
    let shown = client.get(&contact_item(&contact)).expect(200).data();
    assert_eq!((&shown["time_zone"], &shown["language"]), (&json!("UTC"), &json!("en")));
    assert_eq!(
        (&shown["channel_ids"], &shown["quiet_hours"]["except_from"]),
        (&json!([]), &json!("critical"))
    );
}

/// A member that is wrong, and the field that is named.
#[rstest]
#[case("name", Value::Null, "name")]
#[case("name", json!(""), "name")]
#[case("email", Value::Null, "email")]
#[case("email", json!("anna"), "email")]
#[case("time_zone", json!("Berlin"), "time_zone")]
#[case("language", json!("fr"), "language")]
#[case("channel_ids", json!([UNKNOWN_ID]), "channel_ids.0")]
#[case("channel_ids", json!(vec![UNKNOWN_ID; 11]), "channel_ids")]
#[case("quiet_hours", json!({}), "quiet_hours.hours")]
#[case("quiet_hours", json!({"hours": [{"days": ["sun"], "from": "10:00", "to": "09:00"}]}), "quiet_hours.hours.0.to")]
#[case("quiet_hours", json!({"hours": [{"days": ["sun"], "from": "10:00", "to": "11:00"}], "time_zone": "UTC"}), "quiet_hours.time_zone")]
fn an_invalid_field_is_refused(#[case] key: &str, #[case] value: Value, #[case] field: &str) {
    let client = Server::shared().tenant("business");
    let mut body = json!({"name": "Anna", "email": "anna@example.com"});
    body[key] = value;
    let errors = client.post(PATH, &body).expect(422).errors();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].0, field, "{errors:?}");
    assert_eq!(client.get(PATH).expect(200).data(), json!([]));
}

#[test]
fn a_channel_used_by_a_contact_cannot_be_deleted() {
    let client = Server::shared().tenant("business");
    let channel = channel(&client);
    let contact = create_contact(&client, "Anna", &json!({"channel_ids": [channel]}));
    let path = format!("/v1/notification-channels/{}", channel.as_str().unwrap());
    let refused = client.delete(&path).expect(422).errors().remove(0).1;
    assert_eq!(refused, "Contacts are told by this notification channel: Anna.");
    client.delete(&contact_item(&contact)).expect(200);
    client.delete(&path).expect(200);
}

#[test]
fn the_plan_limits_contacts() {
    let client = Server::shared().tenant("team");
    for number in 0..50 {
        create_contact(&client, &format!("Contact{number}"), &json!({}));
    }
    let body = json!({"name": "Anna", "email": "anna@example.com"});
    let refused = client.post(PATH, &body).expect(402).json();
    assert_eq!(refused["upsell"], json!({"reason": "limit", "key": "contacts"}));
    assert_eq!(
        client.get("/v1/me").expect(200).json()["limits"]["contacts"],
        json!({"limit": 50, "usage": 50})
    );
}
