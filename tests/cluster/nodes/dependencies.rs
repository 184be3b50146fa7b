//! A service on one node depends on one that another node checks: the other node rechecks it at once when the first fails.

use std::time::Duration;

use serde_json::{Value, json};

use crate::bus::node::Nodes;
use crate::bus::site::Site;
use crate::bus::within;
use crate::nodes::JOINED;
use crate::support::client::Client;
use crate::support::{create, service};

/// Pairs of a service and one behind it: some of them are split between two nodes.
const PAIRS: usize = 8;
/// Far less than a parent's interval, and than the time that its check may take.
const AT_ONCE: Duration = Duration::from_secs(10);

fn watched(client: &Client, site: &Site, (name, page): (&str, &str), more: &Value) -> String {
    let mut body = json!({"name": name, "check_type": "http", "target": site.url(page)});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    create(client, &body)
}

#[tokio::test]
async fn a_dependency_on_another_node_is_rechecked_at_once() {
    let Some(nodes) = Nodes::start(2).await else { return };
    nodes.until_even(&[0, 1], JOINED).await;
    let (site, client) = (Site::start(), nodes.client(0));
    let slow = json!({"settings": {"interval_seconds": 300, "timeout_seconds": 20, "retries": 0}});
    let fast = json!({"interval_seconds": 1, "timeout_seconds": 2, "retries": 0});
    let mut children = Vec::new();
    for number in 0..PAIRS {
        let page = format!("page-{number}");
        let parent = watched(&client, &site, (&format!("Parent {number}"), &page), &slow);
        let more = json!({"settings": fast, "depends_on": [parent]});
        children.push((watched(&client, &site, (&format!("Child {number}"), &page), &more), parent, page));
    }
    let is = |id: &str, status: &str| client.get(&service(id)).expect(200).data()["status"] == status;
    within(AT_ONCE, "everything is up", async || {
        children.iter().all(|(child, parent, _)| is(child, "up") && is(parent, "up"))
    })
    .await;
    site.break_pages(children.iter().map(|(_, _, page)| page.as_str()));
    let is_hidden = |id: &str| !client.get(&service(id)).expect(200).data()["unreachable"].is_null();
    within(AT_ONCE, "every child is unreachable", async || {
        children.iter().all(|(child, ..)| is_hidden(child))
    })
    .await;
    let found = client.get("/v1/incidents?per_page=100").expect(200).data();
    let titles: Vec<&str> =
        found.as_array().unwrap().iter().map(|one| one["title"].as_str().unwrap()).collect();
    assert!(titles.iter().all(|title| title.starts_with("Parent")), "{titles:?}");
}
