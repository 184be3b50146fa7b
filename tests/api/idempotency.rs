//! `Idempotency-Key` (contract 1.10): an operation that is sent again is answered again and happens once.

use std::collections::HashMap;
use std::time::Duration;

use rstest::rstest;
use serde_json::{Value, json};
use watchkeeper::clock::{Clock, Timestamp};

use crate::oncall::{SCHEDULES, daily};
use crate::support::client::{Answer, Client, exchange};
use crate::support::databases::Backend;
use crate::support::postgres::Postgres;
use crate::support::server::Server;
use crate::support::{UNKNOWN_ID, create_unconfigured, eventually, service};

fn post_with(client: &Client, path: &str, key: &str, body: &Value) -> Answer {
    let key = format!("Idempotency-Key: {key}");
    client.send("POST", path, &["Content-Type: application/json", &key], body.to_string().as_bytes())
}

fn manual(name: &str) -> Value {
    json!({"name": name, "check_type": "manual"})
}

fn count(client: &Client) -> u64 {
    client.get("/v1/services").expect(200).json()["meta"]["total"].as_u64().unwrap()
}

#[test]
fn a_repeated_request_gets_the_stored_answer_byte_for_byte() {
    let server = Server::shared();
    let client = server.tenant("business");
    let first = post_with(&client, "/v1/services", "a", &manual("Shop")).expect(201);
    assert_eq!(first.header("idempotent-replayed"), None);
    let again = post_with(&client, "/v1/services", "a", &manual("Shop")).expect(201);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(
        (again.body.as_str(), again.header("location")),
        (first.body.as_str(), first.header("location"))
    );
    let other_spelling = r#" {"check_type": "manual",   "name": "Shop"} "#;
    let lines = ["Idempotency-Key: a", "Accept-Language: de"];
    let same = client.send("POST", "/v1/services/", &lines, other_spelling.as_bytes()).expect(201);
    assert_eq!(same.body, first.body, "key order, white space, a slash and languages do not count");
    assert_eq!(count(&client), 1);
    let spent = |answer: &Answer| answer.header("x-ratelimit-remaining").unwrap().parse::<u32>().unwrap();
    assert!(spent(&again) < spent(&first), "a replay is counted as every request");
}

/// Contract 7, no. 45: a long response is not stored, but rendered again from its resource.
#[test]
fn a_long_response_is_rendered_again() {
    let client = Server::shared().tenant("business");
    let body = json!({"name": "Shop", "check_type": "http", "target": "http://127.0.0.1:9/",
        "settings": {"interval_seconds": 3600, "config": {"body": "x".repeat(65_000), "method": "POST"}}});
    let first = post_with(&client, "/v1/services", "long-1", &body).expect(201);
    let path = service(first.data()["id"].as_str().unwrap());
    let again = post_with(&client, "/v1/services", "long-1", &body).expect(201);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.header("location"), first.header("location"));
    assert_eq!(without_measurements(again.data()), without_measurements(first.data()));
    let paused = post_with(&client, &format!("{path}/pause"), "long-2", &json!({})).expect(200);
    client.patch(&path, &json!({"name": "Shop 2"})).expect(200);
    let again = post_with(&client, &format!("{path}/pause"), "long-2", &json!({})).expect(200);
    let mut expected = without_measurements(paused.data());
    expected["name"] = json!("Shop 2");
    assert_eq!(without_measurements(again.data()), expected, "as it is now");
    post_with(&client, &format!("{path}/pause"), "long-2", &json!({"other": 1})).expect(422);
    client.delete(&path).expect(200);
    // Its id alone: that is not what the operation describes, so it is asked by hand.
    let gone = exchange(client.address, raw_post(&client, "long-1", &body).as_bytes()).expect(201);
    assert_eq!(gone.data(), json!({"id": first.data()["id"]}));
}

/// Later changes of the resource are shown only with permission to read it.
#[test]
fn a_long_response_is_rendered_again_only_with_permission() {
    let server = Server::shared();
    let client = server.member(&server.organisation("business"), "services.create");
    let body = json!({"name": "Shop", "check_type": "http", "target": "http://127.0.0.1:9/",
        "settings": {"interval_seconds": 3600, "config": {"body": "x".repeat(65_000), "method": "POST"}}});
    let first = post_with(&client, "/v1/services", "long-3", &body).expect(201);
    let again = exchange(client.address, raw_post(&client, "long-3", &body).as_bytes()).expect(201);
    assert_eq!(again.data(), json!({"id": first.data()["id"]}));
}

/// A long answer to what changes nothing is made again; when that has become impossible, it is no refusal.
#[test]
fn a_long_preview_is_repeated_after_its_subject_is_deleted() {
    let client = Server::shared().tenant("business");
    let [anna, ben, cleo] = ["Anna", "Ben", "Cleo"].map(|name| {
        let body = json!({"name": name.repeat(40), "email": format!("{name}@example.org")});
        client.post("/v1/contacts", &body).expect(201).data()["id"].clone()
    });
    let body = |person: &Value| {
        json!({"name": "Duty", "layers": [daily(&[person, &cleo])],
            "from": "2026-11-23T09:00:00Z", "to": "2027-12-23T09:00:00Z"})
    };
    let schedule = client.post(SCHEDULES, &json!({"name": "Duty", "layers": [daily(&[&anna])]})).expect(201);
    let saved = format!("{SCHEDULES}/{}", schedule.data()["id"].as_str().unwrap());
    let contact = format!("/v1/contacts/{}", ben.as_str().unwrap());
    let asked = [
        ("preview-1", format!("{saved}/preview"), body(&anna), saved),
        ("preview-2", format!("{SCHEDULES}/preview"), body(&ben), contact),
    ];
    for (key, path, body, subject) in asked {
        let first = post_with(&client, &path, key, &body).expect(200);
        assert!(first.body.len() > 64 * 1_024, "{}", first.body.len());
        assert_eq!(post_with(&client, &path, key, &body).expect(200).body, first.body);
        client.delete(&subject).expect(200);
        // It is not what the operation describes, so it is asked by hand.
        let request = raw_post_to(&client, &path, key, &body);
        let again = exchange(client.address, request.as_bytes()).expect(200);
        assert_eq!(again.header("idempotent-replayed"), Some("true"));
        assert_eq!(again.data(), json!({}));
        assert!(again.json()["message"].as_str().unwrap().contains("too long to be kept"), "{}", again.body);
    }
}

/// Without what the engine or a change sets.
fn without_measurements(mut shown: Value) -> Value {
    for name in [
        "status",
        "effective_status",
        "last_check_at",
        "last_error_code",
        "updated_at",
        "uptime_30d",
        "avg_response_ms",
    ] {
        shown.as_object_mut().unwrap().remove(name);
    }
    shown
}

/// Contract 7, no. 45: of more than 64 MiB stored for a token the oldest are rendered again.
#[test]
fn the_oldest_of_many_responses_are_rendered_again() {
    let client = Server::shared().tenant("business");
    let body = json!({"name": "Shop", "check_type": "http", "target": "http://127.0.0.1:9/",
        "settings": {"interval_seconds": 3600, "config": {"body": "x".repeat(60_000), "method": "POST"}}});
    let id = client.post("/v1/services", &body).expect(201).data()["id"].as_str().unwrap().to_owned();
    let pause = |key: &str| {
        post_with(&client, &format!("{}/pause", service(&id)), key, &json!({})).expect(200).data()
    };
    for n in 0..850 {
        pause(&format!("many-{n}"));
    }
    client.patch(&service(&id), &json!({"name": "Shop 2"})).expect(200);
    assert_eq!(pause("many-0")["name"], "Shop 2", "it is made again");
    assert_eq!(pause("many-849")["name"], "Shop", "it is kept");
}

#[test]
fn a_response_is_replayed_after_the_resource_is_deleted() {
    let server = Server::shared();
    let client = server.tenant("business");
    let id = create_unconfigured(&client);
    let path = format!("{}/pause", service(&id));
    let paused = post_with(&client, &path, "p", &json!({})).expect(200);
    client.delete(&service(&id)).expect(200);
    let again = post_with(&client, &path, "p", &json!({})).expect(200);
    assert_eq!(again.body, paused.body);
    post_with(&client, &path, "q", &json!({})).expect(404);
}

/// An act that changes nothing is answered from the store as well.
#[test]
fn an_answer_without_effect_is_stored_too() {
    let server = Server::shared();
    let client = server.tenant("business");
    let id = create_unconfigured(&client);
    let path = format!("{}/pause", service(&id));
    post_with(&client, &path, "one", &json!({})).expect(200);
    post_with(&client, &path, "two", &json!({})).expect(200);
    let again = post_with(&client, &path, "two", &json!({})).expect(200);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
}

#[rstest]
#[case("/v1/services", json!({"name": "Shop", "check_type": "manual", "target": "x"}))]
#[case("/v1/services?x=1", json!({"name": "Shop", "check_type": "manual"}))]
#[case("/v1/services/AAAAAAAAAAAAAAAAAAAAA/pause", json!({"name": "Shop", "check_type": "manual"}))]
fn a_key_of_another_request_is_refused(#[case] path: &str, #[case] body: Value) {
    let server = Server::shared();
    let client = server.tenant("business");
    post_with(&client, "/v1/services", "a", &manual("Shop")).expect(201);
    let refused = post_with(&client, path, "a", &body);
    let text = "This Idempotency-Key was used for a different request.".to_owned();
    assert_eq!(refused.errors(), [("Idempotency-Key".to_owned(), text)]);
    assert_eq!(count(&client), 1);
}

#[test]
fn keys_belong_to_their_token() {
    let server = Server::shared();
    let organisation = server.organisation("business");
    let (one, two) = (server.member(&organisation, "all"), server.member(&organisation, "all"));
    post_with(&one, "/v1/services", "a", &manual("One")).expect(201);
    post_with(&two, "/v1/services", "a", &manual("Two")).expect(201);
    assert_eq!(count(&one), 2);
}

#[rstest]
#[case::fields("/v1/services", "{}", 422)]
#[case::syntax("/v1/services", "{", 400)]
#[case::path("/v1/services/AAAAAAAAAAAAAAAAAAAAA/resume", "{}", 404)]
fn a_refused_request_frees_its_key(#[case] path: &str, #[case] body: &str, #[case] status: u16) {
    let server = Server::shared();
    let client = server.tenant("business");
    let lines = ["Content-Type: application/json", "Idempotency-Key: a"];
    client.send("POST", path, &lines, body.as_bytes()).expect(status);
    post_with(&client, "/v1/services", "a", &manual("Shop")).expect(201);
}

/// Steps 7 to 9 of contract 1.8: the size of a body is checked after key, path and content type; actions ignore it.
#[test]
fn an_oversized_body_is_refused_in_the_documented_order() {
    let server = Server::shared();
    let client = server.tenant("business");
    let pause = |id: &str| format!("{}/pause", service(id));
    let (known, large) = (create_unconfigured(&client), vec![b'x'; 1_048_577]);
    let send = |path: &str, key: &str, content_type: &str| {
        let lines = [&*format!("Content-Type: {content_type}"), &*format!("Idempotency-Key: {key}")];
        client.send("POST", path, &lines, &large)
    };
    send("/v1/services", "a", "application/json").expect(413);
    send("/v1/services", "a", "text/plain").expect(400);
    send(&pause(UNKNOWN_ID), "a", "application/json").expect(404);
    let paused = send(&pause(&known), "a", "application/json").expect(200);
    assert_eq!(send(&pause(&known), "a", "text/plain").expect(200).body, paused.body);
    send("/v1/services", "a", "application/json").expect(422);
    post_with(&client, &pause(&known), "a", &json!({})).expect(422);
}

/// Step 6 of contract 1.8 comes before step 7, step 7 before step 8.
#[test]
fn permissions_are_checked_before_the_key() {
    let server = Server::shared();
    let organisation = server.organisation("business");
    let viewer = server.member(&organisation, "services.view");
    post_with(&viewer, "/v1/services", "a b", &manual("Shop")).expect(403);
    let client = server.member(&organisation, "all");
    post_with(&client, &format!("{}/pause", service(UNKNOWN_ID)), "a b", &json!({})).expect(400);
}

#[rstest]
#[case(&["Idempotency-Key: "])]
#[case(&["Idempotency-Key: a b"])]
#[case(&["Idempotency-Key: \u{e4}"])]
#[case(&["Idempotency-Key: a", "Idempotency-Key: a"])]
fn a_malformed_key_is_400_on_post_and_ignored_for_other_methods(#[case] lines: &[&str]) {
    let server = Server::shared();
    let client = server.tenant("business");
    let id = create_unconfigured(&client);
    let refused = client.send("POST", "/v1/services", lines, b"{}").expect(400);
    assert_eq!(refused.message(), "The Idempotency-Key header must have 1 to 255 visible ASCII characters.");
    client.send("PATCH", &service(&id), lines, b"{}").expect(200);
    client.send("GET", &service(&id), lines, b"").expect(200);
    client.send("DELETE", &service(&id), lines, b"").expect(200);
}

/// A server on a main database of this kind, which lives as long as the server; `None` where PostgreSQL is not installed.
fn server_on(backend: Backend) -> Option<(Server, Option<Postgres>)> {
    match backend {
        Backend::Sqlite => Some((Server::embedded("", &[]), None)),
        Backend::Postgres => {
            let postgres = Postgres::start()?;
            let server = patient_server(&postgres);
            Some((server, Some(postgres)))
        }
    }
}

/// A server on this PostgreSQL, whose requests wait for a lock for as long as a test holds it.
fn patient_server(postgres: &Postgres) -> Server {
    let url = postgres.url();
    let patience = ["LOCK", "STATEMENT"].map(|what| format!("WATCHKEEPER_DATABASE__{what}_TIMEOUT_SECONDS"));
    let variables = [
        ("WATCHKEEPER_DATABASE_URL", &*url),
        ("WATCHKEEPER_HISTORY_URL", &url),
        (&patience[0], "120"),
        (&patience[1], "120"),
    ];
    Server::with("", &variables)
}

/// Reliability: 200 equal requests at once make one row.
#[rstest]
#[tokio::test]
async fn one_of_many_equal_simultaneous_requests_runs(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some((server, _postgres)) = server_on(backend) else { return };
    let client = server.client();
    let ask = || post_with(&client, "/v1/services", "a", &manual("Shop"));
    let answers: Vec<Answer> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..200).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut statuses: HashMap<u16, usize> = HashMap::new();
    for answer in &answers {
        *statuses.entry(answer.status).or_default() += 1;
        if answer.status == 409 {
            assert_eq!(answer.header("retry-after"), Some("1"));
            assert_eq!(answer.message(), "A request with this Idempotency-Key is still running.");
        }
    }
    // A machine that has other things to do may put some off (contract 5.1); a repetition gets the one effect.
    assert!(statuses.keys().all(|status| matches!(status, 201 | 409 | 503)), "{statuses:?}");
    let last = eventually("the key is answered", || {
        let answer = ask();
        (answer.status == 201).then_some(answer)
    })
    .await;
    let created = answers.iter().chain([&last]).filter(|answer| answer.status == 201);
    let firsts = created.filter(|answer| answer.header("idempotent-replayed").is_none()).count();
    assert!(firsts == 1 || firsts == 0 && statuses.contains_key(&503), "{firsts} of {statuses:?}");
    assert_eq!(count(&client), 1);
}

/// Reliability: a client that resets its connection at any moment, and repeats its request, has one effect.
#[rstest]
#[tokio::test]
async fn a_reset_at_any_moment_leaves_one_effect(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some((server, _postgres)) = server_on(backend) else { return };
    let client = server.client();
    const ROUNDS: u64 = 60;
    for round in 0..ROUNDS {
        let key = format!("reset-{round}");
        let request = raw_post(&client, &key, &manual(&key));
        let mut stream = std::net::TcpStream::connect(client.address).unwrap();
        socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
        // Also in the middle of the body, which then is no request.
        let sent = if round % 5 == 4 { request.len() - 3 } else { request.len() };
        std::io::Write::write_all(&mut stream, &request.as_bytes()[..sent]).unwrap();
        tokio::time::sleep(Duration::from_micros(round * 50)).await;
        drop(stream);
        let again = || post_with(&client, "/v1/services", &key, &manual(&key));
        let done = eventually("the key is answered", || {
            let answer = again();
            (answer.status != 409).then_some(answer)
        });
        let first = done.await.expect(201);
        assert_eq!(again().expect(201).body, first.body);
    }
    assert_eq!(count(&client), ROUNDS);
}

/// A POST as sent over the wire.
fn raw_post(client: &Client, key: &str, body: &Value) -> String {
    raw_post_to(client, "/v1/services", key, body)
}

fn raw_post_to(client: &Client, path: &str, key: &str, body: &Value) -> String {
    let (token, body) = (client.token.as_deref().unwrap(), body.to_string());
    format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {token}\r\nIdempotency-Key: {key}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Contract 1.10: a request that runs longer than its lease still has its key. Nobody else may run it meanwhile.
#[tokio::test]
async fn a_request_that_outlasts_its_lease_keeps_its_key() {
    let Some((server, Some(postgres))) = server_on(Backend::Postgres) else { return };
    let client = server.client();
    let mut lock = postgres.hold("SELECT * FROM organisation FOR UPDATE");
    let request = raw_post(&client, "a", &manual("Shop"));
    let mut stream = std::net::TcpStream::connect(client.address).unwrap();
    std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
    let lease = || postgres.ask("SELECT leased_until FROM idempotency_key").parse::<i64>().ok();
    let first = eventually("the request has its key", lease).await;
    // The lease of 60 s is cut to 25 s: still longer than the 20 s after which it is renewed.
    let end = Timestamp::from_ms(first - 35_000);
    postgres.ask(&format!("UPDATE idempotency_key SET leased_until = {}", end.ms()));
    eventually("the lease is renewed", || lease().filter(|until| *until > first)).await;
    eventually("the first lease is over", || (Clock::System.now() > end).then_some(())).await;
    let again = || post_with(&client, "/v1/services", "a", &manual("Shop"));
    again().expect(409);
    lock.release();
    let done = eventually("the first request has ended", || {
        let answer = again();
        (answer.status == 201).then_some(answer)
    });
    assert_eq!(done.await.header("idempotent-replayed"), Some("true"));
    assert_eq!(count(&client), 1);
}

/// Reliability: a key that was running when the process died is free again at most 30 s later.
#[rstest]
#[tokio::test]
async fn a_key_of_a_dead_process_is_free_soon(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some((mut server, postgres)) = server_on(backend) else { return };
    let client = server.client();
    let claimed = "SELECT 1 FROM idempotency_key WHERE key = 'dead'";
    let request = raw_post(&client, "dead", &manual("Shop"));
    let mut stream = std::net::TcpStream::connect(client.address).unwrap();
    // The write is kept waiting behind a lock, so that the process dies between the claim and the effect.
    match &postgres {
        Some(postgres) => {
            let mut lock = postgres.hold("SELECT * FROM organisation FOR UPDATE");
            std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
            eventually("the request has its key", || (postgres.ask(claimed) == "1").then_some(())).await;
            server.kill();
            lock.release();
        }
        None => {
            // Hashing a password takes long enough to be killed in.
            let body = json!({"name": "Page", "access_type": "password", "password": "correct horse"});
            let request = raw_post(&client, "dead", &body).replacen("/v1/services", "/v1/statuspages", 1);
            let database = server.main_database().await;
            std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
            loop {
                let question = sea_orm::Statement::from_string(sea_orm::DbBackend::Sqlite, claimed);
                let found = sea_orm::ConnectionTrait::query_all_raw(&database, question).await.unwrap();
                if !found.is_empty() {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            server.kill();
            database.close().await.unwrap();
        }
    }
    let died_at = tokio::time::Instant::now();
    server.restart();
    let client = server.client();
    let body = manual("Another request under the same key");
    let freed = eventually("the key is free", || {
        let answer = post_with(&client, "/v1/services", "dead", &body);
        (answer.status == 201).then_some(())
    });
    freed.await;
    assert!(died_at.elapsed() <= Duration::from_secs(30), "{:?}", died_at.elapsed());
}

/// Reliability: after a kill at any moment the repeated request leaves one effect.
#[tokio::test]
async fn a_kill_leaves_one_effect_or_none() {
    let mut server = Server::start();
    for round in 0..8_u64 {
        let client = server.client();
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let client = client.clone();
                std::thread::spawn(move || {
                    for number in 0.. {
                        let key = format!("{round}-{writer}-{number}");
                        let request = raw_post(&client, &key, &manual(&key));
                        if !sent(&client, request.as_bytes()) {
                            return key;
                        }
                    }
                    unreachable!("the server is killed")
                })
            })
            .collect();
        let seen = client.clone();
        let wanted = count(&client) + 20 + round * 7;
        eventually("some services exist", || (count(&seen) >= wanted).then_some(())).await;
        server.kill_and_restart();
        let client = server.client();
        for writer in writers {
            let key = writer.join().unwrap();
            // The request that the kill interrupted is sent again, twice.
            let first = post_with(&client, "/v1/services", &key, &manual(&key)).expect(201);
            let second = post_with(&client, "/v1/services", &key, &manual(&key)).expect(201);
            assert_eq!(first.body, second.body);
        }
    }
    let client = server.client();
    let mut names: HashMap<String, usize> = HashMap::new();
    for page in 1..=count(&client).div_ceil(100) {
        let rows = client.get(&format!("/v1/services?per_page=100&page={page}")).expect(200).data();
        for row in rows.as_array().unwrap() {
            *names.entry(row["name"].as_str().unwrap().to_owned()).or_default() += 1;
        }
    }
    let doubled: Vec<_> = names.iter().filter(|(_, times)| **times != 1).collect();
    assert!(doubled.is_empty(), "{doubled:?}");
}

/// True if the response was complete.
fn sent(client: &Client, request: &[u8]) -> bool {
    use std::io::{Read as _, Write as _};
    let Ok(mut stream) = std::net::TcpStream::connect(client.address) else { return false };
    let mut answer = Vec::new();
    stream.write_all(request).is_ok()
        && stream.read_to_end(&mut answer).is_ok()
        && answer.starts_with(b"HTTP/1.1 201")
        && answer.ends_with(b"}")
}

/// Contract 1.11: a repeated answer holds the texts of the first, so it names the language of the first.
#[test]
fn a_replay_has_the_language_of_the_first_response() {
    let server = Server::shared();
    let client = server.bilingual_tenant();
    let body = json!({"title": {"en": "Slow", "de": "Langsam"}, "message": "x"}).to_string();
    let send = |language: &str| {
        let lines = ["Idempotency-Key: a", "Content-Type: application/json", language];
        client.send("POST", "/v1/incidents", &lines, body.as_bytes()).expect(201)
    };
    let first = send("Accept-Language: de");
    let again = send("Accept-Language: en");
    assert_eq!(first.data()["title"], "Langsam");
    assert_eq!(again.body, first.body);
    assert_eq!(again.header("content-language"), Some("de"));
    assert_eq!(again.header("vary"), Some("Accept-Language"));
}

/// A request whose database waits is running; a client that has gone away does not stop it.
#[tokio::test]
async fn a_running_request_is_409_and_survives_its_client() {
    let Some(postgres) = Postgres::start() else { return };
    let server = patient_server(&postgres);
    let client = server.client();
    let mut lock = postgres.hold("SELECT * FROM organisation FOR UPDATE");
    let body = manual("Shop").to_string();
    let request = format!(
        "POST /v1/services HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nIdempotency-Key: a\r\nContent-Length: {}\r\n\r\n{body}",
        client.token.as_deref().unwrap(),
        body.len()
    );
    let mut stream = std::net::TcpStream::connect(client.address).unwrap();
    std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
    let running = || post_with(&client, "/v1/services", "a", &manual("Shop"));
    let claimed = "SELECT count(*) FROM idempotency_key";
    eventually("the first request has its key", || (postgres.ask(claimed) == "1").then_some(())).await;
    let refused = running().expect(409);
    assert_eq!(refused.header("retry-after"), Some("1"));
    drop(stream);
    lock.release();
    let replayed = eventually("the first request has ended", || {
        let answer = running();
        (answer.status == 201).then_some(answer)
    })
    .await;
    assert_eq!(replayed.header("idempotent-replayed"), Some("true"));
    assert_eq!(count(&client), 1);
}
