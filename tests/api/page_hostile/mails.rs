//! Hostile texts in mails to subscribers: no header is added, no part, and no element to the HTML.

use serde_json::{Value, json};

use crate::page_hostile::texts::HOSTILE_TEXTS;
use crate::page_hostile::{Inspected, OPTIONS, accepted, hostile_lines};
use crate::subscriber_messages::{News, mailing};
use crate::support::browser::Browser;
use crate::support::mail_server::MailServer;
use crate::support::pages::statuspage;

/// Names of the headers of a mail in their order, and the number of its parts.
fn shape(mail: &Value) -> (Vec<String>, usize) {
    let content = mail["content"].as_str().unwrap();
    let (head, body) = content.split_once("\r\n\r\n").unwrap();
    let lines = head.split("\r\n").filter(|line| !line.starts_with([' ', '\t']));
    let names = lines.map(|line| line.split(':').next().unwrap().to_owned()).collect();
    let boundary = head.split("boundary=\"").nth(1).unwrap().split('"').next().unwrap();
    (names, body.lines().filter(|line| line.starts_with(&format!("--{boundary}"))).count())
}

#[tokio::test]
async fn hostile_texts_add_nothing_to_a_mail() {
    let Some(mut mails) = MailServer::start() else { return };
    let Some(browser) = Browser::start(OPTIONS) else { return };
    let server = mailing(&mails.variables());
    let news = News::on(server.tenant("business"));
    let path = statuspage(&news.page);
    news.client.patch(&path, &json!({"show_unlinked_services": true})).expect(200);
    news.add_mail("anna@example.org", &json!({}));
    news.incident("Payments fail");
    let usual = mails.mail();
    let mut inspected = Inspected(Vec::new());
    let with_controls = HOSTILE_TEXTS.iter().filter(|text| text.contains(char::is_control));
    let lines = hostile_lines().into_iter().chain(with_controls.map(|text| (*text).to_owned()));
    let mut sent = 0;
    for (place, line) in lines.enumerate() {
        accepted(&news.client.patch(&path, &json!({ "name": line })), &line);
        let service = news.client.post("/v1/services", &json!({"name": line, "check_type": "manual"}));
        let service = accepted(&service, &line)
            .map_or_else(|| news.service.clone(), |made| made["id"].as_str().unwrap().to_owned());
        let texts: Vec<&str> = HOSTILE_TEXTS.iter().skip(place * 6).take(6).copied().collect();
        let message = if texts.is_empty() { line.clone() } else { texts.join("\n\n") };
        let body = json!({"title": line, "message": message, "severity": "major", "is_published": true,
            "service_ids": [service, news.service]});
        if accepted(&news.client.post("/v1/incidents", &body), &line).is_none() {
            continue;
        }
        let mail = mails.mail();
        sent += 1;
        assert_eq!(shape(&mail), shape(&usual), "{line}");
        assert_eq!((&mail["from"], &mail["to"]), (&usual["from"], &usual["to"]), "{line}");
        assert_eq!(mail["headers"]["To"], "anna@example.org", "{line}");
        let from = mail["headers"]["From"].as_str().unwrap();
        assert!(from.ends_with("status@example.org>") || from == "status@example.org", "{from}");
        inspected.add("mail", &line, mail["html"].as_str().unwrap());
    }
    assert!(sent >= 30, "{sent}");
    inspected.assert_harmless(&browser);
}
