//! Publishing, withdrawing, and the quotas of status pages (contract 4.13.3, 3.3).

use serde_json::{Value, json};

use crate::support::client::{Answer, Client};
use crate::support::pages::{create_page, id_of, new_page, statuspage};
use crate::support::server::Server;

const PATH: &str = "/v1/statuspages";

fn act(client: &Client, id: &str, act: &str) -> Answer {
    client.send("POST", &format!("{}/{act}", statuspage(id)), &[], b"")
}

/// Contract 4.13.3: publishing and withdrawing, each twice, answer with the whole page.
#[test]
fn a_page_is_published_once_and_withdrawn_once() {
    let client = Server::shared_client();
    let page = create_page(&client, &json!({"is_published": false}));
    let id = id_of(&page);
    assert_eq!(page["is_published"], false);
    let published = act(&client, &id, "publish").expect(200);
    let mut expected = page.clone();
    expected["is_published"] = json!(true);
    expected["updated_at"] = published.data()["updated_at"].clone();
    assert_eq!(published.data().to_string(), expected.to_string());
    assert_eq!(act(&client, &id, "publish").expect(200).body, published.body);
    let withdrawn = act(&client, &id, "unpublish").expect(200);
    assert_eq!(withdrawn.data()["is_published"], false);
    assert_eq!(withdrawn.data()["url"], page["url"]);
    assert_eq!(act(&client, &id, "unpublish").expect(200).body, withdrawn.body);
    client
        .send("POST", &format!("{}/publish", statuspage(&id)), &["Content-Type: text/plain"], b"[not json")
        .expect(200);
}

/// Contract 4.13.3, 2.3: a new page is published only with permission and unless `is_published` is false.
#[test]
fn a_new_page_is_published_only_with_permission() {
    let server = Server::shared();
    let organisation = server.organisation("business");
    let editor = server.member(&organisation, "statuspages.view,statuspages.create");
    assert_eq!(create_page(&editor, &json!({}))["is_published"], false);
    assert_eq!(create_page(&editor, &json!({"is_published": true}))["is_published"], false);
    let publisher = server.member(&organisation, "statuspages.create,statuspages.publish");
    assert_eq!(create_page(&publisher, &json!({}))["is_published"], true);
    assert_eq!(create_page(&publisher, &json!({"is_published": true}))["is_published"], true);
    assert_eq!(create_page(&publisher, &json!({"is_published": false}))["is_published"], false);
}

const FEW: &str = "[plans.team]\nstatuspages = 3\npublished_statuspages = 1\n";

/// Contract 3.3: without a free slot a new page is made unpublished, and publishing is refused on `is_published`.
#[test]
fn the_plan_limits_published_pages() {
    let server = Server::with(FEW, &[]);
    let client = server.tenant("team");
    let first = create_page(&client, &json!({}));
    assert_eq!(first["is_published"], true);
    let second = create_page(&client, &json!({}));
    assert_eq!(second["is_published"], false);
    let refused = act(&client, &id_of(&second), "publish");
    let text = "The plan allows 1 published status pages; 1 are published.";
    assert_eq!(refused.errors(), [("is_published".to_owned(), text.to_owned())]);
    assert!(refused.json().get("upsell").is_none());
    act(&client, &id_of(&first), "publish").expect(200);
    act(&client, &id_of(&first), "unpublish").expect(200);
    act(&client, &id_of(&second), "publish").expect(200);
    let limits = client.get("/v1/me").expect(200).json()["limits"].clone();
    assert_eq!(limits["published_statuspages"], json!({"limit": 1, "usage": 1}));
    assert_eq!(limits["statuspages"], json!({"limit": 3, "usage": 2}));
}

/// Contract 3.3, 1.8: too many pages are 402 with `upsell`, behind the fields.
#[test]
fn the_plan_limits_pages() {
    let server = Server::with(FEW, &[]);
    let client = server.tenant("team");
    for _ in 0..3 {
        new_page(&client);
    }
    let mut refused = client.post(PATH, &json!({"name": "x"})).expect(402).json();
    refused.as_object_mut().unwrap().remove("request_id");
    let expected = json!({"message": "The plan allows 3 status pages; 3 exist.",
        "upsell": {"reason": "limit", "key": "statuspages"}, "limit": 3, "usage": 3});
    assert_eq!(refused.to_string(), expected.to_string());
    client.post(PATH, &json!({"name": ""})).expect(422);
    let first = client.get(PATH).expect(200).data()[0]["id"].as_str().unwrap().to_owned();
    client.delete(&statuspage(&first)).expect(200);
    client.post(PATH, &json!({"name": "x"})).expect(201);
}

fn in_parallel(count: usize, ask: impl Fn(usize) -> Answer + Sync) -> Vec<Answer> {
    std::thread::scope(|scope| {
        let ask = &ask;
        let asking: Vec<_> = (0..count).map(|at| scope.spawn(move || ask(at))).collect();
        asking.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Contract 3.3: quotas are atomic with the write.
#[test]
fn the_last_slot_is_used_once() {
    let server = Server::with("[plans.team]\nstatuspages = 5\npublished_statuspages = 1\n", &[]);
    let client = server.tenant("team");
    let pages: Vec<String> =
        (0..4).map(|_| id_of(&create_page(&client, &json!({"is_published": false})))).collect();
    let mut statuses: Vec<u16> =
        in_parallel(4, |at| act(&client, &pages[at], "publish")).iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 422, 422, 422]);
    let made = in_parallel(4, |_| client.post(PATH, &json!({"name": "x"})));
    let mut statuses: Vec<u16> = made.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 402, 402, 402]);
    let list = client.get(PATH).expect(200).data();
    let published: Vec<&Value> =
        list.as_array().unwrap().iter().filter(|page| page["is_published"] == true).collect();
    assert_eq!((list.as_array().unwrap().len(), published.len()), (5, 1));
}
