//! Maintenances to be tested: made in the state that a test needs.

use serde_json::{Value, json};

use crate::support::client::{Answer, Client};
use crate::support::moments::moment;

/// The path of a maintenance.
pub(crate) fn maintenance(id: &str) -> String {
    format!("/v1/maintenances/{id}")
}

/// Creates a maintenance from `body`, which needs no title and no start, and gives it.
pub(crate) fn planned(client: &Client, body: &Value) -> Value {
    let mut whole = json!({"title": "Database upgrade", "scheduled_start": moment(86_400)});
    for (key, value) in body.as_object().unwrap() {
        whole[key] = value.clone();
    }
    client.post("/v1/maintenances", &whole).expect(201).data()
}

/// Creates a maintenance of these services in this state, and gives its id.
pub(crate) fn in_state(client: &Client, status: &str, services: &[&str]) -> String {
    let made = planned(client, &json!({"service_ids": services, "scheduled_end": moment(172_800)}));
    let id = id_of(&made);
    let acts: &[&str] = match status {
        "scheduled" => &[],
        "in_progress" => &["start"],
        "completed" => &["start", "complete"],
        "cancelled" => &["cancel"],
        _ => panic!("no such state: {status}"),
    };
    for act in acts {
        operate(client, &id, act).expect(200);
    }
    id
}

/// Does this to the maintenance, without a body.
pub(crate) fn operate(client: &Client, id: &str, act: &str) -> Answer {
    client.send("POST", &format!("{}/{act}", maintenance(id)), &[], b"")
}

/// The maintenance as it is now.
pub(crate) fn shown(client: &Client, id: &str) -> Value {
    client.get(&maintenance(id)).expect(200).data()
}

/// The id of what was answered.
pub(crate) fn id_of(data: &Value) -> String {
    data["id"].as_str().unwrap().to_owned()
}

/// Statuses, texts and notices of a timeline.
pub(crate) fn timeline(data: &Value) -> Vec<(String, String, bool)> {
    let entries = data["updates"].as_array().unwrap().iter();
    let text = |entry: &Value, key: &str| entry[key].as_str().unwrap().to_owned();
    let read = |entry: &Value| {
        (text(entry, "status"), text(entry, "message"), entry["notify_subscribers"].as_bool().unwrap())
    };
    entries.map(read).collect()
}

/// The ids of a list.
pub(crate) fn ids(client: &Client, path: &str) -> Vec<String> {
    client.get(path).expect(200).data().as_array().unwrap().iter().map(id_of).collect()
}
