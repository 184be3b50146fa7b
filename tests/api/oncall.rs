//! `/v1/oncall`: who is on duty when, and how people swap duty.

mod calendar;
mod cover_requests;
mod duty;
mod schedules;
mod swaps;

use serde_json::{Value, json};

use crate::contacts::create_contact;
use crate::support::client::Client;

pub(crate) const SCHEDULES: &str = "/v1/oncall/schedules";

/// The path of something below `/v1/oncall`.
fn item(kind: &str, of: &Value) -> String {
    format!("/v1/oncall/{kind}/{}", of["id"].as_str().unwrap())
}

/// A layer that hands over each day at 9 by the clocks of the schedule, from a Monday in 2026 on.
pub(crate) fn daily(contacts: &[&Value]) -> Value {
    json!({"name": "Days", "contact_ids": contacts, "starts_at": "2026-11-23T09:00:00.000Z", "ends_at": null,
        "rotation": {"kind": "daily", "length": 1, "day": null, "at": "09:00"}, "hours": null})
}

pub(crate) fn create_schedule(client: &Client, name: &str, layers: &[Value]) -> Value {
    client.post(SCHEDULES, &json!({"name": name, "layers": layers})).expect(201).data()
}

/// Three contacts.
fn people(client: &Client) -> [Value; 3] {
    ["Anna", "Ben", "Cleo"].map(|name| create_contact(client, name, &json!({})))
}

/// The shifts of a schedule in a period as `23T09 Anna`, and its gaps as `23T09-24T09`.
fn shown(duty: &Value) -> (Vec<String>, Vec<String>) {
    let hour = |at: &Value| at.as_str().unwrap()[8..13].to_owned();
    let rows = |name: &str| duty[name].as_array().unwrap().clone();
    let shift =
        |shift: &Value| format!("{} {}", hour(&shift["starts_at"]), shift["contact_name"].as_str().unwrap());
    let gap = |gap: &Value| format!("{}-{}", hour(&gap["starts_at"]), hour(&gap["ends_at"]));
    (rows("shifts").iter().map(shift).collect(), rows("gaps").iter().map(gap).collect())
}

/// The duty of a schedule in a period.
fn shifts(client: &Client, schedule: &Value, from: &str, to: &str) -> Value {
    client.get(&format!("{}/shifts?from={from}&to={to}", item("schedules", schedule))).expect(200).data()
}
