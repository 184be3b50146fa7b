//! Status pages that readers on an e-mail list open by a link.

use serde_json::json;

use crate::subscriber_messages::{News, mailing};
use crate::support::client::{Answer, Client, exchange};
use crate::support::eventually;
use crate::support::mail_server::MailServer;
use crate::support::pages::{create_page, fresh, get_at, host_of, id_of, statuspage, visit};
use crate::support::server::Server;
use crate::support::smtp_sink::{SmtpConduct, SmtpSink};

const ANNA: &str = "anna@example.org";

/// A page that Anna and Bert may read, with its id and its host.
fn page(client: &Client) -> (String, String) {
    let page = create_page(
        client,
        &json!({"name": "Board room", "slug": fresh("listed"), "access_type": "email_whitelist",
            "email_whitelist": ["Anna@Example.org", "bert@example.org"], "custom_css": "h1 { color: red }"}),
    );
    (id_of(&page), host_of(&page))
}

/// Sends a form to a page, as a browser on the page does.
fn send(client: &Client, host: &str, path: &str, body: &str, site: &str) -> Answer {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nSec-Fetch-Site: {site}\r\n",
        body.len()
    );
    exchange(client.address, format!("{head}\r\n{body}").as_bytes())
}

/// Asks for a link to this address.
fn ask(client: &Client, host: &str, address: &str) -> Answer {
    let body: String =
        url::form_urlencoded::Serializer::new(String::new()).append_pair("address", address).finish();
    send(client, host, "/access", &body, "same-origin")
}

/// The path of the link in a mail.
fn link_in(text: &str) -> String {
    let at = text.find("/access/").unwrap_or_else(|| panic!("no link in {text}"));
    text[at..].split_whitespace().next().unwrap().to_owned()
}

/// Returns the line with the cookie that a link earns.
fn use_link(client: &Client, host: &str, link: &str) -> String {
    let answer = send(client, host, link, "", "same-origin").expect(303);
    assert_eq!(answer.header("location"), Some("/"));
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.ends_with("; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax"), "{cookie}");
    format!("Cookie: {}", cookie.split(';').next().unwrap())
}

#[tokio::test]
async fn a_link_opens_the_page_once() {
    let Some(mut mails) = MailServer::start() else { return };
    let server = mailing(&mails.variables());
    let client = server.bilingual_tenant();
    let (id, host) = page(&client);
    let form = get_at(&client, &host, "/").expect(401);
    assert!(form.body.contains("<form method=\"post\" action=\"/access\">"), "{}", form.body);
    assert!(form.body.contains("type=\"email\"") && !form.body.contains("Board"), "{}", form.body);
    assert_eq!(form.header("www-authenticate"), Some("Cookie form-action=\"/access\""));
    for path in ["/de/", "/api/v2/summary.json", "/badge/status.svg", "/feed.atom", "/access", "/assets/0"] {
        assert_eq!(get_at(&client, &host, path).expect(401).body, form.body, "{path}");
    }
    let sent = ask(&client, &host, " ANNA@example.org ").expect(200);
    assert_eq!(sent.header("cache-control"), Some("private, no-store"));
    // Nobody learns who is on the list, and nobody else gets a mail.
    assert_eq!(ask(&client, &host, "carl@example.org").expect(200).body, sent.body);
    let mail = mails.mail();
    assert_eq!((&mail["to"], &mail["headers"]["Subject"]), (&json!([ANNA]), &json!("Open Board room")));
    let link = link_in(mail["text"].as_str().unwrap());
    // Opening the link changes nothing; the button opens the page, once.
    for _ in 0..2 {
        let question = get_at(&client, &host, &link).expect(200);
        assert!(!question.body.contains(link.rsplit('/').next().unwrap()), "no token is in the document");
        assert!(!question.body.contains("Board"), "{}", question.body);
    }
    send(&client, &host, &link, "", "cross-site").expect(403);
    let cookie = use_link(&client, &host, &link);
    // Pressing the button twice leads to the page as well, but nobody else gets in.
    let twice = visit(&client, "GET", &host, &link, &[&cookie]).expect(303);
    assert_eq!((twice.header("location"), twice.header("set-cookie")), (Some("/"), None));
    let again = send(&client, &host, &link, "", "same-origin").expect(410);
    assert!(again.body.contains("no longer valid") && again.body.contains("action=\"/access\""));
    get_at(&client, &host, &link).expect(410);
    let open = visit(&client, "GET", &host, "/", &[&cookie]).expect(200);
    assert!(open.body.contains("Board room"), "{}", open.body);
    assert_eq!(open.header("cache-control"), Some("private, no-store"));
    visit(&client, "GET", &host, "/api/v2/summary.json", &[&cookie]).expect(200);
    // The cookie is of this page, and of an address on its list.
    let (other, other_host) = page(&client);
    visit(&client, "GET", &other_host, "/", &[&cookie]).expect(401);
    client.patch(&statuspage(&id), &json!({"email_whitelist": ["bert@example.org"]})).expect(200);
    visit(&client, "GET", &host, "/", &[&cookie]).expect(401);
    // A link to an address that was removed meanwhile opens nothing.
    ask(&client, &other_host, ANNA).expect(200);
    let late = link_in(mails.mail()["text"].as_str().unwrap());
    get_at(&client, &host, &late).expect(410);
    client.patch(&statuspage(&other), &json!({"email_whitelist": ["bert@example.org"]})).expect(200);
    send(&client, &other_host, &late, "", "same-origin").expect(410);
}

/// An address is sent one link in a minute, however often somebody enters it, and a client asks sixty times.
#[tokio::test]
async fn requests_for_links_are_limited() {
    let sink = SmtpSink::with(SmtpConduct::default());
    let server = mailing(&sink.variables());
    let client = server.tenant("business");
    let (_, host) = page(&client);
    for _ in 0..59 {
        ask(&client, &host, ANNA).expect(200);
    }
    ask(&client, &host, "bert@example.org").expect(200);
    let refused = ask(&client, &host, "bert@example.org").expect(429);
    assert!(refused.header("retry-after").is_some() && refused.body.contains("Too many attempts."));
    eventually("both were sent one", || (sink.sent_to("bert@example.org").len() == 1).then_some(())).await;
    assert_eq!(sink.sent_to(ANNA).len(), 1);
}

#[test]
fn a_wrong_address_or_a_missing_mail_server_is_said() {
    let server = Server::shared();
    let client = server.tenant("business");
    let (_, host) = page(&client);
    let refused = ask(&client, &host, ANNA).expect(503);
    assert!(refused.body.contains("cannot send e-mails"), "{}", refused.body);
    let sink = SmtpSink::with(SmtpConduct::default());
    let server = mailing(&sink.variables());
    let client = server.tenant("business");
    let (_, host) = page(&client);
    for wrong in ["", "anna", "anna@", "a\nb@example.org"] {
        let refused = ask(&client, &host, wrong).expect(422);
        assert!(refused.body.contains("role=\"alert\""), "{}", refused.body);
    }
    send(&client, &host, "/access", "address=anna%40example.org", "cross-site").expect(403);
    for path in ["/access/", "/access/abc", "/access/a/b"] {
        let answer = get_at(&client, &host, path);
        assert!(matches!(answer.status, 401 | 410), "{path}: {}", answer.status);
    }
}

/// News of a page with a list go to addresses on it, and where a client of the API wants them.
#[tokio::test]
async fn news_go_to_the_list() {
    let Some(mut mails) = MailServer::start() else { return };
    let server = mailing(&mails.variables());
    let news = News::on(server.tenant("business"));
    news.add_mail("carl@example.org", &json!({}));
    news.add_mail(ANNA, &json!({}));
    let listed = json!({"access_type": "email_whitelist", "email_whitelist": [ANNA]});
    news.client.patch(&statuspage(&news.page), &listed).expect(200);
    news.incident("Payments fail");
    assert_eq!(mails.mail()["to"], json!([ANNA]));
    news.client.patch(&statuspage(&news.page), &json!({"email_whitelist": ["carl@example.org"]})).expect(200);
    news.incident("Mail fails");
    let mail = mails.mail();
    assert_eq!(
        (&mail["to"], &mail["headers"]["Subject"]),
        (&json!(["carl@example.org"]), &json!("Investigating: Mail fails"))
    );
}
