//! An answer says only what is durable, also where it was made from the work of a write that shares its commit.
//!
//! Two writers are held back by a lock on the database file, then run one after the other in one common transaction,
//! and every `fdatasync` takes a second. Whoever answers before it has answered from rows that a power cut would take
//! away, and that no reader sees yet: so what was answered is read again at once.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::client::{Answer, Client};
use crate::support::create;
use crate::support::outsider::Outsider;
use crate::support::server::Server;
use crate::tracer::{self, Tracer};

/// Delay of a write to the disk, in microseconds.
const SYNC_US: &str = "delay_enter=1000000";
/// Maximum time of a request in the queue of the writers.
const QUEUED: Duration = Duration::from_millis(200);

/// Waits on a thread of the test itself.
#[expect(clippy::disallowed_methods, reason = "there is no runtime here that it could block")]
pub(crate) fn pause(duration: Duration) {
    std::thread::sleep(duration);
}

/// Sends both requests so that they share a commit; `look` is called with the second response as soon as it arrives.
fn share_a_commit(
    outsider: &Outsider,
    [first, second]: [&(dyn Fn() -> Answer + Sync); 2],
    look: impl Fn(&Answer) + Send + Sync,
) {
    outsider.hold();
    std::thread::scope(|scope| {
        let first = scope.spawn(first);
        pause(QUEUED);
        let second = scope.spawn(|| {
            let answer = second();
            look(&answer);
        });
        pause(QUEUED);
        assert!(!first.is_finished() && !second.is_finished(), "both wait for the lock");
        outsider.release();
        assert!(first.join().unwrap().status < 300);
        second.join().unwrap();
    });
}

/// The same request twice: its answer, what is read at once, and what both must show.
struct Twice {
    method: &'static str,
    path: String,
    body: Value,
    /// Response to the second request.
    status: u16,
    /// Path that is read, and the member that must show the effect.
    read: String,
    shows: (&'static str, Value),
}

impl Twice {
    fn check(&self, client: &Client, outsider: &Outsider) {
        let send = || client.json(self.method, &self.path, &self.body);
        share_a_commit(outsider, [&send, &send], |answer| {
            let read = client.get(&self.read);
            assert_eq!(answer.status, self.status, "{} {}: {}", self.method, self.path, answer.body);
            let (pointer, value) = &self.shows;
            let shown = read.json().pointer(pointer).cloned().unwrap_or_default();
            assert_eq!(shown, *value, "{} {} was answered too early", self.method, self.path);
        });
    }
}

fn id(answer: &Answer) -> String {
    answer.data()["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_response_contains_only_durable_data() {
    if !tracer::is_possible() {
        return;
    }
    let server = Server::start();
    let client = server.client();
    let outsider = Outsider::of(&server);
    let service =
        format!("/v1/services/{}", create(&client, &json!({"name": "Desk", "check_type": "manual"})));
    let incident = |title: &str| {
        let body = json!({"title": title, "message": "We look."});
        format!("/v1/incidents/{}", id(&client.post("/v1/incidents", &body).expect(201)))
    };
    let (changed, resolved, deleted) = (incident("a"), incident("b"), incident("c"));
    let window = json!({"title": "Work", "scheduled_start": "2196-01-01"});
    let maintenance =
        format!("/v1/maintenances/{}", id(&client.post("/v1/maintenances", &window).expect(201)));
    let twice = |method, path: &str, body: Value, status, read: &str, shows| Twice {
        method,
        path: path.to_owned(),
        body,
        status,
        read: read.to_owned(),
        shows,
    };
    let tag = json!({"key": "durable"});
    let cases = [
        twice("PATCH", &service, json!({"name": "New"}), 200, &service, ("/data/name", json!("New"))),
        twice(
            "POST",
            &format!("{service}/pause"),
            json!({}),
            200,
            &service,
            ("/data/is_paused", json!(true)),
        ),
        twice("PATCH", &changed, json!({"title": "New"}), 200, &changed, ("/data/title", json!("New"))),
        twice(
            "PATCH",
            &maintenance,
            json!({"title": "New"}),
            200,
            &maintenance,
            ("/data/title", json!("New")),
        ),
        // Refusals as well are made from what was read.
        twice("POST", "/v1/tags", tag, 422, "/v1/tags?label=durable", ("/meta/total", json!(1))),
        twice(
            "POST",
            &format!("{resolved}/resolve"),
            json!({"message": "Done."}),
            409,
            &resolved,
            ("/data/status", json!("resolved")),
        ),
        twice(
            "DELETE",
            &deleted,
            json!({}),
            404,
            &deleted,
            ("/message", json!("The requested resource does not exist.")),
        ),
    ];
    let tracer = Tracer::attach(&server, "fdatasync,fsync", SYNC_US);
    for case in &cases {
        case.check(&client, &outsider);
    }
    tracer.detach();
}

/// Contract 1.10: the stored response is replayed only when it, and the resource it shows, is durable.
#[test]
fn a_response_is_replayed_only_when_it_is_durable() {
    if !tracer::is_possible() {
        return;
    }
    let server = Server::start();
    let client = server.client();
    let outsider = Outsider::of(&server);
    // A password is hashed between the claim of the key and the write: time enough to close the door behind the claim.
    let body = json!({"name": "Page", "access_type": "password", "password": "correct horse"}).to_string();
    let lines = ["Content-Type: application/json", "Idempotency-Key: once"];
    let send = || client.send("POST", "/v1/statuspages", &lines, body.as_bytes());
    let tracer = Tracer::attach(&server, "fdatasync,fsync", SYNC_US);
    std::thread::scope(|scope| {
        let first = scope.spawn(send);
        while outsider.rows("SELECT 1 FROM idempotency_key") == 0 {
            pause(Duration::from_millis(1));
        }
        outsider.hold();
        pause(QUEUED);
        let second = scope.spawn(|| {
            // On a busy machine the first may still be hashing when the second is asked for its claim.
            let running = |answer: &Answer| answer.status == 409;
            let again = std::iter::repeat_with(send).find(|answer| !running(answer)).unwrap();
            (client.get(&format!("/v1/statuspages/{}", id(&again))).status, again)
        });
        pause(QUEUED);
        assert!(!first.is_finished() && !second.is_finished(), "both wait for the lock");
        outsider.release();
        let first = first.join().unwrap().expect(201);
        let (read, again) = second.join().unwrap();
        assert_eq!((again.header("idempotent-replayed"), &again.body), (Some("true"), &first.body));
        assert_eq!(read, 200, "the page was spoken of before it was there");
    });
    tracer.detach();
}
