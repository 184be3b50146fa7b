//! Authentication and authorisation (contract 1.13, 2, 1.8): tokens, permissions of every route, and the order of the checks.
//!
//! Limits of plans are in `plans`, the isolation of tenants in `tenants`.

use rstest::rstest;
use serde_json::json;

use crate::support::client::Client;
use crate::support::server::Server;
use crate::support::{UNKNOWN_ID, create_unconfigured, eventually, service};

/// Contract 6: every route that exists so far, with its permission. `{}` is the id of a service.
const ROUTES: [(&str, &str, &str); 17] = [
    ("GET", "/v1/probes", "services.view"),
    ("GET", "/v1/meta/check-types", "services.view"),
    ("GET", "/v1/services", "services.view"),
    ("POST", "/v1/services", "services.create"),
    ("GET", "/v1/services/{}", "services.view"),
    ("HEAD", "/v1/services/{}", "services.view"),
    ("PUT", "/v1/services/{}", "services.edit"),
    ("PATCH", "/v1/services/{}", "services.edit"),
    ("POST", "/v1/services/{}/pause", "services.edit"),
    ("POST", "/v1/services/{}/resume", "services.edit"),
    ("POST", "/v1/services/{}/status-override", "services.edit"),
    ("DELETE", "/v1/services/{}/status-override", "services.edit"),
    ("GET", "/v1/services/{}/metrics", "services.view"),
    ("GET", "/v1/services/{}/response-times", "services.view"),
    ("GET", "/v1/services/{}/uptime", "services.view"),
    ("GET", "/v1/services/{}/checks", "services.view"),
    ("DELETE", "/v1/services/{}", "services.delete"),
];

const PERMISSIONS: [&str; 4] = ["services.view", "services.create", "services.edit", "services.delete"];

const BODY: &str = r#"{"name": "x", "check_type": "manual", "status": "up", "reason": "x"}"#;

fn ask(client: &Client, method: &str, path: &str, id: &str) -> crate::support::client::Answer {
    let body = if matches!(method, "GET" | "HEAD") { "" } else { BODY };
    client.send(method, &path.replace("{}", id), &[], body.as_bytes())
}

/// Contract 2.1, 2.2: the right permission alone opens a route; all others together do not.
#[test]
fn each_route_opens_for_its_permission_and_for_no_other() {
    let server = Server::shared();
    let organisation = server.organisation("business");
    let owner = server.member(&organisation, "all");
    for permission in PERMISSIONS {
        let holder = server.member(&organisation, permission);
        let others: Vec<&str> = PERMISSIONS.into_iter().filter(|other| *other != permission).collect();
        let without = server.member(&organisation, &format!("{},incidents.delete", others.join(",")));
        for (method, path, _) in ROUTES.into_iter().filter(|route| route.2 == permission) {
            let manual = json!({"name": "x", "check_type": "manual"});
            let id = crate::support::create(&owner, &manual);
            let refused = ask(&without, method, path, &id).expect(403);
            if method != "HEAD" {
                let text = format!("This token is missing the permission '{permission}'.");
                assert_eq!(refused.message(), text, "{method} {path}");
                assert!(refused.json().get("upsell").is_none());
            }
            let opened = ask(&holder, method, path, &id);
            assert!(matches!(opened.status, 200 | 201), "{method} {path}: {opened:?}");
        }
    }
}

/// Contract 2.3: the extra permission is needed exactly when the flag is true; the first missing one is named.
#[rstest]
#[case("services.delete", "delete_orphaned_incidents=true", "incidents.delete")]
#[case("services.delete", "delete_orphaned_maintenances=1", "maintenances.delete")]
#[case(
    "services.delete",
    "delete_orphaned_maintenances=TRUE&delete_orphaned_incidents=1",
    "incidents.delete"
)]
#[case("incidents.delete", "delete_orphaned_incidents=1", "services.delete")]
#[case(
    "services.delete,incidents.delete",
    "delete_orphaned_incidents=1&delete_orphaned_maintenances=1",
    "maintenances.delete"
)]
fn a_delete_flag_needs_its_own_permission(#[case] held: &str, #[case] query: &str, #[case] missing: &str) {
    let server = Server::shared();
    let organisation = server.organisation("business");
    let id = create_unconfigured(&server.member(&organisation, "all"));
    let member = server.member(&organisation, &format!("{held},services.view"));
    let refused = member.delete(&format!("{}?{query}", service(&id))).expect(403);
    assert_eq!(refused.message(), format!("This token is missing the permission '{missing}'."));
    member.get(&service(&id)).expect(200);
}

#[test]
fn a_false_delete_flag_needs_no_further_permission() {
    let server = Server::shared();
    let organisation = server.organisation("business");
    let id = create_unconfigured(&server.member(&organisation, "all"));
    let member = server.member(&organisation, "services.delete");
    let query = "delete_orphaned_incidents=0&delete_orphaned_maintenances=";
    member.delete(&format!("{}?{query}", service(&id))).expect(200);
}

/// Contract 1.13: one and the same 401, whatever is wrong.
#[test]
fn every_wrong_token_gets_the_same_answer() {
    let client = Server::shared_client();
    let token = client.token.clone().unwrap();
    let flipped = if token.ends_with('A') { 'B' } else { 'A' };
    let mistyped = format!("{}{flipped}", &token[..token.len() - 1]);
    let expected = r#"{"message":"Send a valid API token as a Bearer token.","request_id":"REQUEST"}"#;
    for line in [
        String::new(),
        "Authorization: Bearer".to_owned(),
        format!("Authorization: Basic {token}"),
        format!("Authorization: Bearer {mistyped}"),
        format!("Authorization: Bearer x{token}"),
        format!("Authorization: {token}"),
        format!("Cookie: token={token}"),
        "Authorization: Bearer \u{e4}".to_owned(),
    ] {
        let lines: Vec<&str> = if line.is_empty() { Vec::new() } else { vec![&line] };
        let path = format!("/v1/services?token={token}");
        let answer = client.without_token().send("GET", &path, &lines, b"");
        assert_eq!(answer.without_request_id(), (401, expected.to_owned()), "{line}");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    }
}

/// Contract 1.13: the scheme is written in any case.
#[rstest]
fn the_scheme_is_case_insensitive(#[values("Bearer", "bearer", "BEARER")] scheme: &str) {
    let client = Server::shared_client();
    let line = format!("Authorization: {scheme} {}", client.token.clone().unwrap());
    client.without_token().send("GET", "/v1/me", &[&line], b"").expect(200);
}

/// A revoked token stops working.
#[tokio::test]
async fn a_revoked_token_stops_working() {
    let server = Server::shared();
    let member = server.tenant("team");
    let id = member.get("/v1/me").expect(200).json()["token"]["id"].as_str().unwrap().to_owned();
    server.command_json(&["token", "revoke", &id]);
    eventually("the token is refused", || (member.get("/v1/me").status == 401).then_some(())).await;
}

/// Contract 1.8: of two wrongs, the earlier step answers.
#[rstest]
#[case::auth_before_route("nobody", "GET", "/v1/nowhere", "", 401)]
#[case::auth_before_method("nobody", "PATCH", "/v1/probes", "", 401)]
#[case::route_before_permission("viewer", "POST", "/v1/nowhere", "", 404)]
#[case::method_before_permission("viewer", "DELETE", "/v1/probes", "", 405)]
#[case::permission_before_resource("viewer", "PATCH", "/v1/services/AAAAAAAAAAAAAAAAAAAAA", "", 403)]
#[case::permission_before_body("viewer", "POST", "/v1/services", "not json", 403)]
#[case::permission_before_flags(
    "viewer",
    "DELETE",
    "/v1/services/x?delete_orphaned_incidents=maybe",
    "",
    403
)]
#[case::resource_before_body("owner", "PATCH", "/v1/services/AAAAAAAAAAAAAAAAAAAAA", "not json", 404)]
#[case::resource_before_query("owner", "GET", "/v1/services/AAAAAAAAAAAAAAAAAAAAA/metrics?range=x", "", 404)]
#[case::body_before_fields("owner", "POST", "/v1/services", "{\"name\": 1", 400)]
fn the_earlier_check_decides_the_response(
    #[case] who: &str,
    #[case] method: &str,
    #[case] path: &str,
    #[case] body: &str,
    #[case] status: u16,
) {
    let server = Server::shared();
    let client = match who {
        "nobody" => server.client().without_token(),
        "viewer" => server.member(&server.organisation("team"), "services.view"),
        _ => server.client(),
    };
    client.send(method, path, &[], body.as_bytes()).expect(status);
}

/// Contract 1.5: reading takes no id of another form for a path.
#[test]
fn an_unknown_id_is_not_found_for_its_holder() {
    Server::shared_client().get(&service(UNKNOWN_ID)).expect(404);
}
