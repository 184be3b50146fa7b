//! `GET /v1/events`: events are sent as they happen, to clients that may see them, and to clients that reconnect.

mod backlog;
mod leaving;
mod missed;

use std::time::Duration;

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::eventually;
use crate::support::listener::{Event, Listener};
use crate::support::scoped::{World, made};
use crate::support::server::Server;
use crate::support::{UNKNOWN_ID, service};

/// Long enough for whatever is on its way.
const QUIET: Duration = Duration::from_millis(1_500);

fn heartbeat(client: &Client, name: &str, tags: &[&str]) -> String {
    made(client, "/v1/services", &json!({"name": name, "check_type": "heartbeat", "tags": tags}))
}

/// The job of a heartbeat service says that all is well, or `/fail`.
fn ping(client: &Client, id: &str, what: &str) {
    let shown = client.get(&service(id)).expect(200).data();
    let url = shown["heartbeat"]["ping_url"].as_str().unwrap().to_owned();
    let path = &url[url.find("/ping/").unwrap()..];
    client.without_token().get(&format!("{path}{what}")).expect(200);
}

fn incident(client: &Client, services: &[&str]) -> String {
    made(client, "/v1/incidents", &json!({"title": "Slow", "message": "We look.", "service_ids": services}))
}

fn maintenance(client: &Client, services: &[&str]) -> String {
    let body = json!({"title": "Work", "scheduled_start": "2196-01-01", "service_ids": services});
    made(client, "/v1/maintenances", &body)
}

/// All events until now: an incident of this service, whose event this listener gets, follows them.
fn everything_before(listener: &mut Listener, client: &Client, service: &str) -> Vec<Event> {
    let last = incident(client, &[service]);
    let mut received: Vec<_> =
        std::iter::from_fn(|| Some(listener.next()).filter(|event| event.data["id"] != last)).collect();
    // Events of the same moment arrive together.
    received.extend(listener.all(Duration::from_millis(300)));
    received
}

/// Reads until each of these subjects has had an event of its type.
fn until_all(listener: &mut Listener, mut expected: Vec<(String, String)>) {
    while !expected.is_empty() {
        let subjects_of_event = subjects(&[listener.next()]);
        expected.retain(|one| !subjects_of_event.contains(one));
    }
}

fn actions(events: &[Event], kind: &str) -> Vec<String> {
    let these = events.iter().filter(|event| event.kind == kind);
    these.map(|event| event.data["action"].as_str().unwrap().to_owned()).collect()
}

/// Type and subject of each: a service, an incident or a maintenance.
fn subjects(events: &[Event]) -> Vec<(String, String)> {
    let subject = |data: &Value| data["id"].as_str().or(data["service"]["id"].as_str()).unwrap().to_owned();
    events.iter().map(|event| (event.kind.clone(), subject(&event.data))).collect()
}

#[test]
fn every_type_is_streamed_in_the_shape_of_its_resource() {
    let server = Server::shared();
    let client = server.tenant("business");
    let id = heartbeat(&client, "Backup", &[]);
    let mut events = Listener::open(&client, "", None);
    for line in ["content-type: text/event-stream", "cache-control: no-store", "x-accel-buffering: no"] {
        assert!(events.head.contains(line), "{line}: {}", events.head);
    }
    ping(&client, &id, "");
    let named = json!({"id": id, "name": "Backup"});
    let result = events.until("result", |_| true);
    assert_eq!(result.data["service"], named);
    assert_eq!(result.data["check"], client.get(&format!("{}/checks", service(&id))).expect(200).data()[0]);
    ping(&client, &id, "/fail");
    let change = events.until("status_change", |data| data["to"] == "down");
    assert_eq!((&change.data["service"], &change.data["from"]), (&named, &json!("up")));
    assert_eq!(change.data["cause"], "votes");

    let opened = incident(&client, &[&id]);
    let path = format!("/v1/incidents/{opened}");
    let is_this = |data: &Value| data["id"] == opened;
    let created = events.until("incident", is_this);
    assert_eq!(created.data["action"], "created");
    assert_eq!(created.data["incident"], client.get(&path).expect(200).data());
    client.post(&format!("{path}/resolve"), &json!({"message": "Done."})).expect(200);
    let resolved = events.until("incident", is_this);
    assert_eq!(
        (&resolved.data["action"], &resolved.data["incident"]["status"]),
        (&json!("resolved"), &json!("resolved"))
    );
    client.delete(&path).expect(200);
    let deleted = events.until("incident", is_this);
    assert_eq!(deleted.data, json!({"action": "deleted", "id": opened, "incident": null}));

    let planned = maintenance(&client, &[&id]);
    let path = format!("/v1/maintenances/{planned}");
    let is_this = |data: &Value| data["id"] == planned;
    let created = events.until("maintenance", is_this);
    assert_eq!(created.data["action"], "created");
    assert_eq!(created.data["maintenance"], client.get(&path).expect(200).data());
    client.post(&format!("{path}/cancel"), &json!({})).expect(200);
    let changed = events.until("maintenance", is_this);
    assert_eq!(
        (&changed.data["action"], &changed.data["maintenance"]["status"]),
        (&json!("updated"), &json!("cancelled"))
    );
    client.delete(&path).expect(200);
    assert_eq!(events.until("maintenance", is_this).data["action"], "deleted");
}

/// Neither the events nor their number disclose anything what is outside of the scope, or of another
/// organisation.
#[test]
fn a_confined_token_gets_only_events_of_its_services() {
    let world = World::new();
    let stranger = world.server.tenant("business");
    let foreign = heartbeat(&stranger, "Stranger", &[]);
    let mut all = Listener::open(&world.admin, "", None);
    let mut confined = Listener::open(&world.confined, "", None);
    assert_eq!(confined.within(Duration::from_millis(300)), None);
    let start = confined.last_id.clone().expect("a quiet stream says where it is as well");
    let act = || {
        for id in [&world.outside, &world.inside] {
            ping(&world.admin, id, "");
            ping(&world.admin, id, "/fail");
        }
        ping(&stranger, &foreign, "/fail");
        incident(&stranger, &[&foreign]);
        for set in [vec![&*world.outside], vec![&*world.inside, &*world.outside], vec![&*world.inside]] {
            let opened = incident(&world.admin, &set);
            let planned = maintenance(&world.admin, &set);
            world
                .admin
                .patch(&format!("/v1/incidents/{opened}"), &json!({"severity": "critical"}))
                .expect(200);
            world.admin.delete(&format!("/v1/incidents/{opened}")).expect(200);
            world.admin.delete(&format!("/v1/maintenances/{planned}")).expect(200);
        }
    };
    act();
    let mut texts = Vec::new();
    while actions(&texts, "maintenance").iter().filter(|action| *action == "deleted").count() < 3 {
        texts.push(all.next());
    }
    texts.extend(all.all(QUIET));
    let received = confined.all(QUIET);
    let replayed = Listener::open(&world.confined, "", Some(&start)).all(QUIET);
    assert!(subjects(&texts).contains(&("result".into(), world.outside.clone())));
    assert!(actions(&texts, "incident").iter().filter(|action| *action == "deleted").count() >= 3);
    for events in [received, replayed] {
        let text = format!("{events:?}");
        for secret in [&world.outside, &foreign, "bank service", "Stranger", &world.pages[2]] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
        for kind in ["status_change", "result"] {
            assert!(subjects(&events).contains(&(kind.to_owned(), world.inside.clone())), "{kind}: {text}");
        }
        for kind in ["incident", "maintenance"] {
            let deleted = actions(&events, kind).into_iter().filter(|action| action == "deleted");
            assert_eq!(deleted.count(), 2, "{kind}: {text}");
        }
    }
}

/// The scope of a token is checked when an event is sent, not when it arrives.
#[test]
fn a_service_that_left_the_scope_is_not_streamed() {
    let world = World::new();
    let mut confined = Listener::open(&world.confined, "?types=result", None);
    ping(&world.admin, &world.inside, "");
    assert_eq!(confined.next().data["service"]["id"], world.inside);
    world.admin.patch(&service(&world.inside), &json!({"tags": ["bank"]})).expect(200);
    ping(&world.admin, &world.inside, "");
    assert_eq!(confined.all(QUIET), []);
    world.admin.patch(&service(&world.inside), &json!({"tags": ["shop"]})).expect(200);
    ping(&world.admin, &world.inside, "");
    assert_eq!(confined.next().data["service"]["id"], world.inside);
}

#[rstest]
#[case("?service_id={inside}", true)]
#[case("?tag=shop", true)]
#[case("?statuspage_id={pages.0}", true)]
#[case("?statuspage_id={pages.2}", false)]
#[case("?service_id={inside}&tag=bank", false)]
#[case("?tag=nothing", false)]
#[case::an_empty_narrowing_filter_is_ignored("?types=&tag=shop", true)]
#[case::an_empty_selecting_filter_finds_nothing("?tag=", false)]
#[case("?tag=%20%20bad%3A%3A", false)]
#[case(&format!("?service_id={UNKNOWN_ID}"), false)]
#[case(&format!("?statuspage_id={UNKNOWN_ID}"), false)]
fn filters_choose_services(#[case] query: &str, #[case] is_chosen: bool) {
    let world = World::new();
    let mut listener = Listener::open(&world.admin, &world.fill(query), None);
    let mut unfiltered = Listener::open(&world.admin, "", None);
    for id in [&world.inside, &world.outside] {
        ping(&world.admin, id, "");
    }
    let opened = [&world.inside, &world.outside].map(|id| incident(&world.admin, &[id]));
    let results = [&world.inside, &world.outside].map(|id| ("result".to_owned(), id.clone()));
    let incidents = opened.clone().map(|id| ("incident".to_owned(), id));
    let all = [results, incidents].concat();
    until_all(&mut unfiltered, all.clone());
    let hears_outside = query.contains("pages.2");
    let is_expected = |(_, id): &(String, String)| {
        if *id == world.inside || *id == opened[0] { is_chosen } else { hears_outside }
    };
    // What must be heard may come late; what must not is waited for.
    let mut heard: Vec<(String, String)> = all.into_iter().filter(is_expected).collect();
    until_all(&mut listener, heard.clone());
    heard.extend(subjects(&listener.all(QUIET)));
    for (kind, inside, outside) in
        [("result", &world.inside, &world.outside), ("incident", &opened[0], &opened[1])]
    {
        let hears = |id: &String| heard.contains(&(kind.to_owned(), id.clone()));
        assert_eq!(hears(inside), is_chosen, "{kind} of the service inside: {heard:?}");
        assert_eq!(hears(outside), hears_outside, "{kind} of the other: {heard:?}");
    }
}

#[rstest]
#[case("?types=result,news", "types.1")]
#[case("?service_id=x", "service_id")]
#[case("?statuspage_id=x", "statuspage_id")]
#[case("?tag[]=x", "tag")]
#[case("?service_id=", "service_id")]
#[case("?statuspage_id=", "statuspage_id")]
fn an_invalid_query_is_refused(#[case] query: &str, #[case] field: &str) {
    let client = Server::shared_client();
    let errors = client.get(&format!("/v1/events{query}")).errors();
    assert_eq!(errors.iter().map(|(field, _)| field.as_str()).collect::<Vec<_>>(), [field]);
}

/// Without `types` a stream has those that the token may read; if it may read none, the stream is empty.
#[test]
fn event_types_are_limited_to_the_permissions_of_the_token() {
    let server = Server::shared();
    let organisation = server.organisation("business");
    let admin = server.member(&organisation, "all");
    let id = heartbeat(&admin, "Backup", &[]);
    let mut listener = Listener::open(&server.member(&organisation, "incidents.view"), "", None);
    ping(&admin, &id, "");
    incident(&admin, &[&id]);
    let kinds: Vec<_> = listener.all(QUIET).into_iter().map(|event| event.kind).collect();
    assert_eq!(kinds, ["incident"]);
    let viewer = server.member(&organisation, "services.view");
    for (kind, missing) in [("incident", "incidents.view"), ("maintenance", "maintenances.view")] {
        let refused = viewer.get(&format!("/v1/events?types=result,{kind}")).expect(403);
        assert_eq!(refused.message(), format!("This token is missing the permission '{missing}'."));
    }
    let none = server.member(&organisation, "statuspages.view").get("/v1/events").expect(403);
    assert_eq!(none.message(), "This token is missing the permission 'services.view'.");
    let head = admin.send("HEAD", "/v1/events", &[], b"").expect(200);
    assert_eq!(head.header("content-length"), None, "its body has no length");
}

#[test]
fn revoking_a_token_ends_its_stream() {
    let server = Server::shared();
    let organisation = server.organisation("business");
    let (kept, revoked) = (server.member(&organisation, "all"), server.member(&organisation, "all"));
    let mut ended = Listener::open(&revoked, "", None);
    let mut goes_on = Listener::open(&kept, "", None);
    let id = revoked.get("/v1/me").expect(200).json()["token"]["id"].as_str().unwrap().to_owned();
    assert!(server.command(&["token", "revoke", &id]).status.success());
    ended.until_end(Duration::from_secs(60));
    incident(&kept, &[]);
    assert_eq!(goes_on.next().kind, "incident");
}

#[tokio::test]
async fn the_number_of_streams_is_limited() {
    let variables =
        [("WATCHKEEPER_EVENTS__LISTENERS_PER_ORGANISATION", "2"), ("WATCHKEEPER_EVENTS__LISTENERS", "3")];
    let server = Server::with("", &variables);
    let client = server.client();
    let open = [(); 2].map(|()| Listener::open(&client, "", None));
    let refused = client.get("/v1/events").expect(429);
    assert_eq!(
        refused.message(),
        "Too many streams of events are open. Close one, or try again in 10 seconds."
    );
    assert_eq!(refused.header("retry-after"), Some("10"));
    let other = server.tenant("business");
    let _third = Listener::open(&other, "", None);
    server.tenant("business").get("/v1/events").expect(503);
    drop(open);
    // A closed connection is noticed at the next event.
    let noticed = || {
        incident(&client, &[]);
        (listeners(&client) == "1").then_some(())
    };
    eventually("they are gone", noticed).await;
    let _next = Listener::open(&client, "", None);
}

/// Each different filter is evaluated separately.
#[test]
fn the_number_of_different_filters_is_limited() {
    let server = Server::with("", &[("WATCHKEEPER_EVENTS__AUDIENCES_PER_ORGANISATION", "2")]);
    let client = server.client();
    let queries = ["?types=incident", "?types=result", "?types=result,result"];
    let _open = queries.map(|query| Listener::open(&client, query, None));
    client.get("/v1/events?types=maintenance").expect(429);
    let _other = Listener::open(&server.tenant("business"), "?types=maintenance", None);
}

/// The number of streams that are open.
fn listeners(client: &Client) -> String {
    let metrics = client.without_token().get("/metrics").expect(200).body;
    let line = metrics.lines().find(|line| line.starts_with("watchkeeper_event_listeners ")).unwrap();
    line.rsplit(' ').next().unwrap().to_owned()
}

/// Also one that is listened to does not keep the process from ending.
#[tokio::test]
async fn streams_end_when_the_process_stops() {
    let mut server = Server::start();
    let mut listener = Listener::open(&server.client(), "", None);
    let begun = tokio::time::Instant::now();
    assert_eq!(server.terminate().await, Some(0));
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    listener.until_end(Duration::from_secs(1));
}

/// A client that reads nothing is disconnected, and delays nobody; it misses nothing after a reconnection.
#[tokio::test]
async fn a_client_that_does_not_read_is_cut_off() {
    let server = Server::start();
    let client = server.client();
    let opened = incident(&client, &[]);
    let idle = Listener::open(&client, "?types=incident", None);
    let mut reader = Listener::open(&client, "?types=incident", None);
    let message = "long ".repeat(900);
    for count in 0..60 {
        let entry = json!({"status": "investigating", "message": message});
        client.post(&format!("/v1/incidents/{opened}/updates"), &entry).expect(201);
        reader.until("incident", |data| data["incident"]["updates"].as_array().unwrap().len() == count + 2);
    }
    eventually("it is cut off", || (listeners(&client) == "1").then_some(())).await;
    drop(idle);
}
