//! Cover requests: asked, accepted by the first, declined by all, cancelled, expired.

use serde_json::{Value, json};

use super::{create_schedule, daily, item, people, shifts, shown};
use crate::support::UNKNOWN_ID;
use crate::support::client::{Answer, Client};
use crate::support::postgres::Postgres;
use crate::support::server::Server;

const PATH: &str = "/v1/oncall/cover-requests";
const KEYS: &str = "id status schedule_id schedule_name contact_id contact_name starts_at ends_at note asked \
    accepted_by_id accepted_by_name override_id created_at updated_at";

/// A day far ahead, on which Anna is on duty.
fn body(schedule: &Value, contact: &Value) -> Value {
    json!({"schedule_id": schedule["id"], "contact_id": contact, "starts_at": "2199-11-23T10:00:00.000Z",
        "ends_at": "2199-11-23T14:00:00.000Z", "note": "School play."})
}

fn ask(client: &Client, schedule: &Value, contact: &Value) -> Value {
    client.post(PATH, &body(schedule, contact)).expect(201).data()
}

fn answer(client: &Client, request: &Value, word: &str, contact: &Value) -> Answer {
    client.post(&format!("{}/{word}", item("cover-requests", request)), &json!({"contact_id": contact}))
}

/// All other contacts of the schedule are asked; the first acceptance decides, and a later one is refused.
#[test]
fn the_first_acceptance_closes_the_request() {
    let client = Server::shared().tenant("business");
    let [anna, ben, cleo] = people(&client);
    let schedule =
        create_schedule(&client, "Shop", &[daily(&[&anna]), daily(&[&cleo, &ben]), daily(&[&anna])]);
    let request = ask(&client, &schedule, &anna);
    let keys: Vec<&String> = request.as_object().unwrap().keys().collect();
    assert_eq!(keys, KEYS.split_whitespace().collect::<Vec<_>>());
    let asked = json!([{"contact_id": cleo, "declined_at": null}, {"contact_id": ben, "declined_at": null}]);
    assert_eq!((&request["status"], &request["asked"]), (&json!("open"), &asked));
    assert_eq!(answer(&client, &request, "decline", &cleo).expect(200).data()["status"], "open");
    let accepted = answer(&client, &request, "accept", &ben).expect(200).data();
    assert_eq!((&accepted["status"], &accepted["accepted_by_name"]), (&json!("accepted"), &json!("Ben")));
    assert_eq!(client.get(&item("cover-requests", &request)).expect(200).data(), accepted);
    let duty = shifts(&client, &schedule, "2199-11-23T10:00:00Z", "2199-11-23T15:00:00Z");
    assert_eq!(shown(&duty).0, ["23T10 Ben", "23T14 Anna"]);
    assert_eq!(duty["shifts"][0]["override_id"], accepted["override_id"]);
    for word in ["accept", "decline"] {
        let late = answer(&client, &request, word, &cleo).expect(409);
        assert_eq!(late.message(), "The cover request is 'accepted'; only an open one can be answered.");
    }
    let placed = json!({"id": accepted["override_id"]});
    client.delete(&item("overrides", &placed)).expect(200);
    let shown = client.get(&item("cover-requests", &request)).expect(200).data();
    assert_eq!((&shown["status"], &shown["override_id"]), (&json!("accepted"), &Value::Null));
}

#[test]
fn a_request_declined_by_all_is_declined() {
    let client = Server::shared().tenant("business");
    let [anna, ben, cleo] = people(&client);
    let schedule = create_schedule(&client, "Shop", &[daily(&[&anna, &ben, &cleo])]);
    let all = ask(&client, &schedule, &anna);
    answer(&client, &all, "decline", &ben).expect(200);
    assert_eq!(answer(&client, &all, "decline", &cleo).expect(200).data()["status"], "declined");
    let mut one = body(&schedule, &anna);
    one["asked_contact_id"] = ben.clone();
    let one = client.post(PATH, &one).expect(201).data();
    let stranger = answer(&client, &one, "accept", &cleo).expect(422).errors().remove(0);
    assert_eq!(stranger, ("contact_id".to_owned(), "This contact was not asked.".to_owned()));
    let cancelled = client.post(&format!("{}/cancel", item("cover-requests", &one)), &json!({})).expect(200);
    assert_eq!(cancelled.data()["status"], "cancelled");
    answer(&client, &one, "accept", &ben).expect(409);
    let statuses = |query: &str| {
        let rows = client.get(&format!("{PATH}{query}")).expect(200).data();
        let status = |row: &Value| row["status"].as_str().unwrap().to_owned();
        rows.as_array().unwrap().iter().map(status).collect::<Vec<_>>()
    };
    ask(&client, &schedule, &ben);
    assert_eq!(statuses(""), ["open", "cancelled", "declined"], "newest first");
    assert_eq!(statuses("?status=open,declined"), ["open", "declined"]);
    assert_eq!(statuses("?status=expired"), [""; 0]);
    assert_eq!(statuses(&format!("?contact_ids={}", ben.as_str().unwrap())), ["open"]);
    assert_eq!(client.get(&format!("{PATH}?status=lost")).expect(422).errors()[0].0, "status.0");
}

#[test]
fn an_invalid_request_is_refused() {
    let client = Server::shared().tenant("business");
    let [anna, ben, _] = people(&client);
    let schedule = create_schedule(&client, "Shop", &[daily(&[&anna])]);
    let refused = |key: &str, value: Value| {
        let mut body = body(&schedule, &anna);
        body["asked_contact_id"] = ben.clone();
        body[key] = value;
        let errors = client.post(PATH, &body).expect(422).errors();
        assert_eq!(errors.len(), 1, "{errors:?}");
        errors[0].clone()
    };
    let nobody = "There is nobody else in this schedule who could be asked.";
    assert_eq!(refused("asked_contact_id", Value::Null), ("asked_contact_id".into(), nobody.into()));
    assert_eq!(refused("asked_contact_id", anna.clone()).0, "asked_contact_id");
    assert_eq!(refused("asked_contact_id", json!(UNKNOWN_ID)).0, "asked_contact_id");
    assert_eq!(refused("schedule_id", json!(UNKNOWN_ID)).0, "schedule_id");
    let mut past = body(&schedule, &anna);
    past["asked_contact_id"] = ben.clone();
    (past["starts_at"], past["ends_at"]) = (json!("2026-01-01"), json!("2026-01-02"));
    assert_eq!(client.post(PATH, &past).expect(422).errors()[0].1, "This time must be in the future.");
}

/// Many accept at once: one is answered 200, all others 409, and there is one override.
fn many_accept_at_once(client: &Client) {
    let people: Vec<Value> = (0..8)
        .map(|number| crate::contacts::create_contact(client, &format!("Contact{number}"), &json!({})))
        .collect();
    let schedule = create_schedule(client, "Shop", &[daily(&people.iter().collect::<Vec<_>>())]);
    let request = ask(client, &schedule, &people[0]);
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let request = &request;
        let accept = |contact| scope.spawn(move || answer(client, request, "accept", contact).status);
        let running: Vec<_> = people[1..].iter().map(accept).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let count = |wanted: u16| statuses.iter().filter(|status| **status == wanted).count();
    assert_eq!((count(200), count(409)), (1, 6), "{statuses:?}");
    let placed = client.get("/v1/oncall/overrides").expect(200).data();
    assert_eq!(placed.as_array().unwrap().len(), 1, "{placed}");
    let accepted = client.get(&item("cover-requests", &request)).expect(200).data();
    assert_eq!(placed[0]["contact_id"], accepted["accepted_by_id"]);
}

#[test]
fn one_of_many_simultaneous_acceptances_wins() {
    many_accept_at_once(&Server::shared().tenant("business"));
}

#[test]
fn one_of_many_simultaneous_acceptances_wins_on_postgresql() {
    let Some(postgres) = Postgres::start() else { return };
    let server = Server::with("", &[("WATCHKEEPER_DATABASE_URL", &postgres.url())]);
    many_accept_at_once(&server.client());
}
