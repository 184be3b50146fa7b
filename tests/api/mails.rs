//! Incidents as mails, by a real mail server: both parts as a mail program reads them, and what happens when it refuses.

use serde_json::{Value, json};

use crate::incidents::{id_of, open_incident};
use crate::notification_channels::create_channel;
use crate::support::client::Client;
use crate::support::mail_server::MailServer;
use crate::support::server::Server;
use crate::support::{create, eventually};

const TEXT: &str = "Payments & <b>cards</b> fail

We look into it.
<script>alert(1)</script> https://evil.example
Severity: major
Status: investigating
Services: Shop \"<eu>\"
Began: {began} UTC

-- 
Example Ltd, by Watchkeeper
";
const HTML: &str = r##"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Payments &#38; &#60;b&#62;cards&#60;/b&#62; fail</title>
</head>
<body style="font-family: sans-serif; line-height: 1.5; max-width: 40em">
<h1 style="font-size: 1.2em; border-left: 0.4em solid #ef6c00; padding-left: 0.6em">Payments &#38; &#60;b&#62;cards&#60;/b&#62; fail</h1>
<p style="margin: 0.3em 0">We look into it.</p>
<p style="margin: 0.3em 0">&#60;script&#62;alert(1)&#60;/script&#62; https://evil.example</p>
<table style="margin-top: 1em; border-spacing: 0">
<tr><th style="text-align: left; padding-right: 1em">Severity</th><td>major</td></tr>
<tr><th style="text-align: left; padding-right: 1em">Status</th><td>investigating</td></tr>
<tr><th style="text-align: left; padding-right: 1em">Services</th><td>Shop &#34;&#60;eu&#62;&#34;</td></tr>
<tr><th style="text-align: left; padding-right: 1em">Began</th><td>{began} UTC</td></tr>
</table>
<p style="margin-top: 2em; color: #666">Example Ltd, by Watchkeeper</p>
</body>
</html>"##;

fn add(client: &Client, settings: &Value) {
    create_channel(client, &json!({"kind": "email", "name": "Mails", "settings": settings}));
}

/// The only message of the client, once it has ended.
async fn ended(client: &Client) -> Value {
    eventually("the mail has ended", || {
        let row = client.get("/v1/notifications").expect(200).data()[0].clone();
        (!row["ended_at"].is_null()).then_some(row)
    })
    .await
}

#[tokio::test]
async fn an_incident_arrives_as_a_mail_of_two_parts() {
    let Some(mut server) = MailServer::start() else { return };
    let client = Server::shared().tenant("business");
    add(&client, &server.settings(&["a@example.org", "b@example.org"]));
    let service = create(
        &client,
        &json!({"name": "Shop \"<eu>\"", "check_type": "http", "target": "http://127.0.0.1:9/"}),
    );
    let incident = open_incident(
        &client,
        &json!({"title": "Payments & <b>cards</b> fail", "severity": "major", "service_ids": [service],
            "message": "We look into it.\n<script>alert(1)</script> https://evil.example"}),
    );
    let row = ended(&client).await;
    assert_eq!((&row["status"], &row["tries"][0]["detail"]), (&json!("delivered"), &json!("Taken")), "{row}");
    let mail = server.mail();
    let began = incident["started_at"].as_str().unwrap()[..16].replace('T', " ");
    assert_eq!(mail["text"].as_str().unwrap().replace("\r\n", "\n"), TEXT.replace("{began}", &began));
    assert_eq!(mail["html"].as_str().unwrap().replace("\r\n", "\n"), HTML.replace("{began}", &began));
    let headers = &mail["headers"];
    for (name, value) in [
        ("Subject", "Payments & <b>cards</b> fail"),
        ("From", "Example Ltd <status@example.org>"),
        ("To", "a@example.org, b@example.org"),
        ("Auto-Submitted", "auto-generated"),
        ("Message-ID", &format!("<{}@example.org>", id_of(&row))),
    ] {
        assert_eq!(headers[name], value, "{name}");
    }
}

#[tokio::test]
async fn a_greylisted_mail_is_sent_again() {
    let Some(mut server) = MailServer::start() else { return };
    let client = Server::shared().tenant("business");
    add(&client, &server.settings(&["grey@example.org"]));
    open_incident(&client, &json!({}));
    let row = ended(&client).await;
    assert_eq!(row["status"], "delivered", "{row}");
    let tries = row["tries"].as_array().unwrap();
    let codes: Vec<&Value> = tries.iter().map(|attempt| &attempt["status_code"]).collect();
    assert_eq!(codes, [451, 250], "{row}");
    assert_eq!(server.mail()["to"], json!(["grey@example.org"]));
}

#[tokio::test]
async fn a_mail_without_valid_recipient_is_dead() {
    let Some(server) = MailServer::start() else { return };
    let client = Server::shared().tenant("business");
    add(&client, &server.settings(&["unknown@example.org"]));
    open_incident(&client, &json!({}));
    let row = ended(&client).await;
    assert_eq!((&row["status"], &row["tries"][0]["status_code"]), (&json!("dead"), &json!(550)), "{row}");
}

/// A refused recipient does not prevent the delivery to the others.
#[tokio::test]
async fn known_recipients_get_the_mail() {
    let Some(mut server) = MailServer::start() else { return };
    let client = Server::shared().tenant("business");
    add(&client, &server.settings(&["unknown@example.org", "a@example.org"]));
    open_incident(&client, &json!({}));
    let row = ended(&client).await;
    assert_eq!(row["status"], "delivered", "{row}");
    assert!(row["tries"][0]["detail"].as_str().unwrap().starts_with("Not to unknown@example.org"), "{row}");
    assert_eq!(server.mail()["to"], json!(["a@example.org"]));
}

/// Events beyond the limit of a minute are sent in one mail at its end.
#[tokio::test]
async fn many_simultaneous_events_are_one_mail() {
    let Some(mut server) = MailServer::start() else { return };
    let client = Server::shared().tenant("business");
    let settings = server.settings(&["a@example.org"]);
    create_channel(
        &client,
        &json!({"kind": "email", "name": "Mails", "digest_above": 1, "settings": settings}),
    );
    for title in ["Shop <fails>", "Mail & more", "Line 3"] {
        open_incident(&client, &json!({"title": title}));
    }
    assert_eq!(server.mail()["headers"]["Subject"], "Shop <fails>");
    let digest = server.mail();
    assert_eq!(digest["headers"]["Subject"], "2 messages in one: 2 begun", "{digest}");
    let text = digest["text"].as_str().unwrap().replace("\r\n", "\n");
    assert!(text.contains("\nMail & more\nLine 3\n"), "{text}");
    assert!(digest["html"].as_str().unwrap().contains(">Mail &#38; more</p>"), "{digest}");
}
