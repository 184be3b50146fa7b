//! `/v1/maintenances` (contract 4.11.1, 4.11.2): create, read, change, delete.
//!
//! Operations are in `maintenance_states`, filters in `maintenance_filters`, the effect on services in
//! `maintenance_effects`.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::moments::moment;
use crate::support::pages::{create_page, fresh, statuspage};
use crate::support::planned::{id_of, in_state, maintenance, planned, shown, timeline};
use crate::support::postgres::Postgres;
use crate::support::server::Server;
use crate::support::{UNKNOWN_ID, create, create_unconfigured};

const PATH: &str = "/v1/maintenances";

/// Contract 4.11.1, 4.11.2: omitted fields have their defaults; the keys are in the order of the table.
#[test]
fn a_maintenance_is_created_with_its_defaults() {
    let client = Server::shared_client();
    let (start, me) = (moment(3_600), client.get("/v1/me").expect(200).json());
    let answer =
        client.post(PATH, &json!({"title": " Database upgrade ", "scheduled_start": start})).expect(201);
    let made = answer.data();
    let location = answer.header("location").unwrap().to_owned();
    assert!(location.ends_with(&format!("/v1/maintenances/{}", id_of(&made))), "{location}");
    let (id, created_at, update) = (&made["id"], &made["created_at"], &made["updates"][0]);
    let text =
        format!("Maintenance is planned from {} {} UTC until further notice.", &start[..10], &start[11..16]);
    let expected = json!({
        "id": id, "title": "Database upgrade", "title_translations": {"en": "Database upgrade"},
        "type": "planned", "status": "scheduled", "scheduled_start": start, "scheduled_end": null,
        "actual_start": null, "actual_end": null, "auto_start": true, "auto_complete": false,
        "notify_24h": true, "notify_1h": true, "notify_start": true, "notify_complete": true,
        "created_at": created_at,
        "created_by": {"id": me["token"]["id"], "name": me["token"]["name"], "avatar_url": ""},
        "services": [], "attachments": [], "statuspages": [],
        "updates": [{"id": update["id"], "status": "scheduled", "message": text, "message_translations": {"en": text},
            "notify_subscribers": true, "created_at": created_at}],
        "recurrence": null,
    });
    assert_eq!(made.to_string(), expected.to_string());
    assert_eq!(client.get(&maintenance(id.as_str().unwrap())).expect(200).data(), made);
}

/// Contract 4.11.2: every field of a create request is taken over.
#[test]
fn a_maintenance_is_created_as_it_was_sent() {
    let client = Server::shared_client();
    let (b, a) = (
        create(&client, &json!({"name": "B", "check_type": "manual"})),
        create(&client, &json!({"name": "A", "check_type": "manual"})),
    );
    let (start, end) = (moment(3_600), moment(7_200));
    let made = planned(
        &client,
        &json!({
            "title": {"en": "Upgrade"}, "message": "We upgrade.", "type": "emergency", "scheduled_start": start,
            "scheduled_end": end, "auto_start": false, "auto_complete": true, "service_ids": [b, a, b],
            "statuspage_ids": [null], "notify_announcement": false, "notify_24h": false, "notify_1h": false,
            "notify_start": false, "notify_complete": false,
            "status": "completed", "actual_start": start, "id": UNKNOWN_ID, "created_by": null, "unknown": 1,
        }),
    );
    for (key, value) in [
        ("type", json!("emergency")),
        ("status", json!("scheduled")),
        ("scheduled_start", json!(start)),
        ("scheduled_end", json!(end)),
        ("actual_start", Value::Null),
        ("auto_start", json!(false)),
        ("auto_complete", json!(true)),
        ("notify_24h", json!(false)),
        ("notify_1h", json!(false)),
        ("notify_start", json!(false)),
        ("notify_complete", json!(false)),
        ("services", json!([{"id": a, "name": "A"}, {"id": b, "name": "B"}])),
        ("statuspages", json!([])),
    ] {
        assert_eq!(made[key], value, "{key}");
    }
    assert_eq!(timeline(&made), [("scheduled".into(), "We upgrade.".into(), false)]);
}

/// Contract 4.11.2: with `auto_start` a start that has been reached shows at once; the plan stays as it was.
#[rstest]
#[case(true, "in_progress")]
#[case(false, "scheduled")]
fn a_start_that_has_been_reached_shows_at_once(#[case] auto_start: bool, #[case] status: &str) {
    let client = Server::shared_client();
    let start = moment(-3_600);
    let made = planned(&client, &json!({"scheduled_start": start, "auto_start": auto_start}));
    assert_eq!((&made["status"], &made["scheduled_start"]), (&json!(status), &json!(start)));
    assert_eq!(made["actual_start"], if auto_start { made["created_at"].clone() } else { Value::Null });
    let statuses: Vec<String> = timeline(&made).into_iter().map(|(status, ..)| status).collect();
    let expected: &[&str] = if auto_start { &["scheduled", "in_progress"] } else { &["scheduled"] };
    assert_eq!(statuses, expected);
}

/// Contract 4.11.2, 5.3: every rule of every field, in the order of the table.
#[rstest]
#[case(json!({"title": null}), &[("title", "This field must not be null.")])]
#[case(json!({"title": 7}), &[("title", "This value must be a string.")])]
#[case(json!({"title": " "}), &[("title", "Use at least 1 characters.")])]
#[case(json!({"title": "x".repeat(256)}), &[("title", "Use at most 255 characters.")])]
#[case(json!({"title": {}}), &[("title", "A text in the default language (en) is required.")])]
#[case(json!({"title": {"en": "x".repeat(256)}}), &[("title.en", "Use at most 255 characters.")])]
#[case(json!({"title": {"en": "A", "fr": "B"}}), &[("title.fr", "The organisation does not use the language fr.")])]
#[case(json!({"message": 7}), &[("message", "This value must be a string.")])]
#[case(json!({"message": "x".repeat(10_001)}), &[("message", "Use at most 10000 characters.")])]
#[case(json!({"message": {"en": " "}}), &[("message.en", "A text in the default language (en) is required.")])]
#[case(json!({"type": "routine"}), &[("type", "Unknown value. Allowed: planned, emergency.")])]
#[case(json!({"type": null}), &[("type", "This field must not be null.")])]
#[case(json!({"scheduled_start": null}), &[("scheduled_start", "This field must not be null.")])]
#[case(json!({"scheduled_start": "soon"}), &[("scheduled_start", "This is not a valid ISO 8601 date or date-time between 1970 and 2200.")])]
#[case(json!({"scheduled_end": "soon"}), &[("scheduled_end", "This is not a valid ISO 8601 date or date-time between 1970 and 2200.")])]
#[case(json!({"scheduled_end": moment(60)}), &[("scheduled_end", "This time must be later than scheduled_start.")])]
#[case(json!({"scheduled_start": moment(-60), "scheduled_end": moment(-1)}), &[("scheduled_end", "This time must be in the future.")])]
#[case(json!({"auto_start": "yes"}), &[("auto_start", "This value must be true or false.")])]
#[case(json!({"auto_complete": true}), &[("auto_complete", "Automatic completion needs a planned end.")])]
#[case(json!({"auto_complete": true, "scheduled_end": null}), &[("auto_complete", "Automatic completion needs a planned end.")])]
#[case(json!({"auto_complete": null}), &[("auto_complete", "This field must not be null.")])]
#[case(json!({"service_ids": null}), &[("service_ids", "This field must not be null.")])]
#[case(json!({"service_ids": UNKNOWN_ID}), &[("service_ids", "This value must be a list.")])]
#[case(json!({"service_ids": [null]}), &[("service_ids.0", "This field must not be null.")])]
#[case(json!({"service_ids": ["short"]}), &[("service_ids.0", "This is not a valid ID.")])]
#[case(json!({"service_ids": [UNKNOWN_ID]}), &[("service_ids.0", "No service with the ID AAAAAAAAAAAAAAAAAAAAA exists.")])]
#[case(
    json!({"service_ids": [UNKNOWN_ID, "short"], "statuspage_ids": [UNKNOWN_ID, 7]}),
    &[
        ("service_ids.0", "No service with the ID AAAAAAAAAAAAAAAAAAAAA exists."),
        ("service_ids.1", "This is not a valid ID."),
        ("statuspage_ids.0", "No status page with the ID AAAAAAAAAAAAAAAAAAAAA exists."),
        ("statuspage_ids.1", "This value must be a string."),
    ]
)]
#[case(json!({"service_ids": vec![UNKNOWN_ID; 501]}), &[("service_ids", "Send at most 500 entries.")])]
#[case(json!({"statuspage_ids": null}), &[("statuspage_ids", "This field must not be null.")])]
#[case(json!({"statuspage_ids": [null, UNKNOWN_ID]}), &[("statuspage_ids.1", "No status page with the ID AAAAAAAAAAAAAAAAAAAAA exists.")])]
#[case(json!({"statuspage_ids": vec![UNKNOWN_ID; 101]}), &[("statuspage_ids", "Send at most 100 entries.")])]
#[case(json!({"notify_announcement": 1}), &[("notify_announcement", "This value must be true or false.")])]
#[case(json!({"notify_24h": 1}), &[("notify_24h", "This value must be true or false.")])]
#[case(json!({"notify_1h": 1}), &[("notify_1h", "This value must be true or false.")])]
#[case(json!({"notify_start": 1}), &[("notify_start", "This value must be true or false.")])]
#[case(json!({"notify_complete": null}), &[("notify_complete", "This field must not be null.")])]
#[case(
    json!({"title": 1, "message": 1, "type": 1, "scheduled_start": 1, "scheduled_end": 1, "auto_start": 1, "auto_complete": 1,
        "service_ids": 1, "statuspage_ids": 1, "notify_announcement": 1, "notify_24h": 1, "notify_1h": 1, "notify_start": 1,
        "notify_complete": 1}),
    &[
        ("title", "This value must be a string."),
        ("message", "This value must be a string."),
        ("type", "This value must be a string."),
        ("scheduled_start", "This value must be a string."),
        ("scheduled_end", "This value must be a string."),
        ("auto_start", "This value must be true or false."),
        ("auto_complete", "This value must be true or false."),
        ("service_ids", "This value must be a list."),
        ("statuspage_ids", "This value must be a list."),
        ("notify_announcement", "This value must be true or false."),
        ("notify_24h", "This value must be true or false."),
        ("notify_1h", "This value must be true or false."),
        ("notify_start", "This value must be true or false."),
        ("notify_complete", "This value must be true or false."),
    ]
)]
fn a_wrong_maintenance_is_refused(#[case] changed: Value, #[case] expected: &[(&str, &str)]) {
    let client = Server::shared_client();
    let mut body = json!({"title": "Upgrade", "scheduled_start": moment(3_600)});
    for (key, value) in changed.as_object().unwrap() {
        body[key] = value.clone();
    }
    let expected: Vec<_> =
        expected.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned())).collect();
    assert_eq!(client.post(PATH, &body).errors(), expected);
}

#[test]
fn title_and_start_are_required() {
    let required = "This field is required.".to_owned();
    let expected = [("title".to_owned(), required.clone()), ("scheduled_start".to_owned(), required)];
    assert_eq!(Server::shared_client().post(PATH, &json!({})).errors(), expected);
}

/// Contract 1.1, 4.11.2: a partial update; both methods; what is not sent stays.
#[rstest]
fn an_update_changes_only_the_sent_fields(#[values("PUT", "PATCH")] method: &str) {
    let client = Server::shared_client();
    let service = create_unconfigured(&client);
    let made = planned(&client, &json!({"scheduled_end": moment(172_800)}));
    let path = maintenance(&id_of(&made));
    assert_eq!(client.json(method, &path, &json!({})).expect(200).data(), made);
    for (key, value, seen) in [
        ("title", json!("Move"), json!("Move")),
        ("type", json!("emergency"), json!("emergency")),
        ("auto_start", json!(false), json!(false)),
        ("auto_complete", json!(true), json!(true)),
        ("notify_24h", json!(false), json!(false)),
        ("notify_1h", json!(false), json!(false)),
        ("notify_start", json!(false), json!(false)),
        ("notify_complete", json!(false), json!(false)),
    ] {
        assert_eq!(client.json(method, &path, &json!({key: value})).expect(200).data()[key], seen, "{key}");
    }
    let services = client.json(method, &path, &json!({"service_ids": [service]})).expect(200).data();
    assert_eq!(services["services"], json!([{"id": service, "name": "Shop"}]));
    let none =
        client.json(method, &path, &json!({"service_ids": [], "statuspage_ids": []})).expect(200).data();
    assert_eq!(none["services"], json!([]));
    let ignored =
        json!({"status": "completed", "message": "x", "notify_announcement": "x", "actual_end": moment(0)});
    assert_eq!(client.json(method, &path, &ignored).expect(200).data(), none);
    let (end, start) = (&made["scheduled_end"], &made["scheduled_start"]);
    assert_eq!((&none["scheduled_end"], &none["scheduled_start"]), (end, start));
}

/// Contract 4.11.2, 5.3: what an update refuses.
#[rstest]
#[case(json!({"title": null}), "title", "This field must not be null.")]
#[case(json!({"type": "x"}), "type", "Unknown value. Allowed: planned, emergency.")]
#[case(json!({"scheduled_start": null}), "scheduled_start", "This field must not be null.")]
#[case(json!({"scheduled_start": moment(200_000)}), "scheduled_end", "This time must be later than scheduled_start.")]
#[case(json!({"scheduled_end": moment(-1), "scheduled_start": moment(-60)}), "scheduled_end", "This time must be in the future.")]
#[case(json!({"scheduled_end": moment(60)}), "scheduled_end", "This time must be later than scheduled_start.")]
#[case(json!({"scheduled_end": null, "auto_complete": true}), "auto_complete", "Automatic completion needs a planned end.")]
#[case(json!({"service_ids": null}), "service_ids", "This field must not be null.")]
#[case(json!({"statuspage_ids": ["x"]}), "statuspage_ids.0", "This is not a valid ID.")]
#[case(json!({"notify_24h": null}), "notify_24h", "This field must not be null.")]
#[case(json!({"post_update": 1}), "post_update", "This value must be true or false.")]
#[case(json!({"notify_subscribers": null}), "notify_subscribers", "This field must not be null.")]
fn a_wrong_update_is_refused(#[case] body: Value, #[case] key: &str, #[case] text: &str) {
    let client = Server::shared_client();
    let made = planned(&client, &json!({"scheduled_end": moment(172_800)}));
    let path = maintenance(&id_of(&made));
    assert_eq!(client.patch(&path, &body).errors(), [(key.to_owned(), text.to_owned())]);
    assert_eq!(client.get(&path).expect(200).data(), made);
}

/// Contract 4.11.2: clearing the end takes automatic completion away; so nothing is refused.
#[test]
fn clearing_the_end_disables_automatic_completion() {
    let client = Server::shared_client();
    let made = planned(&client, &json!({"scheduled_end": moment(172_800), "auto_complete": true}));
    let path = maintenance(&id_of(&made));
    let open = client.patch(&path, &json!({"scheduled_end": null})).expect(200).data();
    assert_eq!((&open["scheduled_end"], &open["auto_complete"]), (&Value::Null, &json!(false)));
    let both = json!({"scheduled_end": moment(172_800), "auto_complete": true});
    assert_eq!(client.patch(&path, &both).expect(200).data()["auto_complete"], true);
    let off = client.patch(&path, &json!({"scheduled_end": null, "auto_complete": false})).expect(200).data();
    assert_eq!(off["auto_complete"], false);
}

/// Contract 4.11.2: `post_update`, `notify_subscribers`; only a changed window is announced.
#[rstest]
#[case(json!({}), Some(false))]
#[case(json!({"notify_subscribers": true}), Some(true))]
#[case(json!({"post_update": false, "notify_subscribers": true}), None)]
fn a_changed_window_is_announced(#[case] further: Value, #[case] told: Option<bool>) {
    let client = Server::shared_client();
    let made = planned(&client, &json!({"message": "Soon."}));
    let path = maintenance(&id_of(&made));
    let (start, end) = (moment(90_000), moment(100_000));
    let mut body = further;
    body["scheduled_start"] = json!(start);
    body["scheduled_end"] = json!(end);
    let moved = client.patch(&path, &body).expect(200).data();
    let minute = |text: &str| format!("{} {} UTC", &text[..10], &text[11..16]);
    let text = format!("The maintenance is now planned from {} to {}.", minute(&start), minute(&end));
    let mut expected = vec![("scheduled".to_owned(), "Soon.".to_owned(), true)];
    expected.extend(told.map(|notified| ("scheduled".to_owned(), text, notified)));
    assert_eq!(timeline(&moved), expected);
    assert_eq!(timeline(&client.patch(&path, &body).expect(200).data()), expected, "nothing has changed");
}

/// Contract 4.11.2: an update that lets the start be reached starts it.
#[rstest]
#[case(json!({"scheduled_start": moment(-10)}), json!({}))]
#[case(json!({"auto_start": true}), json!({"scheduled_start": moment(-10), "auto_start": false}))]
fn an_update_may_start_a_maintenance(#[case] body: Value, #[case] made: Value) {
    let client = Server::shared_client();
    let made = planned(&client, &made);
    assert_eq!(made["status"], "scheduled");
    let started = client.patch(&maintenance(&id_of(&made)), &body).expect(200).data();
    assert_eq!(started["status"], "in_progress");
    assert!(started["actual_start"].is_string());
    assert_eq!(timeline(&started).last().unwrap().0, "in_progress");
}

/// Contract 4.11.2: the same instants are no change, whatever offset, whatever the state, however old.
#[rstest]
fn an_unchanged_window_is_never_refused(
    #[values("scheduled", "in_progress", "completed", "cancelled")] status: &str,
) {
    let client = Server::shared_client();
    let id = in_state(&client, status, &[]);
    let before = shown(&client, &id);
    let other_offset = |moment: &Value| moment.as_str().unwrap().replace('Z', "+00:00");
    let body = json!({"scheduled_start": other_offset(&before["scheduled_start"]),
        "scheduled_end": other_offset(&before["scheduled_end"]), "title": "Again"});
    let after = client.patch(&maintenance(&id), &body).expect(200).data();
    assert_eq!((&after["title"], &after["updates"]), (&json!("Again"), &before["updates"]));
    assert_eq!((&after["status"], &after["scheduled_end"]), (&before["status"], &before["scheduled_end"]));
}

/// Contract 4.11.2: the whole window may be sent again after its end has passed.
#[tokio::test]
async fn a_window_may_be_sent_again_after_its_end() {
    let client = Server::shared_client();
    let window = json!({"scheduled_start": moment(-60), "scheduled_end": moment(2)});
    let made = planned(&client, &window);
    let path = maintenance(&id_of(&made));
    crate::support::eventually("the end has passed", || {
        (moment(0).as_str() > made["scheduled_end"].as_str()?).then_some(())
    })
    .await;
    let again = client.patch(&path, &window).expect(200).data();
    assert_eq!((&again["status"], &again["updates"]), (&json!("in_progress"), &made["updates"]));
    let start_only = json!({"scheduled_start": window["scheduled_start"]});
    client.patch(&path, &start_only).expect(200);
}

/// Contract 4.11.2, 5.2: in which state which part of the window is locked. A conflict comes before wrong fields.
#[rstest]
#[case("in_progress", json!({"scheduled_start": moment(3_600)}))]
#[case("in_progress", json!({"scheduled_start": moment(3_600), "title": 7}))]
#[case("completed", json!({"scheduled_start": moment(3_600)}))]
#[case("completed", json!({"scheduled_end": moment(999_999)}))]
#[case("completed", json!({"scheduled_end": null, "title": null}))]
#[case("cancelled", json!({"scheduled_start": moment(3_600)}))]
#[case("cancelled", json!({"scheduled_end": null}))]
fn a_locked_window_is_a_conflict(#[case] status: &str, #[case] body: Value) {
    let client = Server::shared_client();
    let id = in_state(&client, status, &[]);
    let before = shown(&client, &id);
    let refused = client.patch(&maintenance(&id), &body).expect(409);
    let text = format!("The window of a maintenance in state '{status}' cannot be changed here.");
    assert_eq!((refused.message(), refused.header("retry-after")), (text, None));
    assert_eq!(shown(&client, &id), before);
}

/// Contract 4.11.2: a running maintenance may get another end, or none.
#[test]
fn the_end_of_a_running_maintenance_may_change() {
    let client = Server::shared_client();
    let id = in_state(&client, "in_progress", &[]);
    let end = moment(400_000);
    let moved = client.patch(&maintenance(&id), &json!({"scheduled_end": end})).expect(200).data();
    assert_eq!((&moved["scheduled_end"], &moved["status"]), (&json!(end), &json!("in_progress")));
    assert_eq!(timeline(&moved).last().unwrap().0, "in_progress");
    let open = client.patch(&maintenance(&id), &json!({"scheduled_end": null})).expect(200).data();
    assert_eq!(open["scheduled_end"], Value::Null);
    let past = client.patch(&maintenance(&id), &json!({"scheduled_end": moment(-1)}));
    assert_eq!(past.errors()[0].0, "scheduled_end");
}

/// Contract 4.11.2: in every state everything but the window may change.
#[rstest]
fn other_fields_may_change_in_every_state(
    #[values("scheduled", "in_progress", "completed", "cancelled")] status: &str,
) {
    let client = Server::shared_client();
    let (id, service) = (in_state(&client, status, &[]), create_unconfigured(&client));
    let body = json!({"title": "New", "type": "emergency", "service_ids": [service], "notify_start": false});
    let after = client.patch(&maintenance(&id), &body).expect(200).data();
    assert_eq!((&after["title"], &after["type"]), (&json!("New"), &json!("emergency")));
    assert_eq!((&after["services"][0]["id"], &after["status"]), (&json!(service), &json!(status)));
}

/// Contract 1.3, 6: a maintenance is deleted in every state, once.
#[rstest]
fn a_maintenance_is_deleted_once(
    #[values("scheduled", "in_progress", "completed", "cancelled")] status: &str,
) {
    let client = Server::shared_client();
    let path = maintenance(&in_state(&client, status, &[]));
    let answer = client.delete(&path).expect(200).json();
    assert_eq!(answer, json!({"data": {"id": path.rsplit('/').next().unwrap(), "deleted": true}}));
    client.delete(&path).expect(404);
    client.get(&path).expect(404);
}

/// Contract 1.8: the body is read after the maintenance was found, and before its state counts.
#[test]
fn refusals_are_in_the_order_of_the_contract() {
    let client = Server::shared_client();
    let unknown = maintenance(UNKNOWN_ID);
    client.send("PATCH", &unknown, &[], b"not json").expect(404);
    client.send("PATCH", &maintenance("x"), &[], b"{}").expect(404);
    let done = maintenance(&in_state(&client, "completed", &[]));
    client.send("PATCH", &done, &[], b"not json").expect(400);
    client.send("POST", &format!("{done}/extend"), &[], b"[]").expect(400);
    client.send("POST", PATH, &[], b"[]").expect(400);
}

/// Contract 4.11.1: chosen pages are in the order of the client, only in single responses; an update replaces them.
#[test]
fn pages_are_chosen_in_order() {
    let server = Server::shared();
    let client = server.tenant("business");
    let page = |name: &str| {
        let slug = format!(
            "{}-{}",
            name.to_lowercase(),
            moment(0).replace([':', '.', 'T', 'Z'], "-").trim_matches('-')
        );
        id_of(&client.post("/v1/statuspages", &json!({"name": name, "slug": slug})).expect(201).data())
    };
    let (b, a) = (page("B"), page("A"));
    let made = planned(&client, &json!({"statuspage_ids": [b, null, a, b]}));
    assert_eq!(made["statuspages"], json!([{"id": b, "name": "B"}, {"id": a, "name": "A"}]));
    let path = maintenance(&id_of(&made));
    let updated = client.patch(&path, &json!({"title": "Other"})).expect(200).data();
    assert_eq!(updated["statuspages"], made["statuspages"]);
    let replaced = client.patch(&path, &json!({"statuspage_ids": [a]})).expect(200).data();
    assert_eq!(replaced["statuspages"], json!([{"id": a, "name": "A"}]));
    assert_eq!(client.get(PATH).expect(200).data()[0].get("statuspages"), None);
    let foreign = server
        .tenant("business")
        .post(PATH, &json!({"title": "x", "scheduled_start": moment(9), "statuspage_ids": [a]}));
    assert_eq!(
        foreign.errors(),
        [("statuspage_ids.0".to_owned(), format!("No status page with the ID {a} exists."))]
    );
}

/// Contract 1.5, 4.11.2: a page that is deleted meanwhile was there, or was not; both have an answer.
#[test]
fn a_concurrently_deleted_page_is_handled_on_postgresql() {
    let Some(postgres) = Postgres::start() else { return };
    let server = Server::with("", &[("WATCHKEEPER_DATABASE_URL", &postgres.url())]);
    let client = &server.client();
    for _ in 0..15 {
        let page = id_of(&create_page(client, &json!({"slug": fresh("gone")})));
        let body = json!({"title": "T", "scheduled_start": "2100-01-01", "statuspage_ids": [page]});
        std::thread::scope(|scope| {
            scope.spawn(|| client.delete(&statuspage(&page)).expect(200));
            for _ in 0..3 {
                scope.spawn(|| {
                    let status = client.post(PATH, &body).status;
                    assert!([201, 422].contains(&status), "{status}");
                });
            }
        });
    }
}
