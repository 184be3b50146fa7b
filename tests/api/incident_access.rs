//! Access to incidents (contract 1.5, 1.8, 2.2): foreign ids, permissions.

use rstest::rstest;
use serde_json::json;

use crate::incidents::{id_of, incident, open_incident};
use crate::support::UNKNOWN_ID;
use crate::support::server::Server;

/// Contract 1.5, 1.8: unknown, malformed and foreign ids are one and the same 404, before any other error.
#[test]
fn a_foreign_incident_answers_like_an_unknown_one() {
    let server = Server::shared();
    let (mine, theirs) = (server.tenant("business"), server.tenant("business"));
    let foreign = open_incident(&theirs, &json!({}));
    let id = id_of(&foreign);
    for (method, rest, body) in [
        ("GET", "", ""),
        ("PUT", "", "{"),
        ("PATCH", "", r#"{"title": ""}"#),
        ("DELETE", "", ""),
        ("POST", "/updates", r#"{"status": "resolved"}"#),
        ("POST", "/resolve", ""),
    ] {
        let ask = |id: &str| mine.send(method, &format!("{}{rest}", incident(id)), &[], body.as_bytes());
        let unknown = ask(UNKNOWN_ID).expect(404).without_request_id();
        assert_eq!(ask(&id).without_request_id(), unknown, "{method} {rest}");
        assert_eq!(ask("short").without_request_id(), unknown, "{method} {rest}");
    }
    assert_eq!(theirs.get(&incident(&id)).expect(200).data(), foreign);
    assert_eq!(mine.get("/v1/incidents").expect(200).json()["meta"]["total"], 0);
}

/// Contract 2.2: which permission each operation needs, and no other.
#[rstest]
#[case("GET", "", "incidents.view", 200)]
#[case("POST", "", "incidents.create", 422)]
#[case("GET", "/{id}", "incidents.view", 200)]
#[case("PUT", "/{id}", "incidents.edit", 200)]
#[case("PATCH", "/{id}", "incidents.edit", 200)]
#[case("DELETE", "/{id}", "incidents.delete", 200)]
#[case("POST", "/{id}/updates", "incidents.edit", 422)]
#[case("POST", "/{id}/resolve", "incidents.resolve", 422)]
fn each_operation_needs_its_permission(
    #[case] method: &str,
    #[case] rest: &str,
    #[case] permission: &str,
    #[case] status: u16,
) {
    let server = Server::shared();
    let organisation = server.organisation("business");
    let made = open_incident(&server.member(&organisation, "all"), &json!({}));
    let path = format!("/v1/incidents{}", rest.replace("{id}", &id_of(&made)));
    let all = "services.view services.edit incidents.view incidents.create incidents.edit incidents.resolve incidents.delete";
    let others: Vec<&str> = all.split(' ').filter(|other| *other != permission).collect();
    let refused = server.member(&organisation, &others.join(",")).send(method, &path, &[], b"{}").expect(403);
    assert_eq!(refused.message(), format!("This token is missing the permission '{permission}'."));
    server.member(&organisation, permission).send(method, &path, &[], b"{}").expect(status);
}
