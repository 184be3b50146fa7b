//! `watchkeeper status`: the view of operators as a picture, for people at a terminal.

use std::net::TcpListener;
use std::process::Output;

use serde_json::{Value, json};

use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{create_watched, until_status};

/// Output of `status` with these arguments for this server.
fn status(server: &Server, token: &str, arguments: &[&str]) -> Output {
    server.command(&[&["status", "--token", token, "--url", &server.base()], arguments].concat())
}

fn operator(server: &Server) -> String {
    server.member(&server.organisation("business"), "engine.view").token.unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn a_node_is_drawn_once_without_escape_codes() {
    let server = Server::shared();
    let seen = status(&server, &operator(&server), &["--once"]);
    let picture = text(&seen.stdout);
    assert_eq!(seen.status.code(), Some(0), "{}", text(&seen.stderr));
    assert!(picture.starts_with("1 of 1 node answers  20"), "{picture}");
    assert!(picture.contains("alone: all of them") && picture.contains("local     online"), "{picture}");
    assert!(!picture.contains('\u{1b}'), "{picture}");
}

#[test]
fn json_output_contains_the_responses_unchanged() {
    let server = Server::shared();
    let seen = status(&server, &operator(&server), &["--json"]);
    let answers: Value = serde_json::from_slice(&seen.stdout).unwrap();
    assert_eq!(answers[0]["url"], format!("{}/", server.base()));
    assert_eq!(answers[0]["engine"]["is_alive"], true);
    assert_eq!(answers[0]["engine"]["queues"]["locations"][0]["code"], "local");
}

#[test]
fn an_unreachable_node_is_one_line_among_the_others() {
    let server = Server::shared();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let seen = status(&server, &operator(&server), &["--once", "--url", &format!("http://{free}")]);
    let picture = text(&seen.stdout);
    assert_eq!(seen.status.code(), Some(1));
    assert!(picture.starts_with("1 of 2 nodes answer"), "{picture}");
    let line = picture.lines().find(|line| line.contains(&free.to_string())).unwrap();
    assert!(line.contains("does not answer: Connection refused"), "{picture}");
    assert!(picture.contains("alone: all of them"), "{picture}");
}

/// The token of the first start has every permission of the API, but not this one.
#[test]
fn a_refused_token_gets_the_required_permission() {
    let server = Server::shared();
    for arguments in
        [&["status", "--url", &server.base(), "--once"][..], &["status", "--url", &server.base()]]
    {
        let refused = server.command(arguments);
        assert_eq!((refused.status.code(), text(&refused.stdout)), (Some(1), ""));
        let said = text(&refused.stderr);
        assert!(said.contains("missing the permission engine.view") && said.lines().count() == 1, "{said}");
    }
    let unknown = status(&server, "wk_nobody", &["--once"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(text(&unknown.stderr).contains("the token is unknown"), "{}", text(&unknown.stderr));
}

#[test]
fn wrong_usage_prints_one_line_with_the_remedy() {
    let server = Server::shared();
    let absent = server.command(&["status", "--once", "--data-dir", "elsewhere"]);
    assert_eq!(absent.status.code(), Some(2));
    assert!(text(&absent.stderr).contains("--permissions engine.view"), "{}", text(&absent.stderr));
    let tls = server.command(&["status", "--once", "--url", "https://127.0.0.1:8080"]);
    assert_eq!(tls.status.code(), Some(2));
    assert!(text(&tls.stderr).contains("http://HOST:PORT"), "{}", text(&tls.stderr));
}

/// On the machine of the server: what is wrong comes first, and no token is needed.
#[tokio::test]
async fn a_local_operator_sees_the_services_first() {
    let server = Server::start();
    let client = server.client();
    let mut target = Target::start();
    target.stop();
    let settings = json!({"interval_seconds": 30, "retries": 0});
    let id = create_watched(&client, &target.url(), &settings);
    until_status(&client, &id, "down").await;
    let tokens = client.get("/v1/tokens").expect(200).data();
    let listen = server.client().address.to_string();
    let seen = server.command(&["status", "--once", "--listen", &listen]);
    let picture = text(&seen.stdout);
    assert_eq!(seen.status.code(), Some(0), "{}", text(&seen.stderr));
    assert!(picture.starts_with("1 service: 1 down, 0 degraded\n  down  Shop since "), "{picture}");
    assert!(picture.contains("1 of 1 node answers"), "{picture}");
    assert_eq!(client.get("/v1/tokens").expect(200).data(), tokens, "its token is gone");
}
