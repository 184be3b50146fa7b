//! Events at any node: a subscriber gets the results and incidents of all nodes, each once.

use std::time::Duration;

use chrono::DateTime;
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::bus::history::History;
use crate::bus::{now, patience};
use crate::nodes::TAKEN_OVER;
use crate::nodes::scene::Scene;
use crate::support::listener::{Event, Listener};
use crate::support::service;

/// So many that each node watches some.
const SERVICES: usize = 40;
/// Until events under way have been sent, and results stored.
const TOLD: Duration = Duration::from_secs(3);

/// Events received until it has listened for this long.
fn received_events(listener: &mut Listener, patience: Duration) -> Vec<Event> {
    let begun = Instant::now();
    let mut heard = Vec::new();
    while begun.elapsed() < patience && !listener.has_ended() {
        heard.extend(listener.within(Duration::from_millis(100)));
    }
    heard
}

/// The id of the service, and the start of the check.
fn result(event: &Event) -> (String, i64) {
    let at = event.data["check"]["checked_at"].as_str().unwrap();
    let at = DateTime::parse_from_rfc3339(at).unwrap();
    (event.data["service"]["id"].as_str().unwrap().to_owned(), at.timestamp_millis())
}

/// The results of a time, in an order of their own.
fn results(events: &[Event], (from_ms, to_ms): (i64, i64)) -> Vec<(String, i64)> {
    let results = events.iter().filter(|event| event.kind == "result").map(result);
    let mut results: Vec<_> = results.filter(|(_, at)| (from_ms..to_ms).contains(at)).collect();
    results.sort();
    results
}

/// The same from the history.
fn stored(scene: &Scene, (from_ms, to_ms): (i64, i64)) -> Vec<(String, i64)> {
    let history = History::read(&scene.nodes.postgres);
    let of = |id: &String| {
        let checks = history.checks(id).iter().map(|check| check.checked_ms);
        checks.filter(|at| (from_ms..to_ms).contains(at)).map(|at| (id.clone(), at)).collect::<Vec<_>>()
    };
    let mut stored: Vec<_> = scene.services.iter().flat_map(|one| of(&one.id)).collect();
    stored.sort();
    stored
}

fn statuses(events: &[Event], id: &str) -> Vec<String> {
    let changes = events.iter().filter(|event| event.kind == "status_change");
    let of_it = changes.filter(|event| event.data["service"]["id"] == id);
    of_it.map(|event| event.data["to"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_subscriber_at_any_node_gets_events_of_all_nodes_once() {
    let Some(scene) = Scene::start(2, SERVICES).await else { return };
    // That they are up is stored by then.
    sleep(Duration::from_secs(2)).await;
    let clients = [0, 1].map(|node| scene.nodes.client(node));
    let mut listeners = clients.each_ref().map(|client| Listener::open(client, "", None));
    let begin = now().ms();
    let opened = [0, 1].map(|number| {
        let body =
            json!({"title": "Slow", "message": "We look.", "service_ids": [scene.services[number].id]});
        clients[number].post("/v1/incidents", &body).expect(201).data()["id"].clone()
    });
    sleep(Duration::from_secs(2)).await;
    scene.site.break_pages(scene.services.iter().map(|one| one.page.as_str()));
    sleep(Duration::from_secs(3)).await;
    scene.site.mend_pages();
    sleep(Duration::from_secs(3)).await;
    let listened = (begin, now().ms());
    let mut events = [Vec::new(), Vec::new()];
    let begun = Instant::now();
    let stored = loop {
        for (events, listener) in events.iter_mut().zip(&mut listeners) {
            events.extend(received_events(listener, Duration::from_millis(500)));
        }
        let stored = stored(&scene, listened);
        let is_told = events.iter().all(|events| results(events, listened) == stored);
        if is_told && begun.elapsed() > TOLD || begun.elapsed() > patience(TOLD) {
            break stored;
        }
    };
    assert!(stored.len() > SERVICES * 5, "{} results", stored.len());
    for (node, events) in events.iter().enumerate() {
        assert_eq!(results(events, listened), stored, "at node {node}");
        for one in &scene.services {
            assert_eq!(statuses(events, &one.id), ["down", "up"], "at node {node}");
        }
        for id in &opened {
            let is_new = |event: &&Event| event.data["id"] == *id && event.data["action"] == "created";
            assert_eq!(events.iter().filter(is_new).count(), 1, "at node {node}");
        }
    }
}

/// The last stored results of a dead node are unknown: a subscriber to results restarts, and gets them from the history.
#[tokio::test]
async fn no_event_of_a_dying_node_is_missed() {
    let Some(mut scene) = Scene::start(2, SERVICES).await else { return };
    let client = scene.nodes.client(0);
    let mut listener = Listener::open(&client, "?types=result&tag=even", None);
    let chosen: Vec<String> = scene.services.iter().step_by(2).map(|one| one.id.clone()).collect();
    for id in &chosen {
        client.patch(&service(id), &json!({"tags": ["even"]})).expect(200);
    }
    let begin = now().ms();
    let mut events = received_events(&mut listener, TOLD);
    scene.nodes.server_mut(1).kill();
    let killed = Instant::now();
    while !listener.has_ended() {
        events.extend(received_events(&mut listener, Duration::from_millis(500)));
        assert!(killed.elapsed() < patience(TAKEN_OVER), "the stream goes on");
    }
    let last = listener.last_id.clone().unwrap();
    let come_again = |last: &str| Listener::open(&client, "?types=result&tag=even", Some(last));
    let mut again = come_again(&last);
    sleep(TAKEN_OVER).await;
    let listened = (begin, now().ms());
    let begun = Instant::now();
    loop {
        events.extend(received_events(&mut again, TOLD));
        if again.has_ended() {
            again = come_again(again.last_id.as_ref().unwrap_or(&last));
        }
        let mut told = results(&events, listened);
        told.dedup();
        let mut expected = stored(&scene, listened);
        expected.retain(|(id, _)| chosen.contains(id));
        if told == expected {
            return;
        }
        assert!(begun.elapsed() < patience(TOLD), "{told:?}\nis told, and stored is\n{expected:?}");
    }
}
