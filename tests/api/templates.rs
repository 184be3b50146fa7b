//! Channels of the kind `template`: what cannot be filled is refused with its place, costs nobody else anything, and never keeps
//! a message back.

use rstest::rstest;
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};

use crate::incidents::{id_of, open_incident};
use crate::notification_channels::{create_channel, webhook};
use crate::support::client::Client;
use crate::support::eventually;
use crate::support::server::Server;
use crate::support::sink::{Received, Sink};

const PATH: &str = "/v1/notification-channels";

fn template(url: &str, body: &str) -> Value {
    json!({"kind": "template", "name": "Tickets", "settings": {"url": url, "body": body}})
}

/// Builds lists inside lists, 5,000 deep.
const NESTED_LISTS: &str =
    "{% set n=namespace(a=[]) %}{% for i in range(5000) %}{% set n.a=[n.a] %}{% endfor %}{{ n.a }}";

/// Two values of 2^25 parts each, compared with each other.
fn shared_lists() -> String {
    let doubled = |name: &str| format!("{{% set {name}=[{name},{name}] %}}").repeat(25);
    format!(
        "{{% set a=[[],[]] %}}{{% set b=[[],[]] %}}{}{}{{% if a==b %}}ok{{% endif %}}",
        doubled("a"),
        doubled("b")
    )
}

/// Templates that brought an earlier program down, and what costs most in this language.
#[test]
fn a_hostile_template_is_refused_without_delaying_others() {
    let server = Server::start();
    let (client, neighbour) = (server.client(), server.tenant("business"));
    let hidden = format!("{{% if organisation != 'Acme' %}}{}{{% endif %}}{{{{ text }}}}", shared_lists());
    let longest = "{% if incident %}{% for a in incident.services %}{% for b in incident.services %}{% for c in incident.services %}\
        {% if text|upper == text|lower %}{% endif %}{% endfor %}{% endfor %}{% endfor %}{% endif %}";
    for body in [
        NESTED_LISTS,
        &shared_lists(),
        &hidden,
        longest,
        &"{% if 1 %}".repeat(2_000),
        &format!("{{{{ {}1{} }}}}", "(".repeat(9_000), ")".repeat(9_000)),
        &format!("{{{{ text{} }}}}", "|tojson".repeat(2_000)),
    ] {
        let errors = client.post(PATH, &template("http://127.0.0.1:9/", body)).errors();
        assert_eq!(errors[0].0, "settings.body", "{errors:?}");
        assert!(errors[0].1.starts_with("This template cannot be filled: line 1, column "), "{errors:?}");
    }
    neighbour.post("/v1/tags", &json!({"key": "still-there"})).expect(201);
    assert!(!server.log().contains("overflowed its stack"));
}

#[rstest]
#[case("{{ titel }}", "line 1, column 4: there is no `titel`; use the filter default if it may be missing")]
#[case("a\n {% if incident %}", "line 2, column 2: this `if` has no end; expected `{% endif %}`")]
#[case("{% set a = 1 %}", "line 1, column 4: found `set`, expected one of the tags if, for")]
fn a_template_error_names_its_position(#[case] body: &str, #[case] flaw: &str) {
    let client = Server::shared().tenant("business");
    let expected = [("settings.body".to_owned(), format!("This template cannot be filled: {flaw}."))];
    assert_eq!(client.post(PATH, &template("http://127.0.0.1:9/", body)).errors(), expected);
    let channel = create_channel(&client, &template("http://127.0.0.1:9/", "{{ headline }}"));
    let change = json!({"settings": {"body": body}});
    assert_eq!(client.patch(&format!("{PATH}/{}", id_of(&channel)), &change).errors(), expected);
}

/// The first message that fulfils a condition.
async fn until_received(sink: &Sink, what: &str, is_wanted: impl Fn(&Received) -> bool) -> Received {
    eventually(what, || sink.received().into_iter().find(|received| is_wanted(received))).await
}

fn notices_about(client: &Client, channel: &str, lasts: bool) -> Option<Value> {
    let rows = client.get(&format!("/v1/notices?lasts={lasts}")).expect(200).data();
    rows.as_array().unwrap().iter().find(|row| row["about"] == channel).cloned()
}

/// The template passes with the samples and fails with the real message: the message arrives all the same, with a notice.
#[tokio::test]
async fn a_failing_template_sends_the_default_body_and_causes_a_notice() {
    let client = Server::shared().tenant("business");
    let (sink, told) = (Sink::start(), Sink::start());
    let body = "{% if organisation != 'Acme' %}{{ nothing_of_this_kind }}{% endif %}{{ headline }}";
    let channel = id_of(&create_channel(&client, &template(&sink.base(), body)));
    create_channel(&client, &webhook(&told.url(), &json!({"events": ["monitor.trouble"]})));
    let incident = id_of(&open_incident(&client, &json!({})));
    let received = until_received(&sink, "the facts", |received| received.body.contains(&incident)).await;
    assert!(received.header("content-type").starts_with("application/json"), "{}", received.head);
    assert_eq!(
        (received.event().as_str(), &received.json()["data"]["incident"]["id"]),
        ("incident.opened", &json!(incident))
    );
    let detail = eventually("its try", || {
        let rows = client.get("/v1/notifications?event=incident.opened").expect(200).data();
        rows[0]["tries"][0]["detail"].as_str().map(str::to_owned)
    })
    .await;
    let flaw = "line 1, column 35: there is no `nothing_of_this_kind`";
    assert!(
        detail.starts_with(&format!("Sent as JSON, since the template cannot be filled ({flaw}")),
        "{detail}"
    );
    let begin = until_received(&told, "the notice", |_| true).await.json()["data"]["notice"].clone();
    assert_eq!(begin["title"], "The template of Tickets cannot be filled");
    assert!(begin["message"].as_str().unwrap().contains(flaw), "{begin}");
    let notice = notices_about(&client, &channel, true).unwrap();
    assert_eq!((&notice["event"], &notice["severity"]), (&json!("monitor.trouble"), &json!("major")));

    client
        .patch(&format!("{PATH}/{channel}"), &json!({"settings": {"body": "now: {{ headline }}"}}))
        .expect(200);
    eventually("the notice is over", || notices_about(&client, &channel, false)).await;
    until_received(&sink, "a filled template", |received| received.body.starts_with("now: ")).await;
}

/// A stored template that this version cannot parse causes a notice before a message needs it.
#[tokio::test]
async fn an_incompatible_stored_template_causes_a_notice_at_the_start() {
    let mut server = Server::start();
    let sink = Sink::start();
    let channel = create_channel(&server.client(), &template(&sink.base(), "MARKER {{ headline }}"));
    server.kill();
    let database = server.main_database().await;
    let statement =
        "UPDATE notification_channel SET settings = REPLACE(settings, 'MARKER', '{% set a = 1 %}')";
    database.execute_unprepared(statement).await.unwrap();
    database.close().await.unwrap();
    server.restart();
    let client = server.client();
    let notice = eventually("the notice", || notices_about(&client, &id_of(&channel), true)).await;
    assert_eq!(notice["title"], "The template of Tickets cannot be filled");
    let message = until_received(&sink, "the notice itself, as facts", |_| true).await;
    assert_eq!(
        (message.event().as_str(), &message.json()["data"]["notice"]["id"]),
        ("monitor.trouble", &notice["id"])
    );
}
