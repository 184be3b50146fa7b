//! Single sign-on: users of the console whom a trusted proxy names in a header.

use rstest::rstest;
use serde_json::json;

use crate::support::client::{Answer, Client};
use crate::support::console::{ConsoleUser, OWN_ORIGIN, newest_change, send_form};
use crate::support::server::{Server, failing_start};

const HEADER: (&str, &str) = ("WATCHKEEPER_CONSOLE__PROXY_USER_HEADER", "X-Forwarded-Email");
const PROXY: (&str, &str) = ("WATCHKEEPER_TRUSTED_PROXIES", "127.0.0.1");
pub(crate) const ANNA: &str = "X-Forwarded-Email: anna@example.com";

/// A server behind a proxy, which is this test.
pub(crate) fn behind_proxy(more: &[(&str, &str)]) -> Server {
    Server::with("", &[&[HEADER, PROXY], more].concat())
}

pub(crate) fn invite(client: &Client, email: &str, role: &str) {
    client.post("/v1/users", &json!({"email": email, "role": role})).expect(201);
}

fn get(client: &Client, path: &str, lines: &[&str]) -> Answer {
    client.without_token().send("GET", path, lines, b"")
}

#[test]
fn a_trusted_proxy_signs_users_in() {
    let server = behind_proxy(&[]);
    let client = server.client();
    invite(&client, "anna@example.com", "editor");
    assert!(get(&client, "/console/settings", &[ANNA]).expect(200).body.contains("anna@example.com"));
    get(&client, "/console/settings", &["X-Forwarded-Email:  Anna@Example.COM "]).expect(200);
    get(&client, "/console/settings/users", &[ANNA]).expect(403);
    let there = get(&client, "/console/sign-in?next=%2Fservices", &[ANNA]).expect(303);
    assert_eq!(there.header("location"), Some("/console/services"));
    // Nobody is named: people sign in with a password.
    get(&client, "/console/settings", &[]).expect(303);
    get(&client, "/console/settings", &["X-Forwarded-Email:"]).expect(303);
}

/// A form needs the console's own origin. The entry in the audit log names the user, and the address that the proxy reports.
#[test]
fn a_named_user_sends_forms() {
    let server = behind_proxy(&[]);
    let client = server.client();
    invite(&client, "anna@example.com", "editor");
    let fields = [("paste", "https://127.0.0.1:9/health"), ("tags", ""), ("form-key", "key-1")];
    send_form(&client, "/console/services/new", &fields, &[ANNA]).expect(403);
    send_form(&client, "/console/services/new", &fields, &[ANNA, "Sec-Fetch-Site: cross-site"]).expect(403);
    let from = "X-Forwarded-For: 203.0.113.7";
    send_form(&client, "/console/services/new", &fields, &[ANNA, OWN_ORIGIN, from]).expect(303);
    let entry = newest_change(&client);
    assert_eq!((&entry["actor"]["kind"], &entry["actor"]["name"]), (&json!("user"), &json!("anna")));
    assert_eq!(entry["address"], "203.0.113.7");
    let out = send_form(&client, "/console/sign-out", &[], &[ANNA, OWN_ORIGIN]).expect(200);
    assert!(out.body.contains("Sign out there"), "{}", out.body);
}

/// The peer decides, and not an address that it claims for its client.
#[test]
fn the_header_of_another_peer_is_ignored() {
    let server = Server::with("", &[HEADER, ("WATCHKEEPER_TRUSTED_PROXIES", "10.0.0.0/8")]);
    let client = server.client();
    invite(&client, "anna@example.com", "editor");
    get(&client, "/console/settings", &[ANNA]).expect(303);
    get(&client, "/console/settings", &[ANNA, "X-Forwarded-For: 10.0.0.1"]).expect(303);
    let user = ConsoleUser::invited(&client, "viewer");
    assert!(!get(&client, "/console/settings", &[ANNA, &user.cookie()]).expect(200).body.contains("anna@"));
}

#[rstest]
#[case(&["X-Forwarded-Email: stranger@example.com"], "there is no user with this address")]
#[case(&[ANNA, ANNA], "one user")]
#[case(&[ANNA, "X-Forwarded-Email: ben@example.com"], "one user")]
#[case(&["X-Forwarded-Email: anna@example.com, ben@example.com"], "one user")]
#[case(&["X-Forwarded-Email: anna"], "one user")]
fn other_values_are_refused(#[case] lines: &[&str], #[case] words: &str) {
    let server = behind_proxy(&[]);
    let client = server.client();
    invite(&client, "anna@example.com", "editor");
    for path in ["/console", "/console/services", "/console/sign-in"] {
        let refused = get(&client, path, lines).expect(403);
        assert!(refused.body.contains(words), "{path} {}", refused.body);
    }
    let users = client.get("/v1/users").expect(200).json()["meta"]["total"].clone();
    assert_eq!(users, 1, "nobody was created");
}

/// Of a header and the cookie of another user, the header counts.
#[test]
fn the_header_wins_over_a_cookie() {
    let server = behind_proxy(&[]);
    let client = server.client();
    invite(&client, "anna@example.com", "viewer");
    let other = ConsoleUser::with(&client, &json!({"role": "viewer", "email": "ben@example.com"}));
    let page = get(&client, "/console/settings", &[ANNA, &other.cookie()]).expect(200);
    assert!(page.body.contains("anna@example.com") && !page.body.contains("ben@example.com"));
    let stranger = "X-Forwarded-Email: stranger@example.com";
    get(&client, "/console/settings", &[stranger, &other.cookie()]).expect(403);
    other.get("/settings").expect(200);
}

#[test]
fn the_api_ignores_the_header() {
    let server = behind_proxy(&[]);
    let client = server.client();
    invite(&client, "anna@example.com", "editor");
    get(&client, "/v1/services", &[ANNA]).expect(401);
    let me = client.send("GET", "/v1/me", &[ANNA], b"").expect(200);
    assert!(!me.body.contains("anna"), "{}", me.body);
}

/// With a role, unknown users are created once; with several organisations an owner has to decide.
#[test]
fn unknown_users_can_get_a_role() {
    let server = behind_proxy(&[("WATCHKEEPER_CONSOLE__PROXY_USER_ROLE", "viewer")]);
    let client = server.client();
    get(&client, "/console/settings", &[ANNA]).expect(200);
    get(&client, "/console/settings", &[ANNA]).expect(200);
    let users = client.get("/v1/users").expect(200).data();
    assert_eq!(users.as_array().unwrap().len(), 1);
    assert_eq!((&users[0]["email"], &users[0]["role"]), (&json!("anna@example.com"), &json!("viewer")));
    let entry = newest_change(&client);
    assert_eq!((&entry["action"], &entry["actor"]["name"]), (&json!("create"), &json!("anna")));
    server.organisation("business");
    get(&client, "/console/settings", &[ANNA]).expect(200);
    get(&client, "/console/settings", &["X-Forwarded-Email: ben@example.com"]).expect(403);
}

/// The link for the first user works behind a proxy that names somebody whom nobody knows yet.
#[test]
fn the_first_link_works_behind_a_proxy() {
    let server = behind_proxy(&[]);
    let link = String::from_utf8(server.command(&["user", "link"]).stdout).unwrap();
    let ticket = link.trim().split_once("ticket=").unwrap().1.to_owned();
    let page = get(&server.client(), &format!("/console/welcome?ticket={ticket}"), &[ANNA]).expect(200);
    assert!(page.body.contains("name=\"password\""), "{}", page.body);
}

#[rstest]
#[case(
    "[console]\nproxy_user_header = 'X-Forwarded-Email'",
    "console.proxy_user_header needs trusted_proxies"
)]
#[case("[console]\nproxy_user_role = 'viewer'", "has no effect without console.proxy_user_header")]
#[case("trusted_proxies = '0.0.0.0/0'\n[console]\nproxy_user_header = 'X-User'", "anybody could sign in")]
fn settings_that_do_not_fit_are_refused(#[case] file: &str, #[case] words: &str) {
    let (code, said) = failing_start(file, &[]);
    assert!(code.is_some_and(|code| code != 0) && said.contains(words), "{code:?} {said}");
}
