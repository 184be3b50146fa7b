//! A client that reconnects to `GET /v1/events` with the last event id gets the missed events, or a reset when they are not
//! stored.

use std::time::Duration;

use sea_orm::ConnectionTrait as _;

use crate::events::{QUIET, everything_before, heartbeat, incident, maintenance, ping, subjects};
use crate::support::eventually;
use crate::support::listener::Listener;
use crate::support::server::Server;
use crate::support::service;

/// A reconnecting client gets the events since its last event id, also those during a restart of the server.
#[test]
fn a_reconnecting_client_misses_nothing_across_a_restart() {
    let mut server = Server::start();
    let client = server.client();
    let id = heartbeat(&client, "Backup", &[]);
    let query = "?types=status_change,incident,maintenance";
    let mut events = Listener::open(&client, query, None);
    let first = incident(&client, &[&id]);
    let last = events.until("incident", |data| data["id"] == first);
    drop(events);
    let second = incident(&client, &[&id]);
    ping(&client, &id, "/fail");
    server.kill_and_restart();
    let client = server.client();
    client.delete(&format!("/v1/incidents/{first}")).expect(200);
    let planned = maintenance(&client, &[&id]);

    let mut again = Listener::open(&client, query, Some(&last.id));
    let missed = everything_before(&mut again, &client, &id);
    let by_hand = |kind: &str, of: &str| {
        let these = subjects(&missed).into_iter().filter(|one| *one == (kind.to_owned(), of.to_owned()));
        these.count()
    };
    assert!(by_hand("status_change", &id) >= 1, "{missed:?}");
    assert_eq!((by_hand("incident", &second), by_hand("maintenance", &planned)), (1, 1), "{missed:?}");
    assert_eq!(by_hand("incident", &first), 1, "its deletion: {missed:?}");
    let third = incident(&client, &[&id]);
    assert_eq!(again.next().data["id"], third, "and then what happens");

    // From the last of them on nothing is left; on PostgreSQL the last seconds come again, for others write there, too.
    let last = again.last_id.clone().unwrap();
    drop(again);
    let repeated = Listener::open(&client, query, Some(&last)).all(QUIET);
    assert!(repeated.is_empty() || server.databases.is_some(), "{repeated:?}");
    let mut results = Listener::open(&client, "?types=result", Some(&last));
    assert_eq!(results.next().data["service"]["id"], id, "results of the last moments come again");
}

#[tokio::test]
async fn missed_results_are_sent_in_time_order() {
    let server = Server::start();
    let client = server.client();
    let ids = ["Backup", "Export"].map(|name| heartbeat(&client, name, &[]));
    let mut events = Listener::open(&client, "?types=result", None);
    ping(&client, &ids[0], "");
    let start = events.next().id;
    drop(events);
    for _ in 0..6 {
        ids.iter().for_each(|id| ping(&client, id, ""));
    }
    let is_stored = |id: &String, results| {
        let stored = client.get(&format!("{}/checks", service(id))).expect(200).data();
        (stored.as_array().unwrap().len() == results).then_some(())
    };
    // Later events are sent live.
    for (id, results) in ids.iter().zip([7, 6]) {
        eventually("all of them are stored", || is_stored(id, results)).await;
    }
    let mut again = Listener::open(&client, "?types=result", Some(&start));
    let mut missed: Vec<_> = (0..13).map(|_| again.next()).collect();
    missed.extend(again.all(QUIET));
    let of = |id: &String| missed.iter().filter(|event| event.data["service"]["id"] == **id).count();
    assert_eq!((of(&ids[0]), of(&ids[1])), (7, 6));
    let times = missed.iter().map(|event| event.data["check"]["checked_at"].as_str().unwrap());
    assert!(times.is_sorted(), "{missed:?}");
}

/// The newest status change may be deleted with its service: no event id becomes too old for that.
#[test]
fn a_deleted_service_does_not_outdate_an_event_id() {
    let server = Server::start();
    let client = server.client();
    let id = heartbeat(&client, "Backup", &[]);
    let mut events = Listener::open(&client, "", None);
    ping(&client, &id, "/fail");
    events.until("status_change", |data| data["to"] == "down");
    events.all(QUIET);
    let last = events.last_id.clone().unwrap();
    drop(events);
    client.delete(&service(&id)).expect(200);
    let missed = Listener::open(&client, "", Some(&last)).all(QUIET);
    assert!(missed.iter().all(|event| event.kind != "reset"), "{missed:?}");
}

/// More events of another organisation than are ever read for one client.
#[tokio::test]
async fn events_of_other_organisations_do_not_outdate_an_event_id() {
    let mut server = Server::start();
    let other = server.tenant("business");
    incident(&other, &[]);
    let client = server.client();
    let mut events = Listener::open(&client, "?types=status_change,incident", None);
    let id = heartbeat(&client, "Backup", &[]);
    incident(&client, &[&id]);
    let last = events.next().id;
    drop(events);
    server.kill();
    let main = server.main_database().await;
    let numbers =
        "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 220000)";
    let event = "INSERT INTO event (organisation_id, kind, act, subject_id, services, former_services) \
        SELECT organisation_id, kind, act, subject_id, services, former_services FROM number, \
        (SELECT * FROM event ORDER BY id LIMIT 1) AS others";
    main.execute_unprepared(&format!("{numbers} {event}")).await.unwrap();
    main.close().await.unwrap();
    server.restart();
    let client = server.client();
    let second = incident(&client, &[&id]);
    let mut again = Listener::open(&client, "?types=status_change,incident", Some(&last));
    let first = again.until("incident", |data| data["id"] == second);
    assert_eq!(first.kind, "incident", "and not 'reset'");
}

#[test]
fn an_outdated_event_id_causes_a_reset_and_an_invalid_one_is_refused() {
    let server = Server::start();
    let client = server.client();
    let events = Listener::open(&client, "", None).all(Duration::from_millis(300));
    assert_eq!(events, []);
    for id in ["x", "AAAA"] {
        let refused = client.send("GET", "/v1/events", &[&format!("Last-Event-ID: {id}")], b"").expect(400);
        assert_eq!(refused.message(), "The Last-Event-ID header is not the id of an event.");
    }
    let mut listener = Listener::open(&client, "", None);
    incident(&client, &[]);
    let id = listener.next().id;
    // Another organisation can do nothing with it.
    let stranger = server.tenant("business");
    stranger.send("GET", "/v1/events", &[&format!("Last-Event-ID: {id}")], b"").expect(400);
}
