//! The pages chosen for an incident (contract 4.10.1-4.10.3): kept in the order of the client, shown in single answers only.

use serde_json::{Value, json};

use crate::incidents::{id_of, incident, open_incident, tenant};
use crate::support::client::Client;
use crate::support::listener::Listener;

/// Creates a status page and gives what an incident shows of it.
fn page(client: &Client, name: &str) -> Value {
    let made = client.post("/v1/statuspages", &json!({"name": name})).expect(201).data();
    json!({"id": made["id"], "name": name})
}

/// Contract 4.10.2: repetitions and null entries are ignored; an update replaces; a deleted page is gone.
#[test]
fn pages_are_chosen_replaced_and_removed() {
    let client = tenant();
    let [zoo, ant, bee] = ["Zoo", "Ant", "Bee"].map(|name| page(&client, name));
    let chosen = json!({"statuspage_ids": [zoo["id"], null, ant["id"], zoo["id"]]});
    let made = open_incident(&client, &chosen);
    assert_eq!(made["statuspages"], json!([zoo, ant]));
    let path = incident(&id_of(&made));
    assert_eq!(client.get(&path).expect(200).data(), made);
    assert_eq!(client.get("/v1/incidents").expect(200).data()[0].get("statuspages"), None);

    let replaced = client.patch(&path, &json!({"statuspage_ids": [bee["id"], zoo["id"]]})).expect(200).data();
    assert_eq!(replaced["statuspages"], json!([bee, zoo]));
    assert_eq!(
        client.json("PUT", &path, &json!({"title": "New"})).expect(200).data()["statuspages"],
        json!([bee, zoo])
    );
    let mut events = Listener::open(&client, "?types=incident", None);
    client.delete(&format!("/v1/statuspages/{}", bee["id"].as_str().unwrap())).expect(200);
    let event = events.next().data;
    assert_eq!((&event["action"], &event["incident"]["statuspages"]), (&json!("updated"), &json!([zoo])));
    assert_eq!(client.get(&path).expect(200).data()["statuspages"], json!([zoo]));
    assert_eq!(
        client.patch(&path, &json!({"statuspage_ids": [null]})).expect(200).data()["statuspages"],
        json!([])
    );
    assert_eq!(client.get(&path).expect(200).data()["statuspages"], json!([]));
}

/// Contract 1.5: a page of another organisation does not exist.
#[test]
fn a_foreign_page_does_not_exist() {
    let (client, other) = (tenant(), tenant());
    let (own, foreign) = (page(&client, "Own"), page(&other, "Foreign"));
    let foreign = foreign["id"].as_str().unwrap();
    let body = json!({"title": "x", "message": "y", "statuspage_ids": [own["id"], foreign]});
    let expected = [("statuspage_ids.1".to_owned(), format!("No status page with the ID {foreign} exists."))];
    assert_eq!(client.post("/v1/incidents", &body).errors(), expected);
}
