//! `start`, `complete`, `cancel`, `extend` (contract 4.11.3): every operation in every state.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::UNKNOWN_ID;
use crate::support::moments::moment;
use crate::support::planned::{id_of, in_state, maintenance, operate, planned, shown, timeline};
use crate::support::server::Server;

const STATES: [&str; 4] = ["scheduled", "in_progress", "completed", "cancelled"];

/// Contract 4.11.3, 5.2: in every other state the response is a conflict without retry, and nothing changes.
#[rstest]
#[case("start", &["scheduled"])]
#[case("complete", &["in_progress"])]
#[case("cancel", &["scheduled"])]
#[case("extend", &["in_progress", "completed"])]
fn an_operation_needs_its_state(#[case] act: &str, #[case] needed: &[&str]) {
    let client = Server::shared_client();
    let quoted: Vec<String> = needed.iter().map(|state| format!("'{state}'")).collect();
    for status in STATES {
        let id = in_state(&client, status, &[]);
        let before = shown(&client, &id);
        let path = format!("{}/{act}", maintenance(&id));
        // For `extend` nothing in the body is right, but the state counts first.
        let answer = client.post(&path, &json!({"scheduled_end": 7}));
        if needed.contains(&status) {
            assert_ne!(answer.status, 409, "{act} {status}");
            continue;
        }
        let text = format!("The maintenance is '{status}'; this operation needs {}.", quoted.join(", "));
        assert_eq!((answer.status, answer.message()), (409, text));
        assert_eq!(answer.header("retry-after"), None);
        assert_eq!(shown(&client, &id), before, "{act} {status}");
    }
}

/// Contract 4.11.3: what each operation changes; the planned window stays.
#[test]
fn a_maintenance_is_started_and_completed_once() {
    let client = Server::shared_client();
    let made = planned(&client, &json!({"message": "Soon.", "notify_start": false}));
    let id = id_of(&made);
    let started = operate(&client, &id, "start").expect(200).data();
    let ended = operate(&client, &id, "complete").expect(200).data();
    for (data, status) in [(&started, "in_progress"), (&ended, "completed")] {
        assert_eq!(data["status"], status);
        assert_eq!(data["scheduled_start"], made["scheduled_start"]);
        assert_eq!(data["actual_start"], data["updates"][1]["created_at"]);
    }
    assert_eq!((&made["actual_start"], &started["actual_end"]), (&Value::Null, &Value::Null));
    assert_eq!(ended["actual_end"], ended["updates"][2]["created_at"]);
    let said = [
        ("scheduled", "Soon.", true),
        ("in_progress", "The maintenance has started.", false),
        ("completed", "The maintenance has been completed.", true),
    ];
    assert_eq!(timeline(&ended), said.map(|(status, text, told)| (status.into(), text.into(), told)));
    operate(&client, &id, "start").expect(409);
    operate(&client, &id, "complete").expect(409);
    assert_eq!(shown(&client, &id), ended);
}

/// Contract 4.11.3: a cancellation is announced as the creation was.
#[rstest]
fn a_maintenance_is_cancelled_once(#[values(true, false)] notify_announcement: bool) {
    let client = Server::shared_client();
    let id = id_of(&planned(&client, &json!({"notify_announcement": notify_announcement})));
    let cancelled = operate(&client, &id, "cancel").expect(200).data();
    assert_eq!((&cancelled["status"], &cancelled["actual_end"]), (&json!("cancelled"), &Value::Null));
    let text = "The maintenance has been cancelled.".to_owned();
    assert_eq!(timeline(&cancelled)[1], ("cancelled".into(), text, notify_announcement));
    operate(&client, &id, "cancel").expect(409);
}

/// Contract 1.2: the bodies of these operations are ignored, whatever they are.
#[rstest]
#[case("start", "scheduled")]
#[case("complete", "in_progress")]
#[case("cancel", "scheduled")]
fn an_operation_ignores_its_body(
    #[case] act: &str,
    #[case] status: &str,
    #[values("", "{}", "not json", "[1, 2]")] body: &str,
) {
    let client = Server::shared_client();
    let path = format!("{}/{act}", maintenance(&in_state(&client, status, &[])));
    client.send("POST", &path, &["Content-Type: text/plain"], body.as_bytes()).expect(200);
}

/// Contract 4.11.3: an extension continues, or reschedules when its start is in the future.
#[rstest]
fn an_extension_continues_or_reschedules(
    #[values("in_progress", "completed")] status: &str,
    #[values(-60, 3_600)] start: i64,
) {
    let client = Server::shared_client();
    let id = in_state(&client, status, &[]);
    let before = shown(&client, &id);
    let (start_text, end) = (moment(start), moment(7_200));
    let body = json!({"scheduled_start": start_text, "scheduled_end": end, "notify_subscribers": true,
        "message": " It takes longer. "});
    let extended = client.post(&format!("{}/extend", maintenance(&id)), &body).expect(200).data();
    let (new, actual_start) =
        if start > 0 { ("scheduled", Value::Null) } else { ("in_progress", before["actual_start"].clone()) };
    for (key, value) in [
        ("status", json!(new)),
        ("scheduled_start", json!(start_text)),
        ("scheduled_end", json!(end)),
        ("actual_start", actual_start),
        ("actual_end", Value::Null),
    ] {
        assert_eq!(extended[key], value, "{key}");
    }
    assert_eq!(timeline(&extended).last().unwrap(), &(new.to_owned(), "It takes longer.".to_owned(), true));
}

/// Contract 4.11.3: null is an open end, which nothing can complete automatically; the start stays unless it is sent.
#[rstest]
#[case(json!({"scheduled_end": null}))]
#[case(json!({"scheduled_end": null, "scheduled_start": null, "message": null}))]
fn an_end_may_be_open(#[case] body: Value) {
    let client = Server::shared_client();
    let made = planned(
        &client,
        &json!({"scheduled_start": moment(-60), "scheduled_end": moment(3_600), "auto_complete": true}),
    );
    let path = format!("{}/extend", maintenance(&id_of(&made)));
    let extended = client.post(&path, &body).expect(200).data();
    assert_eq!((&extended["scheduled_end"], &extended["auto_complete"]), (&Value::Null, &json!(false)));
    assert_eq!(extended["scheduled_start"], made["scheduled_start"]);
    let text = "The maintenance has been extended until further notice.".to_owned();
    assert_eq!(timeline(&extended).last().unwrap(), &("in_progress".to_owned(), text, false));
}

/// Contract 4.11.3, 5.3: the rules of the body, in the order of the table.
#[rstest]
#[case(json!({}), &[("scheduled_end", "This field is required.")])]
#[case(json!({"scheduled_end": moment(-60)}), &[("scheduled_end", "This time must be in the future.")])]
#[case(json!({"scheduled_end": moment(-7_200)}), &[("scheduled_end", "This time must be later than scheduled_start.")])]
#[case(
    json!({"scheduled_end": moment(60), "scheduled_start": moment(120)}),
    &[("scheduled_end", "This time must be later than scheduled_start.")]
)]
#[case(
    json!({"scheduled_end": 1, "scheduled_start": "x", "message": {"fr": "x"}, "notify_subscribers": "x"}),
    &[
        ("scheduled_end", "This value must be a string."),
        ("scheduled_start", "This is not a valid ISO 8601 date or date-time between 1970 and 2200."),
        ("message.fr", "The organisation does not use the language fr."),
        ("message.en", "A text in the default language (en) is required."),
        ("notify_subscribers", "This value must be true or false."),
    ]
)]
fn a_wrong_extension_is_refused(#[case] body: Value, #[case] expected: &[(&str, &str)]) {
    let client = Server::shared_client();
    let id = id_of(&planned(&client, &json!({"scheduled_start": moment(-3_600)})));
    let before = shown(&client, &id);
    let expected: Vec<_> =
        expected.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned())).collect();
    assert_eq!(client.post(&format!("{}/extend", maintenance(&id)), &body).errors(), expected);
    assert_eq!(shown(&client, &id), before);
}

#[rstest]
fn an_unknown_maintenance_is_not_found(#[values("start", "complete", "cancel", "extend")] act: &str) {
    let client = Server::shared_client();
    operate(&client, UNKNOWN_ID, act).expect(404);
    operate(&client, "short", act).expect(404);
}
