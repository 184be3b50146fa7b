//! What subscribers of status pages receive: each address is proven, then it gets the news that it wants, once.

use rstest::rstest;
use serde_json::{Value, json};

use crate::incidents::{id_of, open_incident};
use crate::support::client::Client;
use crate::support::create_unconfigured;
use crate::support::eventually;
use crate::support::pages::{new_component, statuspage};
use crate::support::planned::{operate, planned};
use crate::support::server::Server;
use crate::support::sink::{Conduct, Sink};
use crate::support::smtp_sink::{SmtpConduct, SmtpSink};

/// A published page that offers every channel and shows a service as "Checkout".
pub(crate) struct News {
    pub(crate) client: Client,
    pub(crate) page: String,
    pub(crate) slug: String,
    pub(crate) service: String,
    pub(crate) component: String,
}

impl News {
    pub(crate) fn on(client: Client) -> Self {
        let channels = ["email", "webhook", "slack", "teams", "discord", "telegram"];
        let body = json!({"name": "Shop", "subscriber_channels": channels});
        let made = client.post("/v1/statuspages", &body).expect(201).data();
        let page = id_of(&made);
        let service = create_unconfigured(&client);
        let component = new_component(&client, &page, &json!({"name": "Checkout", "service_id": service}));
        client.post(&format!("{}/publish", statuspage(&page)), &json!({})).expect(200);
        let slug = made["slug"].as_str().unwrap().to_owned();
        Self { client, page, slug, service, component }
    }

    pub(crate) fn add(&self, body: &Value) -> Value {
        self.client.post(&self.list(), body).expect(201).data()
    }

    pub(crate) fn list(&self) -> String {
        format!("{}/subscribers", statuspage(&self.page))
    }

    pub(crate) fn subscriber(&self, of: &Value) -> Value {
        self.client.get(&format!("{}/{}", self.list(), id_of(of))).expect(200).data()
    }

    /// A mail address that needs no confirmation.
    pub(crate) fn add_mail(&self, address: &str, more: &Value) -> Value {
        let mut body = json!({"channel": "email", "address": address, "skip_confirmation": true});
        for (key, value) in more.as_object().unwrap() {
            body[key] = value.clone();
        }
        self.add(&body)
    }

    /// A published incident of the service; its path.
    pub(crate) fn incident(&self, title: &str) -> String {
        let body = json!({"title": title, "message": "We **look** into it.", "severity": "major",
            "is_published": true, "service_ids": [self.service]});
        format!("/v1/incidents/{}", id_of(&open_incident(&self.client, &body)))
    }
}

/// A server that sends mails to subscribers through this sink.
pub(crate) fn mailing(variables: &[(&'static str, String)]) -> Server {
    let variables: Vec<(&str, &str)> =
        variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    Server::with("", &variables)
}

#[tokio::test]
async fn a_webhook_is_proven_and_gets_signed_news() {
    let news = News::on(Server::shared().tenant("business"));
    let sink = Sink::start();
    let made = news.add(&json!({"channel": "webhook", "address": sink.url()}));
    assert_eq!(made["status"], "pending");
    eventually("it is proven", || (news.subscriber(&made)["status"] == "active").then_some(())).await;
    let test = sink.received()[0].clone();
    assert_eq!(test.event(), "subscriber.test");
    assert!(test.header("webhook-signature").starts_with("v1,") && !test.header("webhook-id").is_empty());
    let hidden = json!({"title": "Internal", "is_published": false, "service_ids": [news.service]});
    open_incident(&news.client, &hidden);
    let path = news.incident("Payments fail");
    news.client.post(&format!("{path}/resolve"), &json!({"message": "Over."})).expect(200);
    eventually("both arrived", || (sink.count() >= 3).then_some(())).await;
    let bodies: Vec<Value> = sink.received()[1..].iter().map(|one| one.json()).collect();
    let incident = &bodies[0]["data"]["incident"];
    assert_eq!(
        (&bodies[0]["type"], &incident["title"], &incident["state"], &incident["affected"]),
        (
            &json!("incident_entry"),
            &json!("Payments fail"),
            &json!("incident-investigating"),
            &json!(["Checkout"])
        )
    );
    assert_eq!(bodies[1]["data"]["incident"]["is_over"], json!(true));
    assert_eq!(bodies.len(), 2, "{bodies:?}");
}

/// The channels of chats, with the text that tells of an incident.
#[rstest]
#[case("slack", "/services/T/B/key")]
#[case("teams", "/workflows/key")]
#[case("discord", "/api/webhooks/1/key")]
#[case("telegram", "/bot123:key/@status")]
#[tokio::test]
async fn a_chat_is_proven_and_gets_news(#[case] channel: &str, #[case] path: &str) {
    let news = News::on(Server::shared().tenant("business"));
    let sink = Sink::with(Conduct::Answer(200, ""));
    let made = news.add(&json!({"channel": channel, "address": format!("{}{path}", sink.base())}));
    eventually("it is proven", || (news.subscriber(&made)["status"] == "active").then_some(())).await;
    news.incident("Payments fail");
    eventually("the news arrived", || (sink.count() >= 2).then_some(())).await;
    let body = sink.received()[1].body.clone();
    assert!(body.contains("Investigating: Payments fail") && body.contains("We look into it."), "{body}");
    assert!(body.contains("Checkout") && !body.contains("Severity"), "{body}");
}

#[tokio::test]
async fn a_refused_test_message_disables_the_address() {
    let news = News::on(Server::shared().tenant("business"));
    let sink = Sink::with(Conduct::Say(410, "", "Gone for good"));
    let made = news.add(&json!({"channel": "webhook", "address": sink.url()}));
    eventually("it is disabled", || (news.subscriber(&made)["status"] == "disabled").then_some(())).await;
    assert_eq!(news.subscriber(&made)["disabled_reason"], "Gone for good");
    news.incident("Payments fail");
    let other = Sink::start();
    let second = news.add(&json!({"channel": "webhook", "address": other.url()}));
    eventually("another one is served", || (news.subscriber(&second)["status"] == "active").then_some(()))
        .await;
    assert_eq!(sink.count(), 1);
}

#[tokio::test]
async fn mails_have_both_parts_and_a_way_out() {
    let sink = SmtpSink::with(SmtpConduct::default());
    let server = mailing(&sink.variables());
    let news = News::on(server.bilingual_tenant());
    news.add_mail("anna@example.com", &json!({}));
    news.add_mail("ben@example.com", &json!({"language": "de"}));
    news.incident("Payments fail");
    let mails = eventually("both arrived", || {
        let sent = [sink.sent_to("anna@example.com"), sink.sent_to("ben@example.com")].concat();
        (sent.len() >= 2).then_some(sent)
    })
    .await;
    assert_eq!(mails[0].header("Subject"), "Investigating: Payments fail");
    assert_eq!(mails[1].header("Subject"), "Wird untersucht: Payments fail");
    let ways = mails[0].header("List-Unsubscribe");
    let page = format!("<http://{}.localhost:", news.slug);
    assert!(
        ways.starts_with(&page) && ways.ends_with(", <mailto:abuse@example.org?subject=unsubscribe>"),
        "{ways}"
    );
    assert_eq!(mails[0].header("List-Unsubscribe-Post"), "List-Unsubscribe=One-Click");
    assert_eq!(mails[0].header("From"), "Shop <status@example.org>");
    assert!(mails[0].text.contains("<strong>look</strong>"), "{}", mails[0].text);
    assert!(mails[1].text.contains("Betroffen"), "{}", mails[1].text);
    assert_ne!(mails[0].header("Message-ID"), mails[1].header("Message-ID"));
}

#[tokio::test]
async fn an_address_that_refuses_three_mails_is_disabled() {
    let recipient = |address: &str| {
        if address.starts_with("gone@") { "550 5.1.1 No such user" } else { "250 OK" }
    };
    let sink = SmtpSink::with(SmtpConduct { recipient, ..SmtpConduct::default() });
    let server = mailing(&sink.variables());
    let news = News::on(server.tenant("business"));
    let gone = news.add_mail("gone@example.com", &json!({}));
    news.add_mail("anna@example.com", &json!({}));
    let path = news.incident("Payments fail");
    for text in ["Second.", "Third.", "Fourth."] {
        let body = json!({"status": "monitoring", "message": text});
        news.client.post(&format!("{path}/updates"), &body).expect(201);
    }
    eventually("the other gets all", || (sink.sent_to("anna@example.com").len() >= 4).then_some(())).await;
    eventually("it is disabled", || (news.subscriber(&gone)["status"] == "disabled").then_some(())).await;
    let reason = news.subscriber(&gone)["disabled_reason"].clone();
    assert!(reason.as_str().unwrap().contains("550"), "{reason}");
    let subjects: Vec<String> =
        sink.sent_to("anna@example.com").iter().map(|mail| mail.header("Subject").to_owned()).collect();
    let expected = [
        "Investigating: Payments fail",
        "Monitoring: Payments fail",
        "Monitoring: Payments fail",
        "Monitoring: Payments fail",
    ];
    assert_eq!(subjects, expected, "in their order, each once");
}

#[tokio::test]
async fn chosen_components_decide_who_gets_news() {
    let sink = SmtpSink::with(SmtpConduct::default());
    let server = mailing(&sink.variables());
    let news = News::on(server.tenant("business"));
    let group = new_component(&news.client, &news.page, &json!({"name": "Group", "is_group": true}));
    let path = format!("{}/components/{}", statuspage(&news.page), news.component);
    news.client.patch(&path, &json!({"parent_id": group})).expect(200);
    let other = new_component(&news.client, &news.page, &json!({"name": "Other"}));
    news.add_mail("other@example.com", &json!({"component_ids": [other]}));
    news.add_mail("group@example.com", &json!({"component_ids": [group, other]}));
    news.add_mail("this@example.com", &json!({"component_ids": [news.component]}));
    news.add_mail("all@example.com", &json!({}));
    news.incident("Payments fail");
    eventually("three arrived", || (sink.sent().len() >= 3).then_some(())).await;
    let second = news.incident("Shop fails");
    eventually("all arrived", || (sink.sent().len() >= 6).then_some(())).await;
    let mut receivers: Vec<String> = sink.sent().into_iter().flat_map(|mail| mail.recipients).collect();
    receivers.sort();
    let expected = ["all", "all", "group", "group", "this", "this"].map(|name| format!("{name}@example.com"));
    assert_eq!(receivers, expected, "{second}");
}

#[tokio::test]
async fn a_maintenance_is_announced_started_and_completed() {
    let sink = SmtpSink::with(SmtpConduct::default());
    let server = mailing(&sink.variables());
    let news = News::on(server.tenant("business"));
    news.add_mail("anna@example.com", &json!({}));
    let flags = json!({"service_ids": [news.service], "scheduled_end": "2196-01-02", "scheduled_start": "2196-01-01",
        "notify_announcement": true, "notify_start": true, "notify_complete": true});
    let id = id_of(&planned(&news.client, &flags));
    operate(&news.client, &id, "start").expect(200);
    operate(&news.client, &id, "complete").expect(200);
    let mails = eventually("all arrived", || {
        let sent = sink.sent();
        (sent.len() >= 3).then_some(sent)
    })
    .await;
    let subjects: Vec<&str> = mails.iter().map(|mail| mail.header("Subject")).collect();
    let expected = ["Planned maintenance", "Maintenance started", "Maintenance completed"];
    assert_eq!(subjects, expected.map(|state| format!("{state}: Database upgrade")));
    assert!(mails[0].text.contains("2196-01-01 00:00"), "{}", mails[0].text);
}
