//! The console: signing in, who may do what, and that its forms are requests to the API.

use rstest::rstest;
use serde_json::json;

use crate::support::client::Client;
use crate::support::console::{
    ConsoleUser, OWN_ORIGIN, PASSWORD, cookie_of, newest_change, path_of, send_form,
};
use crate::support::pages::fresh;
use crate::support::server::Server;
use crate::support::{UNKNOWN_ID, create_unconfigured};

/// Lists of resources in the console, with whether they have a form for a new one.
pub(crate) const LISTS: [(&str, bool); 18] = [
    ("/incidents", true),
    ("/maintenances", true),
    ("/maintenances/series", false),
    ("/statuspages", true),
    ("/oncall/schedules", true),
    ("/oncall/overrides", true),
    ("/oncall/absences", true),
    ("/oncall/cover-requests", true),
    ("/oncall/contacts", true),
    ("/channels", true),
    ("/channels/messages", false),
    ("/policies", true),
    ("/policies/escalations", true),
    ("/sla", true),
    ("/settings/tags", true),
    ("/settings/scopes", true),
    ("/settings/users", true),
    ("/settings/tokens", true),
];

fn email() -> String {
    format!("{}@example.com", fresh("console"))
}

#[test]
fn the_first_user_is_created_by_a_link_that_works_once() {
    let server = Server::start();
    let client = server.client();
    let link = String::from_utf8(server.command(&["user", "link"]).stdout).unwrap();
    let path = path_of(link.trim());
    let page = client.without_token().get(&path).expect(200);
    assert!(page.body.contains("name=\"password\"") && page.body.contains("autofocus"), "{}", page.body);
    let ticket = path.split_once("ticket=").unwrap().1;
    let wrong = [("ticket", ticket), ("email", "owner@example.com"), ("password", "short")];
    send_form(&client, "/console/welcome", &wrong, &[OWN_ORIGIN]).expect(422);
    let fields = [("ticket", ticket), ("email", "Owner@Example.com"), ("password", PASSWORD)];
    let made = send_form(&client, "/console/welcome", &fields, &[OWN_ORIGIN]).expect(303);
    assert_eq!(made.header("location"), Some("/console/services/new"));
    let cookie = made.header("set-cookie").unwrap();
    assert!(cookie.contains("; Path=/console; HttpOnly; SameSite=Strict; Max-Age="), "{cookie}");
    send_form(&client, "/console/welcome", &fields, &[OWN_ORIGIN]).expect(410);
    let refused = server.command(&["user", "link"]);
    assert!(!refused.status.success(), "there is a user now");
    let entry = newest_change(&client);
    assert_eq!((&entry["action"], &entry["object"]["name"]), (&json!("create"), &json!("owner")));
    let listed = server.command_json(&["user", "list"]);
    assert_eq!((&listed[0]["email"], &listed[0]["role"]), (&json!("owner@example.com"), &json!("owner")));
}

#[test]
fn the_command_line_creates_and_resets_users() {
    let server = Server::start();
    let made = server.command_json(&["user", "create", "--email", "a@example.com", "--role", "editor"]);
    ConsoleUser::by_link(&server.client(), made["link"].as_str().unwrap()).get("").expect(200);
    let reset = server.command_json(&["user", "reset", "--email", "a@example.com"]);
    let user = ConsoleUser::by_link(&server.client(), reset["link"].as_str().unwrap());
    user.get("/settings").expect(200);
    user.get("/settings/users").expect(403);
    assert_eq!(newest_change(&server.client())["action"], "set_password");
    server.command(&["user", "delete", "--email", "a@example.com"]);
    user.get("").expect(303);
    let unknown = server.command(&["user", "reset", "--email", "a@example.com"]);
    assert_eq!(unknown.status.code(), Some(2));
}

#[test]
fn somebody_signs_in_and_out() {
    let server = Server::start();
    let client = server.client();
    let email = email();
    ConsoleUser::with(&client, &json!({"email": email, "role": "viewer"}));
    let shown = client.without_token().get("/console/services?q=a").expect(303);
    assert_eq!(shown.header("location"), Some("/console/sign-in?next=%2Fservices%3Fq%3Da"));
    let sign_in = |password: &str, next: &str| {
        let fields = [("email", email.as_str()), ("password", password), ("next", next)];
        send_form(&client, "/console/sign-in", &fields, &[OWN_ORIGIN])
    };
    sign_in("wrong password", "").expect(401);
    let unknown = [("email", "nobody@example.com"), ("password", PASSWORD)];
    send_form(&client, "/console/sign-in", &unknown, &[OWN_ORIGIN]).expect(401);
    let answer = sign_in(PASSWORD, "/services?q=a").expect(303);
    assert_eq!(answer.header("location"), Some("/console/services?q=a"));
    assert_eq!(sign_in(PASSWORD, "//evil.example").header("location"), Some("/console"));
    let cookie = format!("Cookie: {}", cookie_of(&answer));
    client.without_token().send("GET", "/console", &[&cookie], b"").expect(200);
    send_form(&client, "/console/sign-out", &[], &[OWN_ORIGIN, &cookie]).expect(303);
    client.without_token().send("GET", "/console", &[&cookie], b"").expect(303);
}

/// Ten wrong passwords: then even the right one waits.
#[test]
fn tries_are_limited() {
    let server = Server::start();
    let client = server.client();
    let email = email();
    ConsoleUser::with(&client, &json!({"email": email, "role": "viewer"}));
    let sign_in = |password: &str| {
        send_form(&client, "/console/sign-in", &[("email", &email), ("password", password)], &[OWN_ORIGIN])
    };
    for _ in 0..10 {
        sign_in("wrong password").expect(401);
    }
    sign_in(PASSWORD).expect(429);
}

/// Forms of other origins are refused, also those of a status page below the same host, and those of old browsers without a
/// word about their origin.
#[rstest]
#[case(&[OWN_ORIGIN], 303)]
#[case(&["Sec-Fetch-Site: same-site"], 403)]
#[case(&["Sec-Fetch-Site: cross-site"], 403)]
#[case(&["Sec-Fetch-Site: none"], 403)]
#[case(&["Origin: http://shop.localhost"], 403)]
#[case(&["Origin: null"], 403)]
#[case(&[], 403)]
fn forms_come_from_the_console(#[case] lines: &[&str], #[case] status: u16) {
    let client = Server::shared().tenant("business");
    let user = ConsoleUser::invited(&client, "editor");
    let id = create_unconfigured(&client);
    let cookie = user.cookie();
    let mut head = lines.to_vec();
    head.push(&cookie);
    send_form(&client, &format!("/console/services/{id}/pause"), &[], &head).expect(status);
    let paused = client.get(&format!("/v1/services/{id}")).expect(200).data()["is_paused"].clone();
    assert_eq!(paused, json!(status == 303));
}

/// The cookie opens the console alone.
#[test]
fn the_cookie_never_opens_the_api() {
    let client = Server::shared().tenant("business");
    let user = ConsoleUser::invited(&client, "owner");
    let secret = user.cookie().split_once('=').unwrap().1.to_owned();
    client.without_token().send("GET", "/v1/services", &[&user.cookie()], b"").expect(401);
    Client { token: Some(secret), ..client.without_token() }.get("/v1/services").expect(401);
}

/// What a form changes is in the audit log under the name of the user, once.
#[test]
fn a_form_is_a_request_to_the_api() {
    let client = Server::shared().tenant("business");
    let body = json!({"role": "editor", "name": "Anna"});
    let user = ConsoleUser::with(&client, &body);
    let fields = [("paste", "https://127.0.0.1:9/health"), ("tags", ""), ("form-key", "key-1")];
    let made = user.post("/services/new", &fields).expect(303);
    let again = user.post("/services/new", &fields).expect(303);
    assert_eq!(made.header("location"), again.header("location"), "it was sent twice by mistake");
    let services = client.get("/v1/services").expect(200).data();
    assert_eq!(services.as_array().unwrap().len(), 1);
    assert_eq!(services[0]["check_type"], "http");
    let entry = newest_change(&client);
    assert_eq!(entry["actor"]["kind"], "user");
    assert_eq!((&entry["actor"]["name"], &entry["action"]), (&json!("Anna"), &json!("create")));
    let page = user.get(&format!("/services/{}", services[0]["id"].as_str().unwrap())).expect(200);
    assert!(page.body.contains("127.0.0.1:9/health"));
    user.post("/services/new", &[("paste", " ")]).expect(422);
}

/// Several services are changed by one form, and deleted only after a question.
#[test]
fn several_services_are_changed_at_once() {
    let client = Server::shared().tenant("business");
    let user = ConsoleUser::invited(&client, "editor");
    let ids: Vec<String> = (0..3).map(|_| create_unconfigured(&client)).collect();
    let with = |action: &'static str, more: &[(&'static str, &'static str)]| {
        let mut fields: Vec<(&str, &str)> = ids.iter().map(|id| ("id", id.as_str())).collect();
        fields.push(("action", action));
        fields.extend_from_slice(more);
        user.post("/services", &fields)
    };
    with("pause", &[]).expect(303);
    with("tag", &[("tag", "team:web")]).expect(303);
    let found = client.get("/v1/services?tag=team:web&status=paused").expect(200).json();
    assert_eq!(found["meta"]["total"], 3);
    assert!(user.get("/services?q=tag:team:web%20is:paused").expect(200).body.contains("3 entries"));
    assert!(with("delete", &[]).expect(200).body.contains("is-confirmed"));
    assert_eq!(client.get("/v1/services").expect(200).json()["meta"]["total"], 3);
    with("delete", &[("is-confirmed", "true")]).expect(303);
    assert_eq!(client.get("/v1/services").expect(200).json()["meta"]["total"], 0);
}

/// A viewer sends every form: none has an effect.
#[test]
fn a_viewer_changes_nothing() {
    let client = Server::shared().tenant("business");
    let viewer = ConsoleUser::invited(&client, "viewer");
    let id = create_unconfigured(&client);
    for path in ["", "/services", "/incidents", "/settings", "/channels"] {
        viewer.get(path).expect(200);
    }
    for action in ["pause", "resume", "silence", "override", "remove-override", "delete", "edit"] {
        viewer.post(&format!("/services/{id}/{action}"), &[("status", "up"), ("reason", "x")]).expect(403);
    }
    viewer.post("/services/new", &[("paste", "https://shop.example")]).expect(403);
    viewer.post("/services", &[("id", &id), ("action", "delete")]).expect(403);
    for (list, has_form) in LISTS {
        if has_form {
            viewer.get(&format!("{list}/new")).expect(403);
            viewer.post(&format!("{list}/new"), &[("name", "x")]).expect(403);
        }
        let answer = viewer.post(&format!("{list}/{UNKNOWN_ID}"), &[("name", "x")]);
        assert!(matches!(answer.status, 403 | 405), "{list}: {}", answer.status);
    }
    assert_eq!(newest_change(&client)["action"], "create", "nothing but the service was changed since");
    assert_eq!(newest_change(&client)["object"]["kind"], "service");
}

/// Who is confined to a scope gets the answers of the API for what is outside of it.
#[test]
fn a_confined_user_sees_a_part() {
    let client = Server::shared().tenant("business");
    client.post("/v1/tags", &json!({"key": "team", "value": "a"})).expect(201);
    let scope =
        client.post("/v1/access-scopes", &json!({"name": "Team", "tags": ["team:a"]})).expect(201).data();
    let user = ConsoleUser::with(&client, &json!({"role": "editor", "access_scope_id": scope["id"]}));
    let outside = create_unconfigured(&client);
    user.get(&format!("/services/{outside}")).expect(404);
    user.post(&format!("/services/{outside}/pause"), &[]).expect(404);
    user.get("").expect(200);
    user.get("/channels").expect(403);
}

/// A responder pauses, and handles incidents; the rest is for editors.
#[test]
fn a_responder_handles_incidents() {
    let client = Server::shared().tenant("business");
    let user = ConsoleUser::invited(&client, "responder");
    let id = create_unconfigured(&client);
    user.post(&format!("/services/{id}/pause"), &[]).expect(303);
    user.post(&format!("/services/{id}/edit"), &[("name", "x")]).expect(403);
    let incident = [("title", "Outage"), ("message", "We look into it."), ("service_ids", id.as_str())];
    let made = user.post("/incidents/new", &incident).expect(303);
    let path =
        made.header("location").unwrap().trim_start_matches("/console").split('?').next().unwrap().to_owned();
    user.post(&format!("{path}/acknowledge"), &[("note", "mine")]).expect(303);
    user.post(&format!("{path}/updates"), &[("status", "identified"), ("message", "A disk.")]).expect(303);
    user.post(&format!("{path}/resolve"), &[("message", "Done.")]).expect(303);
    let resolved = client.get(&format!("/v1{path}")).expect(200).data();
    assert_eq!(resolved["status"], "resolved");
    user.post(&format!("{path}/delete"), &[]).expect(403);
}

/// Every list and every form of an owner can be opened, in both languages.
#[rstest]
#[case("en", "Overview")]
#[case("de", "Übersicht")]
fn every_screen_opens(#[case] language: &str, #[case] word: &str) {
    let client = Server::shared().tenant("business");
    let user = ConsoleUser::invited(&client, "owner");
    user.post("/settings", &[("what", "profile"), ("name", "Anna"), ("language", language)]).expect(303);
    for path in ["", "/services", "/services/new", "/oncall", "/settings"] {
        assert!(user.get(path).expect(200).body.contains(word), "{path}");
    }
    for (list, has_form) in LISTS {
        let page = user.get(list).expect(200);
        assert!(page.body.contains("class=\"empty\"") || page.body.contains("data-row"), "{list}");
        if has_form {
            user.get(&format!("{list}/new")).expect(200);
        }
    }
    user.get("/nowhere").expect(404);
}

/// A token is made in the console with less than everything, shown once, and revoked.
#[test]
fn a_token_is_made_and_revoked() {
    let client = Server::shared().tenant("business");
    let user = ConsoleUser::invited(&client, "owner");
    let fields = [("name", "Deployment"), ("permissions", "services.view"), ("form-key", "token-1")];
    let page = user.post("/settings/tokens/new", &fields).expect(200).body;
    let token = page
        .split("<code>")
        .find_map(|part| part.split("</code>").next().filter(|text| text.starts_with("wk_")));
    let bot = Client { token: Some(token.unwrap().to_owned()), ..client.without_token() };
    bot.get("/v1/services").expect(200);
    bot.get("/v1/incidents").expect(403);
    let tokens = client.get("/v1/tokens").expect(200).data();
    let id =
        tokens.as_array().unwrap().iter().find(|token| token["name"] == "Deployment").unwrap()["id"].clone();
    let path = format!("/settings/tokens/{}", id.as_str().unwrap());
    assert!(!user.get(&path).expect(200).body.contains(token.unwrap()));
    user.get(&format!("{path}/delete")).expect(200);
    user.post(&format!("{path}/delete"), &[]).expect(303);
    client.get(&format!("/v1/tokens/{}", id.as_str().unwrap())).expect(404);
}

/// A new password ends all other sessions; a session can be ended.
#[test]
fn a_password_is_changed() {
    let client = Server::shared().tenant("business");
    let email = email();
    let first = ConsoleUser::with(&client, &json!({"email": email, "role": "viewer"}));
    let fields = [("email", email.as_str()), ("password", PASSWORD)];
    let other = send_form(&client, "/console/sign-in", &fields, &[OWN_ORIGIN]).expect(303);
    let other = format!("Cookie: {}", cookie_of(&other));
    let change = |present: &str| {
        first.post(
            "/settings",
            &[("what", "password"), ("present", present), ("password", "another password")],
        )
    };
    change("wrong password").expect(422);
    client.without_token().send("GET", "/console", &[&other], b"").expect(200);
    change(PASSWORD).expect(303);
    client.without_token().send("GET", "/console", &[&other], b"").expect(303);
    first.get("").expect(200);
    send_form(&client, "/console/sign-in", &fields, &[OWN_ORIGIN]).expect(401);
}
