//! `/v1/statuspages/{id}/subscribers`: who is added, shown, exported and removed.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use rstest::rstest;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde_json::{Value, json};
use watchkeeper_entities::subscriber;

use crate::support::UNKNOWN_ID;
use crate::support::client::{Answer, Client};
use crate::support::server::Server;

const KEYS: &str = "id channel address component_ids language status disabled_reason statuspage_id created_at \
    confirmed_at";
const ALL_CHANNELS: [&str; 6] = ["email", "webhook", "slack", "teams", "discord", "telegram"];

/// A server with a mail server that nobody can reach; it ends with the last test that holds it.
fn shared() -> Arc<Server> {
    static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        let settings = [
            ("WATCHKEEPER_MAIL__SMTP_HOST", "127.0.0.1"),
            ("WATCHKEEPER_MAIL__PORT", "9"),
            ("WATCHKEEPER_MAIL__ENCRYPTION", "none"),
            ("WATCHKEEPER_MAIL__FROM", "status@example.org"),
        ];
        let server = Arc::new(Server::with("", &settings));
        *shared = Arc::downgrade(&server);
        server
    })
}

/// A new page that offers every channel; its path.
fn page(client: &Client) -> String {
    let body = json!({"name": "Shop", "subscriber_channels": ALL_CHANNELS});
    let made = client.post("/v1/statuspages", &body).expect(201);
    format!("/v1/statuspages/{}", made.data()["id"].as_str().unwrap())
}

fn add(client: &Client, page: &str, body: &Value) -> Answer {
    client.post(&format!("{page}/subscribers"), body)
}

fn mail(address: &str) -> Value {
    json!({"channel": "email", "address": address})
}

fn keys(of: &Value) -> Vec<&str> {
    of.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn an_email_subscriber_waits_for_confirmation() {
    let server = shared();
    let client = server.tenant("business");
    let page = page(&client);
    let answer = add(&client, &page, &mail(" Anna@example.com ")).expect(201);
    let made = answer.data();
    assert_eq!(keys(&made), KEYS.split_whitespace().collect::<Vec<_>>());
    let item = format!("{page}/subscribers/{}", made["id"].as_str().unwrap());
    assert!(answer.header("location").unwrap().ends_with(&item));
    assert_eq!(
        (&made["address"], &made["component_ids"], &made["language"], &made["status"], &made["confirmed_at"]),
        (&json!("Anna@example.com"), &Value::Null, &json!("en"), &json!("pending"), &Value::Null)
    );
    assert!(page.ends_with(made["statuspage_id"].as_str().unwrap()));
    assert_eq!(client.get(&item).expect(200).data(), made);
    assert_eq!(client.get(&format!("{page}/subscribers")).expect(200).data(), json!([made]));
    let deleted = client.delete(&item).expect(200).data();
    assert_eq!(deleted, json!({"id": made["id"], "deleted": true}));
    client.get(&item).expect(404);
    client.delete(&item).expect(404);
}

#[test]
fn a_confirmation_can_be_skipped() {
    let server = shared();
    let client = server.tenant("business");
    let mut body = mail("anna@example.com");
    body["skip_confirmation"] = json!(true);
    let made = add(&client, &page(&client), &body).expect(201).data();
    assert_eq!(made["status"], "active");
    assert_eq!(made["confirmed_at"], made["created_at"]);
}

/// The secret part of an address is never shown; that of a webhook is its signing secret, shown once.
#[rstest]
#[case("webhook", "http://127.0.0.1:9/in?x=1", "http://127.0.0.1:9/in?x=1")]
#[case("slack", "http://127.0.0.1:9/services/hidden", "http://127.0.0.1:9/…")]
#[case("teams", "https://127.0.0.1:9/hidden", "https://127.0.0.1:9/…")]
#[case("discord", "https://127.0.0.1:9/hidden", "https://127.0.0.1:9/…")]
#[case("telegram", "123:hidden/@status", "123:…/@status")]
#[tokio::test]
async fn secrets_of_a_subscriber_are_not_shown(
    #[case] channel: &str,
    #[case] address: &str,
    #[case] shown: &str,
) {
    let server = shared();
    let client = server.tenant("business");
    let page = page(&client);
    let mut made = add(&client, &page, &json!({"channel": channel, "address": address})).expect(201).data();
    assert_eq!(made["address"], shown);
    let secret = made.as_object_mut().unwrap().shift_remove("secret");
    assert_eq!(
        secret.is_some_and(|secret| secret.as_str().unwrap().starts_with("whsec_")),
        channel == "webhook"
    );
    let item = format!("{page}/subscribers/{}", made["id"].as_str().unwrap());
    let read = client.get(&item).expect(200).data();
    assert_eq!((keys(&read), &read["address"]), (keys(&made), &json!(shown)));
    let main = server.main_database().await;
    let id = subscriber::Column::PublicId.eq(made["id"].as_str().unwrap());
    let stored = subscriber::Entity::find().filter(id).one(&main).await.unwrap();
    main.close().await.unwrap();
    let stored = format!("{stored:?}");
    assert!(!stored.contains("hidden") && !stored.contains("whsec_"), "{stored}");
}

#[rstest]
#[case(json!({}), &["channel: This field is required.", "address: This field is required."])]
#[case(json!({"channel": "sms", "address": "+49"}),
    &["channel: Unknown value. Allowed: email, webhook, slack, teams, discord, telegram."])]
#[case(mail("anna"), &["address: This is not a valid e-mail address."])]
#[case(json!({"channel": "webhook", "address": "ftp://a.example"}), &["address: Enter an absolute http or https URL."])]
#[case(json!({"channel": "slack", "address": ""}), &["address: Use at least 1 characters."])]
#[case(json!({"channel": "telegram", "address": "123:AA"}), &["address: Use the token of a bot, a slash and a chat."])]
#[case(json!({"channel": "email", "address": "a@example.com", "language": "de"}),
    &["language: This language is not offered."])]
#[case(json!({"channel": "email", "address": "a@example.com", "component_ids": [UNKNOWN_ID, "x"]}),
    &["component_ids.0: No component with the ID {unknown} exists.", "component_ids.1: This is not a valid ID."])]
#[case(json!({"channel": "webhook", "address": "https://a.example", "skip_confirmation": true}),
    &["skip_confirmation: Only e-mail addresses are asked to confirm."])]
fn a_wrong_subscriber_is_refused(#[case] body: Value, #[case] expected: &[&str]) {
    let server = shared();
    let client = server.tenant("business");
    let errors = add(&client, &page(&client), &body).expect(422).errors();
    let mut shown: Vec<String> = errors.into_iter().map(|(field, text)| format!("{field}: {text}")).collect();
    let mut expected: Vec<String> =
        expected.iter().map(|text| text.replace("{unknown}", UNKNOWN_ID)).collect();
    shown.sort();
    expected.sort();
    assert_eq!(shown, expected);
}

#[test]
fn a_page_takes_only_the_channels_that_it_offers() {
    let server = shared();
    let client = server.tenant("business");
    let page = page(&client);
    client.patch(&page, &json!({"subscriber_channels": ["email", "slack"]})).expect(200);
    let refused = add(&client, &page, &json!({"channel": "teams", "address": "https://a.example"}));
    assert_eq!(
        refused.expect(422).errors(),
        [("channel".to_owned(), "Unknown value. Allowed: email, slack.".to_owned())]
    );
}

#[test]
fn without_a_mail_server_no_email_is_subscribed() {
    let client = Server::shared().tenant("business");
    let refused = add(&client, &page(&client), &mail("anna@example.com")).expect(422).errors();
    assert_eq!(refused[0].0, "channel");
    assert!(refused[0].1.contains("mail.smtp_host"), "{refused:?}");
}

/// An address is one subscriber of a page, however it is written, and may subscribe to other pages.
#[test]
fn an_address_subscribes_once_to_a_page() {
    let server = shared();
    let client = server.tenant("business");
    let first = page(&client);
    add(&client, &first, &mail("anna@example.com")).expect(201);
    let refused = add(&client, &first, &mail("ANNA@example.com")).expect(422).errors();
    let text = "This address is subscribed to this page already.".to_owned();
    assert_eq!(refused, [("address".to_owned(), text)]);
    add(&client, &page(&client), &mail("anna@example.com")).expect(201);
}

#[test]
fn chosen_components_are_shown_until_they_are_deleted() {
    let server = shared();
    let client = server.tenant("business");
    let page = page(&client);
    let component = |name: &str| {
        client.post(&format!("{page}/components"), &json!({"name": name})).expect(201).data()["id"].clone()
    };
    let (first, second) = (component("API"), component("Shop"));
    let mut body = mail("anna@example.com");
    body["component_ids"] = json!([second, first, second]);
    let made = add(&client, &page, &body).expect(201).data();
    assert_eq!(made["component_ids"], json!([second, first]));
    let item = format!("{page}/subscribers/{}", made["id"].as_str().unwrap());
    assert_eq!(client.get(&item).expect(200).data()["component_ids"], json!([first, second]));
    for (deleted, left) in [(&first, json!([second])), (&second, json!([]))] {
        client.delete(&format!("{page}/components/{}", deleted.as_str().unwrap())).expect(200);
        assert_eq!(client.get(&item).expect(200).data()["component_ids"], left);
    }
    body["address"] = json!("ben@example.com");
    body["component_ids"] = json!([]);
    assert_eq!(add(&client, &page, &body).expect(201).data()["component_ids"], Value::Null, "all");
}

#[test]
fn a_list_is_filtered_and_paged() {
    let server = shared();
    let client = server.tenant("business");
    let page = page(&client);
    for number in 0..3 {
        let mut body = mail(&format!("reader{number}@example.com"));
        body["skip_confirmation"] = json!(number > 0);
        add(&client, &page, &body).expect(201);
    }
    add(&client, &page, &json!({"channel": "telegram", "address": "1:a/@b"})).expect(201);
    for (query, count) in [
        ("", 4),
        ("?channel=email", 3),
        ("?status=active", 2),
        ("?channel=email&status=pending", 1),
        ("?channel=slack", 0),
    ] {
        let list = client.get(&format!("{page}/subscribers{query}")).expect(200).json();
        assert_eq!(list["meta"]["total"], count, "{query}");
        assert_eq!(list["data"].as_array().unwrap().len(), count, "{query}");
    }
    let second =
        client.get(&format!("{page}/subscribers?per_page=2&page=2&channel=email")).expect(200).json();
    assert_eq!(
        (&second["meta"]["total"], &second["data"][0]["address"]),
        (&json!(3), &json!("reader2@example.com"))
    );
    client.get(&format!("{page}/subscribers?status=gone")).expect(422);
}

#[test]
fn the_export_has_a_row_for_each_subscriber() {
    let server = shared();
    let client = server.tenant("business");
    let page = page(&client);
    let mut body = mail("=anna@example.com");
    body["skip_confirmation"] = json!(true);
    let made = add(&client, &page, &body).expect(201).data();
    let answer = client.get(&format!("{page}/subscribers/export")).expect(200);
    assert_eq!(answer.header("content-type"), Some("text/csv; charset=utf-8"));
    let (id, at) = (made["id"].as_str().unwrap(), made["created_at"].as_str().unwrap());
    let head = "id,channel,address,component_ids,language,status,disabled_reason,created_at,confirmed_at";
    let expected = format!("{head}\r\n{id},email,'=anna@example.com,,en,active,,{at},{at}\r\n");
    assert_eq!(answer.body, expected);
}

#[test]
fn the_plan_limits_the_subscribers_of_a_page() {
    let settings =
        [("WATCHKEEPER_MAIL__SMTP_HOST", "127.0.0.1"), ("WATCHKEEPER_MAIL__FROM", "status@example.org")];
    let server = Server::with("[plans.team]\nsubscribers = 1\n", &settings);
    let client = server.tenant("team");
    let first = page(&client);
    add(&client, &first, &mail("anna@example.com")).expect(201);
    let refused = add(&client, &first, &mail("ben@example.com")).expect(402);
    assert_eq!(refused.message(), "The plan allows 1 subscribers per status page; 1 exist.");
    assert_eq!(
        client.get("/v1/me").expect(200).json()["limits"]["subscribers"],
        json!({"limit": 1, "usage": null})
    );
    add(&client, &page(&client), &mail("ben@example.com")).expect(201);
}
