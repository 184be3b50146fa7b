//! A subscriber's whole life, followed literally with a real mail server: subscribe, confirm, an incident, its update and
//! end, and unsubscribe by one click without a cookie.

use std::net::SocketAddr;

use rstest::rstest;
use serde_json::{Value, json};

use crate::subscriber_messages::{News, mailing};
use crate::support::client::{Answer, exchange};
use crate::support::eventually;
use crate::support::mail_server::MailServer;
use crate::support::pages::statuspage;
use crate::support::server::Server;
use crate::support::sink::Sink;
use crate::support::smtp_sink::{SmtpConduct, SmtpSink};

/// Sends a request to the page of a slug, as a browser without cookies does.
fn visit(server: &Server, slug: &str, method: &str, path: &str, form: &str) -> Answer {
    let address: SocketAddr = server.base().trim_start_matches("http://").parse().unwrap();
    let length = form.len();
    let kind = "content-type: application/x-www-form-urlencoded";
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: {slug}.localhost\r\nconnection: close\r\n{kind}\r\ncontent-length: {length}\r\n\r\n{form}"
    );
    exchange(address, request.as_bytes())
}

/// The path of the first link of a mail that contains this text.
fn link(text: &str, part: &str) -> String {
    let at = text.find(part).unwrap_or_else(|| panic!("no {part} in {text}"));
    let rest = &text[at..];
    rest.split(|c: char| c.is_whitespace() || c == '>' || c == '"').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_subscriber_lives() {
    let Some(mut mails) = MailServer::start() else { return };
    let server = mailing(&mails.variables());
    let news = News::on(server.bilingual_tenant());
    let slug = news.slug.clone();
    // The form offers the channels of the page, and works without a script.
    let form = visit(&server, &slug, "GET", "/de/subscribe", "").expect(200);
    assert!(form.body.contains("E-Mail") && form.body.contains("Checkout"), "{}", form.body);
    assert!(!form.body.contains("<script") && !form.body.contains("style=\""), "{}", form.body);
    assert!(form.header("content-security-policy").unwrap().contains("form-action 'self'"));
    assert_eq!((form.header("set-cookie"), form.header("cache-control")), (None, Some("no-store")));
    // Subscribe. The answer is the same for an address that is known.
    let entered =
        format!("channel=email&address=Anna%40example.org&component={}&language=de", news.component);
    let first = visit(&server, &slug, "POST", "/de/subscribe", &entered).expect(200);
    let second = visit(&server, &slug, "POST", "/de/subscribe", &entered).expect(200);
    assert_eq!(first.body, second.body);
    let shown = news.client.get(&news.list()).expect(200).data();
    assert_eq!(shown.as_array().unwrap().len(), 1);
    assert_eq!((&shown[0]["status"], &shown[0]["language"]), (&json!("pending"), &json!("de")));
    // Confirm: following the link changes nothing, the button does, once.
    let mail = mails.mail();
    assert_eq!(mail["headers"]["Subject"], "Bestätigen Sie Ihr Abonnement von Shop");
    assert_eq!(mail["headers"]["List-Unsubscribe"], Value::Null);
    let confirm = link(mail["text"].as_str().unwrap(), "/subscriptions/confirm/");
    let question = visit(&server, &slug, "GET", &confirm, "").expect(200);
    assert!(!question.body.contains(confirm.rsplit('/').next().unwrap()), "no token is in the document");
    assert_eq!(news.subscriber(&shown[0])["status"], "pending");
    visit(&server, &slug, "POST", &confirm, "").expect(200);
    assert_eq!(news.subscriber(&shown[0])["status"], "active");
    visit(&server, &slug, "POST", &confirm, "").expect(410);
    visit(&server, &slug, "GET", &confirm, "").expect(410);
    // An incident, its update and its end.
    let incident = news.incident("Payments fail");
    let update = json!({"status": "monitoring", "message": "A fix is out."});
    news.client.post(&format!("{incident}/updates"), &update).expect(201);
    news.client.post(&format!("{incident}/resolve"), &json!({"message": "Over."})).expect(200);
    let received = [mails.mail(), mails.mail(), mails.mail()];
    let subjects = received.each_ref().map(|mail| mail["headers"]["Subject"].as_str().unwrap().to_owned());
    let expected = ["Wird untersucht", "Wird beobachtet", "Behoben"];
    assert_eq!(subjects, expected.map(|state| format!("{state}: Payments fail")));
    assert!(received[1]["text"].as_str().unwrap().contains("A fix is out."), "{}", received[1]["text"]);
    let headers = &received[2]["headers"];
    assert_eq!(headers["List-Unsubscribe-Post"], "List-Unsubscribe=One-Click");
    // Unsubscribe: a program that follows the link changes nothing; one click does, and again.
    let leave = link(headers["List-Unsubscribe"].as_str().unwrap(), "/u/");
    assert_eq!(leave, link(received[2]["text"].as_str().unwrap(), "/u/"));
    let question = visit(&server, &slug, "GET", &leave, "").expect(200);
    assert!(!question.body.contains(leave.rsplit('/').next().unwrap()), "no token is in the document");
    assert_eq!(news.client.get(&news.list()).expect(200).data().as_array().unwrap().len(), 1);
    for _ in 0..2 {
        let answer = visit(&server, &slug, "POST", &leave, "List-Unsubscribe=One-Click").expect(200);
        assert_eq!((answer.header("set-cookie"), answer.header("location")), (None, None));
    }
    assert_eq!(news.client.get(&news.list()).expect(200).data(), json!([]));
    // Only another subscriber hears of what comes after.
    news.add_mail("ben@example.org", &json!({}));
    news.incident("Mail fails");
    let mail = mails.mail();
    assert_eq!(
        (&mail["to"], &mail["headers"]["Subject"]),
        (&json!(["ben@example.org"]), &json!("Investigating: Mail fails"))
    );
}

/// An address is asked once in an hour, however often it is entered.
#[tokio::test]
async fn an_address_is_asked_once_an_hour() {
    let sink = SmtpSink::with(SmtpConduct::default());
    let server = mailing(&sink.variables());
    let news = News::on(server.tenant("business"));
    for _ in 0..3 {
        visit(&server, &news.slug, "POST", "/subscribe", "channel=email&address=anna%40example.org")
            .expect(200);
    }
    visit(&server, &news.slug, "POST", "/subscribe", "channel=email&address=ben%40example.org").expect(200);
    eventually("both were asked", || (sink.sent_to("ben@example.org").len() == 1).then_some(())).await;
    assert_eq!(sink.sent_to("anna@example.org").len(), 1);
}

#[rstest]
#[case("channel=email&address=anna", 422)]
#[case("channel=sms&address=anna%40example.org", 422)]
#[case("channel=webhook&address=ftp%3A%2F%2Fa.example", 422)]
#[case("address=anna%40example.org", 422)]
#[case("", 422)]
#[case("channel=telegram&address=123456%3AABC%2F%40news&component=VdEFUcSbBfwj_jz1uae-m", 422)]
fn a_wrong_form_is_shown_again(#[case] form: &str, #[case] status: u16) {
    let server = Server::shared();
    let news = News::on(server.tenant("business"));
    let answer = visit(&server, &news.slug, "POST", "/subscribe", form).expect(status);
    assert!(answer.body.contains("role=\"alert\""), "{}", answer.body);
    assert_eq!(news.client.get(&news.list()).expect(200).data(), json!([]));
}

/// Without a mail server the form offers the other channels; a page without channels has no form.
#[test]
fn the_form_offers_what_can_be_sent() {
    let server = Server::shared();
    let news = News::on(server.tenant("business"));
    let form = visit(&server, &news.slug, "GET", "/subscribe", "").expect(200).body;
    assert!(!form.contains("value=\"email\"") && form.contains("value=\"telegram\""), "{form}");
    news.client.patch(&statuspage(&news.page), &json!({"subscriber_channels": ["email"]})).expect(200);
    visit(&server, &news.slug, "GET", "/subscribe", "").expect(404);
    visit(&server, &news.slug, "POST", "/subscribe", "channel=email&address=a%40example.org").expect(404);
    visit(&server, &news.slug, "PUT", "/subscribe", "").expect(405);
    visit(&server, &news.slug, "POST", "/", "").expect(405);
}

/// What visitors enter reaches public addresses only, even where checks may reach private ones.
#[tokio::test]
async fn visitors_cannot_send_requests_into_the_network_of_the_server() {
    let server = Server::shared();
    let news = News::on(server.tenant("business"));
    let sink = Sink::start();
    let address = sink.url().replace(':', "%3A").replace('/', "%2F");
    visit(&server, &news.slug, "POST", "/subscribe", &format!("channel=webhook&address={address}"))
        .expect(200);
    let made = news.client.get(&news.list()).expect(200).data()[0].clone();
    eventually("it is disabled", || (news.subscriber(&made)["status"] == "disabled").then_some(())).await;
    assert_eq!(sink.count(), 0);
}

#[rstest]
#[case("/subscriptions/confirm/abc", 410)]
#[case("/u/abc", 404)]
fn a_forged_token_does_nothing(#[case] path: &str, #[case] status: u16) {
    let server = Server::shared();
    let news = News::on(server.tenant("business"));
    for method in ["GET", "POST"] {
        visit(&server, &news.slug, method, path, "").expect(status);
    }
}
