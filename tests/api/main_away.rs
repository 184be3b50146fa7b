//! The main database is away (contract 5.1): 503 with `Retry-After: 5`, whatever is asked, and nothing has changed
//! afterwards.

use serde_json::json;

use crate::support::outsider::Outsider;
use crate::support::pages::{create_page, get_at, host_of};
use crate::support::postgres::Postgres;
use crate::support::server::Server;
use crate::support::{create_unconfigured, eventually, service};

const MESSAGE: &str = "The service is not available at the moment.";

#[tokio::test]
async fn without_its_database_the_server_is_unavailable_and_recovers() {
    let Some(postgres) = Postgres::start() else { return };
    let server = Server::with("", &[("WATCHKEEPER_DATABASE_URL", &postgres.url())]);
    let client = server.client();
    let id = create_unconfigured(&client);
    let before = client.get(&service(&id)).expect(200).data();

    postgres.stop();
    let manual = json!({"name": "Lost", "check_type": "manual"});
    for (method, path, body) in [
        ("GET", "/v1/me".to_owned(), json!(null)),
        ("GET", "/v1/services".to_owned(), json!(null)),
        ("GET", service(&id), json!(null)),
        ("POST", "/v1/services".to_owned(), manual.clone()),
        ("PATCH", service(&id), json!({"name": "Lost"})),
        ("DELETE", service(&id), json!(null)),
    ] {
        let sent = if body.is_null() { String::new() } else { body.to_string() };
        // A token that was seen a second ago is still known; what it asks for is not.
        let answer = eventually("the database is missed", || {
            let answer = client.send(method, &path, &[], sent.as_bytes());
            (answer.status == 503).then_some(answer)
        })
        .await;
        assert_eq!(
            (answer.message(), answer.header("retry-after")),
            (MESSAGE.to_owned(), Some("5")),
            "{method} {path}"
        );
        assert!(
            answer.header("x-ratelimit-limit").is_some() && answer.header("x-ratelimit-remaining").is_some()
        );
    }
    client.get("/healthz").expect(200);
    assert_eq!(client.get("/readyz").expect(503).json()["databases"]["main"], "away");

    postgres.start_again();
    eventually("the database is back", || (client.get("/v1/me").status == 200).then_some(())).await;
    assert_eq!(client.get(&service(&id)).expect(200).data(), before);
    assert_eq!(client.get("/v1/services").expect(200).json()["meta"]["total"], 1);
    client.post("/v1/services", &manual).expect(201);
}

/// A page that was shown before goes on being shown, marked with the time of its data, under an entity tag of its own.
#[tokio::test]
async fn a_status_page_is_shown_while_its_database_is_away() {
    let Some(postgres) = Postgres::start() else { return };
    let server = Server::with("", &[("WATCHKEEPER_DATABASE_URL", &postgres.url())]);
    let client = server.client();
    let shown = create_page(&client, &json!({"slug": "lasting", "name": "Lasting"}));
    create_page(&client, &json!({"slug": "unseen", "name": "Unseen"}));
    let host = host_of(&shown);
    let before = get_at(&client, &host, "/").expect(200);
    assert!(!before.body.contains("As of"), "{}", before.body);

    postgres.stop();
    let marked = eventually("the page is marked", || {
        let answer = get_at(&client, &host, "/").expect(200);
        answer.body.contains("As of <time").then_some(answer)
    })
    .await;
    assert!(marked.body.contains("<h1>Lasting</h1>") && marked.header("etag") != before.header("etag"));
    let again = get_at(&client, &host, "/").expect(200);
    assert_eq!(again.header("etag"), marked.header("etag"), "the time of the data does not change");
    get_at(&client, &host, "/api/v2/status.json").expect(200);
    get_at(&client, "unseen.localhost", "/").expect(503);

    postgres.start_again();
    let after = eventually("the page is read again", || {
        let answer = get_at(&client, &host, "/").expect(200);
        (!answer.body.contains("As of")).then_some(answer)
    })
    .await;
    assert_eq!(after.header("etag"), before.header("etag"), "it is the same page again");
}

/// Steps 13 and 14 of contract 1.8: a write that fails does not count for the plan, and a full plan is reported as soon as the
/// database can be asked.
#[test]
fn a_failed_write_does_not_count_against_the_plan() {
    // A write that is kept waiting gives up long before the client does.
    let impatient = [("WATCHKEEPER_DATABASE__ACQUIRE_TIMEOUT_SECONDS", "3")];
    let server = Server::embedded("[plans.business]\nservices = 1\n", &impatient);
    let client = server.tenant("business");
    let manual = json!({"name": "Shop", "check_type": "manual"});
    let outsider = Outsider::of(&server);
    let usage = || client.get("/v1/me").expect(200).json()["limits"]["services"].clone();
    outsider.hold();
    let failed = client.post("/v1/services", &manual).expect(503);
    assert_eq!((failed.message(), failed.header("retry-after")), (MESSAGE.to_owned(), Some("5")));
    assert_eq!(usage(), json!({"limit": 1, "usage": 0}), "reading goes on");
    outsider.release();
    client.post("/v1/services", &manual).expect(201);
    let refused = client.post("/v1/services", &manual).expect(403).json();
    assert_eq!(refused["upsell"], json!({"reason": "limit", "key": "services"}));
    outsider.hold();
    client.post("/v1/services", &manual).expect(503);
    outsider.release();
    client.post("/v1/services", &manual).expect(403);
    assert_eq!(usage(), json!({"limit": 1, "usage": 1}));
}
