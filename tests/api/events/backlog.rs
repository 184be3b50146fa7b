//! A slow client with a large backlog: it gets all of it, and the stream ends when it must.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use crate::events::{QUIET, incident, subjects};
use crate::support::client::Client;
use crate::support::listener::{Event, Listener};
use crate::support::scoped::made;
use crate::support::server::Server;

/// More than what is read in one page.
const MISSED: usize = 800;
/// More rounds than wait for a client, and the time of one.
const ROUNDS: usize = 70;
const ROUND: Duration = Duration::from_millis(120);
/// Number of events that are read at once while more arrive, more than one read of the connection, and the time between reads.
const SIP: usize = 20;
const SIP_EVERY: Duration = Duration::from_secs(2);
const QUERY: &str = "?types=incident";

/// Makes many large incidents: more than the buffers of a connection hold. Gives their ids, and the id of the event before them.
fn missed(client: &Client) -> (Vec<String>, String) {
    let mut listener = Listener::open(client, QUERY, None);
    incident(client, &[]);
    let start = listener.next().id;
    drop(listener);
    let body = json!({"title": "Slow", "message": "long ".repeat(2_000)});
    ((0..MISSED).map(|_| made(client, "/v1/incidents", &body)).collect(), start)
}

/// More events than its queue holds arrive while a client gets its backlog: it gets those as well.
#[tokio::test]
async fn a_slow_client_gets_its_whole_backlog() {
    let server = Server::start();
    let client = server.client();
    let (mut expected, start) = missed(&client);
    let mut slow = Listener::open(&client, QUERY, Some(&start));
    let mut received = Vec::new();
    let mut taken = Instant::now();
    for _ in 0..ROUNDS {
        expected.push(incident(&client, &[]));
        tokio::time::sleep(ROUND).await;
        if taken.elapsed() > SIP_EVERY {
            // A client that reads nothing is disconnected.
            received.extend((0..SIP).map(|_| slow.next()));
            taken = Instant::now();
        }
    }
    let last = expected.last().unwrap();
    while received.last().is_none_or(|event: &Event| event.data["id"] != *last) {
        received.push(slow.next());
    }
    received.extend(slow.all(QUIET));
    let mut ids: Vec<String> = subjects(&received).into_iter().map(|(_, id)| id).collect();
    if server.databases.is_some() {
        // On PostgreSQL the last minute is repeated: earlier events are sent once more.
        ids.retain(|id| expected.contains(id));
    }
    assert_eq!(ids.len(), expected.len(), "each once; has it been cut off: {}", slow.has_ended());
    assert_eq!(ids, expected);
}

/// Also in the middle of what was missed.
#[tokio::test]
async fn revoking_a_token_ends_its_backlog() {
    let server = Arc::new(Server::start());
    let organisation = server.organisation("business");
    let (client, revoked) = (server.member(&organisation, "all"), server.member(&organisation, "all"));
    let (missed, start) = missed(&client);
    let mut slow = Listener::open(&revoked, QUERY, Some(&start));
    slow.next();
    let id = revoked.get("/v1/me").expect(200).json()["token"]["id"].as_str().unwrap().to_owned();
    assert!(server.command(&["token", "revoke", &id]).status.success());
    tokio::time::sleep(Duration::from_secs(4)).await;
    let heard = slow.all(QUIET).len();
    assert!(slow.has_ended() && heard < missed.len() - 1, "{heard} events were told");
}

/// Nor to the end of the process.
#[tokio::test]
async fn stopping_the_server_ends_a_backlog() {
    let mut server = Server::start();
    let client = server.client();
    let (missed, start) = missed(&client);
    let mut slow = Listener::open(&client, QUERY, Some(&start));
    slow.next();
    assert_eq!(server.terminate().await, Some(0));
    let heard = slow.all(QUIET).len();
    assert!(slow.has_ended() && heard < missed.len() - 1, "{heard} events were told");
}
