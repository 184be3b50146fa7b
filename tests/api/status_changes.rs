//! `/v1/services/{id}/status-changes` (contract 4.3.3): what the status was, and since when.

use serde_json::{Value, json};

use crate::heartbeat::{address, ping};
use crate::support::client::Client;
use crate::support::server::Server;
use crate::support::{create, eventually, service, until_status};

fn path(id: &str) -> String {
    format!("{}/status-changes", service(id))
}

/// A heartbeat that was up, down, and is up again; its three changes are recorded.
async fn changed(client: &Client) -> String {
    let made =
        client.post("/v1/services", &json!({"name": "Backup", "check_type": "heartbeat"})).expect(201).data();
    let id = made["id"].as_str().unwrap().to_owned();
    let (up, down) = (address(&made), format!("{}/fail", address(&made)));
    for (ping_path, status) in [(&up, "up"), (&down, "down"), (&up, "up")] {
        ping(client, "POST", ping_path).expect(200);
        until_status(client, &id, status).await;
    }
    let recorded = || (client.get(&path(&id)).expect(200).data().as_array()?.len() == 3).then_some(());
    eventually("all changes are recorded", recorded).await;
    id
}

#[tokio::test]
async fn changes_are_listed_newest_first_with_their_ends() {
    let client = Server::shared_client();
    let id = changed(&client).await;
    let rows = client.get(&path(&id)).expect(200).data();
    let words: Vec<_> = rows.as_array().unwrap().iter().map(|row| (&row["from"], &row["to"])).collect();
    let (up, down, unknown) = (json!("up"), json!("down"), json!("unknown"));
    assert_eq!(words, [(&down, &up), (&up, &down), (&unknown, &up)]);
    assert_eq!(rows[0]["until"], Value::Null);
    assert_eq!((&rows[1]["until"], &rows[2]["until"]), (&rows[0]["at"], &rows[1]["at"]));
    assert_eq!(rows[0]["cause"], "votes");

    let narrowed = |filter: String| client.get(&format!("{}?{filter}", path(&id))).expect(200).data();
    let at = |row: usize| rows[row]["at"].as_str().unwrap();
    assert_eq!(narrowed(format!("from={}", at(1))), json!([rows[0], rows[1]]), "from is inclusive");
    assert_eq!(narrowed(format!("to={}", at(1))), json!([rows[2]]), "to is exclusive");
}

#[tokio::test]
async fn a_walk_by_cursor_sees_each_change_once() {
    let client = Server::shared_client();
    let id = changed(&client).await;
    let whole = client.get(&path(&id)).expect(200).data();
    let mut walked = Vec::new();
    let mut next = Some(format!("{}?per_page=1", path(&id)));
    while let Some(address) = next {
        let page = client.get(&address[address.find("/v1/").unwrap()..]).expect(200).json();
        assert_eq!(page["meta"]["per_page"], 1);
        walked.extend(page["data"].as_array().unwrap().clone());
        next = page["links"]["next"].as_str().map(str::to_owned);
    }
    assert_eq!(Value::from(walked), whole);

    let cursor =
        client.get(&format!("{}?per_page=1", path(&id))).expect(200).json()["meta"]["next_cursor"].clone();
    let other_list = format!("{}/checks?cursor={}", service(&id), cursor.as_str().unwrap());
    client.get(&other_list).expect(422);
    client.get(&format!("{}?cursor=made-up", path(&id))).expect(422);
}

#[tokio::test]
async fn an_unmeasured_service_has_no_changes() {
    let client = Server::shared_client();
    let id = create(&client, &json!({"name": "By hand", "check_type": "manual"}));
    assert_eq!(client.get(&path(&id)).expect(200).data(), json!([]));
}
