//! `/v1/notification-channels`: channels by which people are notified.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::server::Server;
use crate::support::sink::{Conduct, Sink};
use crate::support::{UNKNOWN_ID, create_unconfigured};

const PATH: &str = "/v1/notification-channels";
pub(crate) const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const KEYS: &str = "id kind name is_enabled settings events min_severity applies_to tag_ids service_ids \
    quiet_hours digest_above created_at updated_at";

/// The body of a webhook to this address, with these further members.
pub(crate) fn webhook(url: &str, more: &Value) -> Value {
    let mut body = json!({"kind": "webhook", "name": "Hook", "settings": {"url": url, "secret": SECRET}});
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    body
}

/// Creates a channel and returns it.
pub(crate) fn create_channel(client: &Client, body: &Value) -> Value {
    client.post(PATH, body).expect(201).data()
}

fn item(channel: &Value) -> String {
    format!("{PATH}/{}", channel["id"].as_str().unwrap())
}

#[test]
fn a_channel_is_shown_without_its_secrets() {
    let client = Server::shared().tenant("business");
    let body = webhook("https://hooks.example.com/in", &json!({}));
    let channel = create_channel(&client, &body);
    let keys: Vec<&String> = channel.as_object().unwrap().keys().collect();
    assert_eq!(keys, KEYS.split_whitespace().collect::<Vec<_>>());
    let settings = json!({"url": "https://hooks.example.com/in", "secret": "__SERVICE_KEEP_UNCHANGED__"});
    for (key, value) in [
        ("kind", json!("webhook")),
        ("is_enabled", json!(true)),
        ("settings", settings),
        (
            "events",
            json!([
                "incident.opened",
                "incident.service_joined",
                "incident.worsened",
                "incident.reopened",
                "incident.resolved",
                "certificate.expiring",
                "location.impaired",
                "monitor.trouble",
                "sla.burning",
                "oncall.gap"
            ]),
        ),
        ("quiet_hours", json!(null)),
        ("digest_above", json!(null)),
        ("min_severity", json!("minor")),
        ("applies_to", json!("all")),
        ("tag_ids", json!([])),
        ("service_ids", json!([])),
    ] {
        assert_eq!(channel[key], value, "{key}");
    }
    assert_eq!(client.get(&item(&channel)).expect(200).data(), channel);
    assert_eq!(client.get(PATH).expect(200).data(), json!([channel]));
    client.delete(&item(&channel)).expect(200);
    client.get(&item(&channel)).expect(404);
}

#[test]
fn a_channel_is_changed_field_by_field() {
    let client = Server::shared().tenant("business");
    let tag = client.post("/v1/tags", &json!({"key": "env"})).expect(201).data();
    let service = create_unconfigured(&client);
    let channel = create_channel(&client, &webhook("https://hooks.example.com/in", &json!({})));
    let path = item(&channel);
    let mut expected = channel;
    let previous = json!("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX");
    for (change, key, value) in [
        (json!({"name": "Other"}), "name", json!("Other")),
        (json!({"is_enabled": false}), "is_enabled", json!(false)),
        (
            json!({"events": ["incident.resolved", "incident.opened"]}),
            "events",
            json!(["incident.opened", "incident.resolved"]),
        ),
        (json!({"min_severity": "critical"}), "min_severity", json!("critical")),
        (json!({"digest_above": 5}), "digest_above", json!(5)),
        (
            json!({"quiet_hours": {"hours": [{"days": ["sat"], "from": "00:00", "to": "24:00"}], "time_zone": "Europe/Berlin"}}),
            "quiet_hours",
            json!({"hours": [{"days": ["sat"], "from": "00:00", "to": "24:00"}], "time_zone": "Europe/Berlin", "except_from": "critical"}),
        ),
        (json!({"quiet_hours": null}), "quiet_hours", json!(null)),
        (
            json!({"settings": {"url": "http://127.0.0.1:9/x", "secret": "__SERVICE_KEEP_UNCHANGED__"}}),
            "settings",
            json!({"url": "http://127.0.0.1:9/x", "secret": "__SERVICE_KEEP_UNCHANGED__"}),
        ),
        (
            json!({"settings": {"previous_secret": previous}}),
            "settings",
            json!({"url": "http://127.0.0.1:9/x", "secret": "__SERVICE_KEEP_UNCHANGED__", "previous_secret": "__SERVICE_KEEP_UNCHANGED__"}),
        ),
        (
            json!({"settings": {"previous_secret": null}}),
            "settings",
            json!({"url": "http://127.0.0.1:9/x", "secret": "__SERVICE_KEEP_UNCHANGED__"}),
        ),
    ] {
        let changed = client.patch(&path, &change).expect(200).data();
        expected[key] = value;
        expected["updated_at"] = changed["updated_at"].clone();
        assert_eq!(changed, expected, "{change}");
    }
    let named = json!({"tag_ids": [tag["id"]], "service_ids": [service]});
    let changed = client.patch(&path, &named).expect(200).data();
    assert_eq!(changed["applies_to"], "selected");
    assert_eq!((&changed["tag_ids"], &changed["service_ids"]), (&named["tag_ids"], &named["service_ids"]));
    let tag_path = format!("/v1/tags/{}", tag["id"].as_str().unwrap());
    let refused = client.delete(&tag_path).expect(422);
    assert!(refused.body.contains("notification channel Other"), "{}", refused.body);
    let changed = client.patch(&path, &json!({"applies_to": "all"})).expect(200).data();
    assert_eq!((&changed["applies_to"], &changed["tag_ids"]), (&json!("all"), &json!([])));
    client.delete(&tag_path).expect(200);
}

const REQUIRED: &str = "This field is required.";

#[rstest]
#[case(json!({"kind": null}), "kind", "This field must not be null.")]
#[case(json!({"kind": "pigeon"}), "kind", "Unknown value. Allowed:")]
#[case(json!({"name": ""}), "name", "Use at least 1 characters.")]
#[case(json!({"settings": {}}), "settings.url", REQUIRED)]
#[case(json!({"settings": {"url": "https://a.example"}}), "settings.secret", REQUIRED)]
#[case(json!({"settings": {"url": "ftp://a.example", "secret": SECRET}}), "settings.url", "Enter an absolute http or https URL.")]
#[case(json!({"settings": {"url": "https://a.example", "secret": "hunter2"}}), "settings.secret", "Use whsec_ and 24 to 64 random bytes in base64.")]
#[case(json!({"settings": {"url": "https://a.example", "secret": "__SERVICE_KEEP_UNCHANGED__"}}), "settings.secret", "There is no stored value to keep for this field.")]
#[case(json!({"settings": {"url": "https://a.example", "secret": SECRET, "x": 1}}), "settings.x", "Unknown field.")]
#[case(json!({"events": []}), "events", "Send at least 1 entries.")]
#[case(json!({"events": ["incident.lost"]}), "events.0", "Unknown value. Allowed: incident.opened")]
#[case(json!({"min_severity": "bad"}), "min_severity", "Unknown value. Allowed: minor, major, critical.")]
#[case(json!({"applies_to": "some"}), "applies_to", "Unknown value. Allowed: all, selected.")]
#[case(json!({"tag_ids": [UNKNOWN_ID]}), "tag_ids.0", "No tag with the ID")]
#[case(json!({"service_ids": [UNKNOWN_ID]}), "service_ids.0", "No service with the ID")]
#[case(json!({"digest_above": 0}), "digest_above", "The smallest allowed value is 1.")]
#[case(json!({"quiet_hours": {"hours": []}}), "quiet_hours.hours", "Send at least 1 entries.")]
#[case(json!({"quiet_hours": {"hours": []}}), "quiet_hours.time_zone", REQUIRED)]
#[case(json!({"quiet_hours": {"time_zone": "Mars"}}), "quiet_hours.time_zone", "Unknown time zone.")]
#[case(json!({"is_enabled": "yes"}), "is_enabled", "This value must be true or false.")]
fn an_invalid_channel_is_refused(#[case] more: Value, #[case] path: &str, #[case] text: &str) {
    let client = Server::shared().tenant("business");
    let answer = client.post(PATH, &webhook("https://a.example", &more)).expect(422);
    let errors = answer.errors();
    let found = errors.iter().find(|(at, _)| at == path).unwrap_or_else(|| panic!("{errors:?}"));
    assert!(found.1.starts_with(text), "{errors:?}");
    assert!(!answer.body.contains("hunter2"), "no error repeats a secret");
}

/// Channels for people have digests, those of programs on request, and those whose messages are alerts never.
#[rstest]
#[case("slack", json!({"url": "https://hooks.slack.com/services/T/B/x"}), Some(20))]
#[case("webhook", json!({"url": "https://a.example", "secret": SECRET}), None)]
#[case("pagerduty", json!({"routing_key": "0123456789abcdef0123456789abcdef"}), None)]
fn digests_depend_on_the_kind(#[case] kind: &str, #[case] settings: Value, #[case] usual: Option<u32>) {
    let client = Server::shared().tenant("business");
    let body = json!({"kind": kind, "name": "Channel", "settings": settings});
    let channel = create_channel(&client, &body);
    assert_eq!(channel["digest_above"], json!(usual));
    let changed = client.patch(&item(&channel), &json!({"digest_above": 3}));
    if kind == "pagerduty" {
        let refused = changed.expect(422).errors();
        assert_eq!(refused[0].0, "digest_above");
        assert_eq!(refused[0].1, "Channels of this kind take each message by itself.");
    } else {
        assert_eq!(changed.expect(200).data()["digest_above"], 3);
    }
}

#[test]
fn the_kind_of_a_channel_never_changes() {
    let client = Server::shared().tenant("business");
    let channel = create_channel(&client, &webhook("https://a.example", &json!({})));
    client.patch(&item(&channel), &json!({"kind": "webhook"})).expect(200);
    assert_eq!(client.patch(&item(&channel), &json!({"kind": "slack"})).expect(422).errors()[0].0, "kind");
}

#[test]
fn the_plan_limits_channels() {
    let server = Server::shared();
    let client = server.tenant("team");
    for _ in 0..20 {
        create_channel(&client, &webhook("https://a.example", &json!({})));
    }
    let refused = client.post(PATH, &webhook("https://a.example", &json!({}))).expect(402);
    assert_eq!(refused.message(), "The plan allows 20 notification channels; 20 exist.");
    assert_eq!(
        client.get("/v1/me").expect(200).json()["limits"]["notification_channels"],
        json!({"limit": 20, "usage": 20})
    );
}

#[test]
fn a_test_message_shows_the_response() {
    let client = Server::shared().tenant("business");
    let sink = Sink::start();
    let channel = create_channel(&client, &webhook(&sink.url(), &json!({"is_enabled": false})));
    let path = format!("{}/test", item(&channel));
    let tested = client.post(&path, &json!({})).expect(200).data();
    assert_eq!((&tested["outcome"], &tested["status_code"]), (&json!("delivered"), &json!(204)));
    assert_eq!(sink.received()[0].event(), "channel.test");
    for (conduct, outcome, status) in [
        (Conduct::Answer(500, ""), "failed", json!(500)),
        (Conduct::Answer(410, ""), "refused", json!(410)),
        (Conduct::Answer(302, "Location: http://127.0.0.1:9/\r\n"), "refused", json!(302)),
        (Conduct::Close, "failed", json!(null)),
    ] {
        sink.behave(conduct.clone());
        let tested = client.post(&path, &json!({})).expect(200).data();
        assert_eq!(tested["outcome"], outcome, "{conduct:?} {tested}");
        assert_eq!(tested["status_code"], status, "{conduct:?} {tested}");
    }
}

#[test]
fn the_catalogue_describes_every_kind() {
    let client = Server::shared().tenant("business");
    let kinds = client.get("/v1/meta/channel-types").expect(200).data();
    let webhook = &kinds["webhook"];
    assert_eq!((&webhook["key"], &webhook["label"]), (&json!("webhook"), &json!("Webhook")));
    for kind in kinds.as_object().unwrap().values() {
        for field in kind["fields"].as_array().unwrap() {
            for text in ["name", "label", "help"] {
                assert!(field[text].as_str().is_some_and(|text| !text.is_empty()), "{field}");
            }
        }
    }
}
