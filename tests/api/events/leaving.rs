//! A client that shows an incident or a maintenance is notified when it no longer matches the subscription: live, and when the
//! client reconnects.

use rstest::rstest;
use serde_json::{Value, json};

use crate::events::{everything_before, heartbeat, incident, maintenance};
use crate::support::listener::{Event, Listener};
use crate::support::scoped::World;
use crate::support::service;

const TYPES: &str = "types=incident,maintenance";

/// Type and `data` of each, incidents first.
fn event_facts(events: &[Event]) -> Vec<(String, Value)> {
    let mut subjects: Vec<_> = events.iter().map(|event| (event.kind.clone(), event.data.clone())).collect();
    subjects.sort_by(|one, other| one.0.cmp(&other.0));
    subjects
}

/// The events of an incident and a maintenance that are gone.
fn leaving_events(action: &str, opened: &str, planned: &str) -> Vec<(String, Value)> {
    vec![
        ("incident".into(), json!({"action": action, "id": opened, "incident": null})),
        ("maintenance".into(), json!({"action": action, "id": planned, "maintenance": null})),
    ]
}

/// Replaces the affected services by others.
fn moved(world: &World, opened: &str, planned: &str, services: &[&str]) {
    let body = json!({"service_ids": services});
    world.admin.patch(&format!("/v1/incidents/{opened}"), &body).expect(200);
    world.admin.patch(&format!("/v1/maintenances/{planned}"), &body).expect(200);
}

/// Events of an incident and a maintenance of both services that lose the service inside the scope: live, and after a reconnection
/// with the last event id. Later changes of them are not sent.
fn assert_leaving_is_reported(world: &World, is_confined: bool, query: &str) -> [Vec<Event>; 2] {
    let client = if is_confined { &world.confined } else { &world.admin };
    let mut listener = Listener::open(client, query, None);
    let opened = incident(&world.admin, &[&world.inside, &world.outside]);
    let planned = maintenance(&world.admin, &[&world.inside, &world.outside]);
    listener.until("incident", |data| data["id"] == opened);
    let start = listener.until("maintenance", |data| data["id"] == planned).id;
    everything_before(&mut listener, &world.admin, &world.inside);
    moved(world, &opened, &planned, &[&world.outside]);
    let live = everything_before(&mut listener, &world.admin, &world.inside);
    let action = if is_confined { "deleted" } else { "left" };
    assert_eq!(event_facts(&live), leaving_events(action, &opened, &planned), "live");
    world.admin.patch(&format!("/v1/incidents/{opened}"), &json!({"severity": "critical"})).expect(200);
    world.admin.delete(&format!("/v1/maintenances/{planned}")).expect(200);
    assert_eq!(everything_before(&mut listener, &world.admin, &world.inside), [], "they are nothing to it");
    let mut again = Listener::open(client, query, Some(&start));
    let mut replayed = everything_before(&mut again, &world.admin, &world.inside);
    // Others were opened since; on PostgreSQL the minute before both is repeated, too.
    replayed.retain(|event| event.data["id"] == opened || event.data["id"] == planned);
    let mut expected = leaving_events(action, &opened, &planned);
    expected[1].1["action"] = json!("deleted");
    assert_eq!(event_facts(&replayed), expected, "in the replay");
    [live, replayed]
}

#[rstest]
#[case("service_id={inside}")]
#[case("tag=shop")]
#[case("statuspage_id={pages.0}")]
fn a_resource_that_no_longer_matches_the_filter_has_left(#[case] filter: &str) {
    let world = World::new();
    assert_leaving_is_reported(&world, false, &world.fill(&format!("?{TYPES}&{filter}")));
}

/// For a confined token a resource that left its scope is deleted: it does not learn that the resource still exists.
#[rstest]
#[case("")]
#[case("&tag=shop")]
fn a_resource_that_left_the_scope_is_reported_as_deleted(#[case] filter: &str) {
    let world = World::new();
    let heard = assert_leaving_is_reported(&world, true, &format!("?{TYPES}{filter}"));
    let text = format!("{heard:?}");
    assert!(!text.contains(&world.outside) && !text.contains("bank service"), "{text}");
}

/// The token still sees the resource, so it is not reported as deleted.
#[test]
fn a_resource_that_moves_within_the_scope_has_left_the_filter() {
    let world = World::new();
    let other = heartbeat(&world.admin, "Cart", &["shop"]);
    let query = world.fill(&format!("?{TYPES}&service_id={{inside}}"));
    let mut listener = Listener::open(&world.confined, &query, None);
    let (opened, planned) =
        (incident(&world.admin, &[&world.inside]), maintenance(&world.admin, &[&world.inside]));
    listener.until("maintenance", |data| data["id"] == planned);
    moved(&world, &opened, &planned, &[&other]);
    let received = everything_before(&mut listener, &world.admin, &world.inside);
    assert_eq!(event_facts(&received), leaving_events("left", &opened, &planned));
    moved(&world, &opened, &planned, &[&world.inside]);
    let back = everything_before(&mut listener, &world.admin, &world.inside);
    let actions: Vec<_> = back.iter().map(|event| event.data["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["updated", "updated"], "they are shown again: {back:?}");
}

/// The former tags of a service are not stored: unscoped subscribers are notified in any case.
#[test]
fn a_resource_that_loses_a_deleted_service_has_left() {
    let world = World::new();
    let other = heartbeat(&world.admin, "Cart", &["shop"]);
    let mut listener = Listener::open(&world.admin, &format!("?{TYPES}&tag=shop"), None);
    let both = [&*world.inside, &*world.outside];
    let (opened, planned) = (incident(&world.admin, &both), maintenance(&world.admin, &both));
    listener.until("maintenance", |data| data["id"] == planned);
    world.admin.delete(&service(&world.inside)).expect(200);
    let heard = event_facts(&everything_before(&mut listener, &world.admin, &other));
    for event in leaving_events("left", &opened, &planned) {
        assert!(heard.contains(&event), "{event:?} in {heard:?}");
    }
}
