//! Tokens that are confined to an access scope: route by route, what they see and may. What is outside of the scope answers
//! byte for byte like what nobody has.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::UNKNOWN_ID;
use crate::support::scoped::{World, ids};

/// Resources outside of the scope are requested by the blanks with 2, by `{outside}` and so on; the same request with an unknown
/// id gets the same response.
#[test]
fn resources_outside_of_the_scope_answer_like_unknown_ones() {
    let world = World::new();
    let of_service = "GET GET/metrics GET/response-times GET/uptime GET/checks GET/incidents GET/maintenances \
        PATCH PUT DELETE POST/pause POST/resume POST/status-override DELETE/status-override POST/heartbeat/rotate \
        POST/simulate POST/check-now";
    let of_incident = "GET PATCH PUT DELETE POST/updates POST/resolve";
    let of_maintenance = "GET PATCH PUT DELETE POST/start POST/complete POST/extend POST/cancel";
    let said = r#"{"status": "down", "reason": "x", "message": "x", "scheduled_end": null}"#;
    for (path, foreign, verbs) in [
        ("/v1/services", &world.outside, of_service),
        ("/v1/incidents", &world.incidents[2], of_incident),
        ("/v1/maintenances", &world.maintenances[2], of_maintenance),
        ("/v1/statuspages", &world.pages[2], "GET GET/components POST/components"),
        ("/v1/tags", &world.tags[1], "GET"),
    ] {
        for verb in verbs.split_whitespace() {
            let (method, rest) = verb
                .split_once('/')
                .map_or((verb, String::new()), |(method, rest)| (method, format!("/{rest}")));
            let body = if matches!(method, "GET" | "DELETE") { "" } else { said };
            let ask = |id: &str| world.ask(&format!("{method} {path}/{id}{rest} {body}"));
            let (told, expected) = (ask(foreign), ask(UNKNOWN_ID));
            assert_eq!(expected.status, 404, "{method} {path}{rest}");
            assert_eq!(told.without_request_id(), expected.without_request_id(), "{method} {path}{rest}");
        }
    }
    let foreign = &world.components[2];
    for method in ["GET", "PATCH", "PUT", "DELETE"] {
        let ask = |id: &str| world.ask(&format!("{method} /v1/statuspages/{{pages.1}}/components/{id} {{}}"));
        let (told, expected) = (ask(foreign), ask(UNKNOWN_ID));
        assert_eq!((expected.status, told.without_request_id()), (404, expected.without_request_id()));
    }
}

/// Ids and names in bodies and filters: those outside are unknown.
#[rstest]
#[case("POST /v1/incidents {'title': 'T', 'message': 'M', 'service_ids': ['{inside}', 'ID']}", "{outside}")]
#[case(
    "POST /v1/incidents {'title': 'T', 'message': 'M', 'service_ids': ['{inside}'], 'statuspage_ids': ['ID']}",
    "{pages.2}"
)]
#[case("PATCH /v1/incidents/{incidents.0} {'service_ids': ['ID']}", "{outside}")]
#[case(
    "POST /v1/maintenances {'title': 'T', 'scheduled_start': '2196-01-01', 'service_ids': ['ID']}",
    "{outside}"
)]
#[case("PATCH /v1/maintenances/{maintenances.0} {'statuspage_ids': ['ID']}", "{pages.2}")]
#[case("POST /v1/statuspages/{pages.1}/components {'name': 'N', 'service_id': 'ID'}", "{outside}")]
#[case(
    "POST /v1/statuspages/{pages.0}/components {'name': 'N', 'service_id': '{inside}', 'parent_id': 'ID'}",
    "{components.0}"
)]
#[case("PATCH /v1/statuspages/{pages.1}/components/{components.1} {'parent_id': 'ID'}", "{components.2}")]
#[case("POST /v1/services {'name': 'N', 'check_type': 'manual', 'tags': ['shop', 'ID']}", "{tags.1}")]
#[case("PATCH /v1/services/{inside} {'tags': ['shop', 'ID']}", "bank")]
#[case("GET /v1/incidents?service_ids=ID", "{outside}")]
#[case("GET /v1/maintenances?service_ids=ID", "{outside}")]
#[case("GET /v1/services?tag=ID", "bank")]
#[case("GET /v1/services?tag=ID&status=unknown", "bank")]
#[case("GET /v1/tags?label=ID", "bank")]
fn ids_outside_of_the_scope_are_unknown(#[case] request: &str, #[case] foreign: &str) {
    let world = World::new();
    let request = request.replace('\'', "\"");
    let ask = |id: &str| {
        let (status, body) = world.ask(&request.replace("ID", id)).without_request_id();
        (status, body.replace(id, "ID"))
    };
    let unknown = if foreign == "bank" { "none" } else { UNKNOWN_ID };
    let told = ask(&world.fill(foreign));
    assert_eq!(told, ask(unknown));
    assert_eq!(told.0, if request.starts_with("GET") { 200 } else { 422 }, "{}", told.1);
}

/// Organisation-wide resources are forbidden, whatever the token's permissions.
#[test]
fn organisation_wide_resources_are_forbidden() {
    let world = World::new();
    for request in [
        "GET /v1/engine",
        "GET /v1/access-scopes",
        "POST /v1/access-scopes {}",
        "GET /v1/access-scopes/{scope}",
        "PATCH /v1/access-scopes/{scope} {}",
        "DELETE /v1/access-scopes/{scope}",
        "POST /v1/tags {}",
        "POST /v1/tags/ensure {}",
        "PATCH /v1/tags/{tags.0} {}",
        "DELETE /v1/tags/{tags.0}",
        "POST /v1/statuspages {}",
        "PATCH /v1/statuspages/{pages.0} {}",
        "DELETE /v1/statuspages/{pages.0}",
        "POST /v1/statuspages/{pages.0}/publish",
        "POST /v1/statuspages/{pages.0}/unpublish",
        "GET /v1/statuspages/{pages.0}/custom-domains",
        "POST /v1/statuspages/{pages.0}/custom-domains {}",
        "GET /v1/statuspages/{pages.0}/subscribers",
        "GET /v1/statuspages/{pages.0}/subscribers/export",
        "POST /v1/statuspages/{pages.0}/subscribers {}",
        "DELETE /v1/statuspages/{pages.0}/assets/logo",
    ] {
        let told = world.ask(request).expect(403).message();
        let expected =
            "This token is confined to an access scope; this needs one that sees the whole organisation.";
        assert_eq!(told, expected, "{request}");
    }
    let me = world.confined.get("/v1/me").expect(200).json();
    assert_eq!(me["access_scope"], json!({"id": world.scope, "name": "Shop team"}));
    assert_eq!(me["limits"]["services"], json!({"limit": 250, "usage": null}));
}

/// Lists and counts hold what is inside; of what is shared, one's own part.
#[test]
fn lists_and_counts_contain_only_the_scope() {
    let world = World::new();
    let list = |path: &str| ids(&world.confined, path);
    for query in ["", "?q=service", "?status=unknown", "?check_type=heartbeat", "?tag=shop&q=service"] {
        let found = list(&format!("/v1/services{query}"));
        assert_eq!(found, std::slice::from_ref(&world.inside), "{query}");
    }
    assert_eq!(list("/v1/tags"), [world.tags[0].clone()]);
    assert_eq!(list("/v1/statuspages"), world.pages[..2]);
    for (path, known) in [("/v1/incidents", &world.incidents), ("/v1/maintenances", &world.maintenances)] {
        let mut found = list(path);
        found.sort_by_key(|id| known.iter().position(|other| other == id));
        assert_eq!(found, known[..2], "{path}");
        let shared = world.confined.get(&format!("{path}/{}", known[1])).expect(200).data();
        assert_eq!(shared["services"], json!([{"id": world.inside, "name": "shop service"}]), "{path}");
        assert_eq!(shared["statuspages"].as_array().unwrap().len(), 2, "{path}");
    }
    let page = world.confined.get(&format!("/v1/statuspages/{}", world.pages[1])).expect(200).data();
    let shown: Vec<&Value> = page["components"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!((&page["components_count"], shown.len()), (&json!(3), 3));
    assert!(shown.contains(&&json!(world.components[0])) && shown.contains(&&json!(world.components[1])));
    let rows = world.confined.get("/v1/statuspages").expect(200).data();
    assert_eq!((&rows[0]["components_count"], &rows[1]["components_count"]), (&json!(1), &json!(3)));
}
