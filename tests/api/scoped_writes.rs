//! Writes of tokens that are confined to an access scope: what they may do inside, and how what they share with others is left
//! alone.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::scoped::{World, confined, ids, made};

const TAG: &str = "Keep at least one tag of the access scope of this token.";
const SERVICE: &str = "Name at least one service of the access scope of this token.";

/// Each refusal: the request, the field and its text.
#[rstest]
#[case("POST /v1/services {'name': 'N', 'check_type': 'manual'}", "tags", TAG)]
#[case("POST /v1/services {'name': 'N', 'check_type': 'manual', 'tags': null}", "tags", TAG)]
#[case("POST /v1/services {'name': 'N', 'check_type': 'manual', 'tags': []}", "tags", TAG)]
#[case(
    "POST /v1/services {'name': 'N', 'check_type': 'manual', 'tags': ['shop', 'new']}",
    "tags.1",
    "No tag with the ID or name new exists."
)]
#[case("PATCH /v1/services/{inside} {'tags': []}", "tags", TAG)]
#[case("POST /v1/incidents {'title': 'T', 'message': 'M'}", "service_ids", SERVICE)]
#[case("POST /v1/incidents {'title': 'T', 'message': 'M', 'service_ids': []}", "service_ids", SERVICE)]
#[case("PATCH /v1/incidents/{incidents.1} {'service_ids': []}", "service_ids", SERVICE)]
#[case("POST /v1/maintenances {'title': 'T', 'scheduled_start': '2196-01-01'}", "service_ids", SERVICE)]
#[case("PATCH /v1/maintenances/{maintenances.1} {'service_ids': []}", "service_ids", SERVICE)]
#[case("POST /v1/statuspages/{pages.0}/components {'name': 'N'}", "service_id", SERVICE)]
#[case("POST /v1/statuspages/{pages.0}/components {'name': 'N', 'is_group': true}", "service_id", SERVICE)]
#[case(
    "PATCH /v1/statuspages/{pages.1}/components/{components.1} {'service_id': null}",
    "service_id",
    SERVICE
)]
fn a_resource_outside_of_the_scope_cannot_be_created(
    #[case] request: &str,
    #[case] field: &str,
    #[case] text: &str,
) {
    let world = World::new();
    let errors = world.ask(&request.replace('\'', "\"")).errors();
    assert_eq!(errors, [(field.to_owned(), text.to_owned())]);
}

/// A change that would affect others as well is refused.
#[rstest]
#[case("incident", "DELETE /v1/incidents/{incidents.1}")]
#[case("incident", "POST /v1/incidents/{incidents.1}/resolve {'message': 'M'}")]
#[case("incident", "POST /v1/incidents/{incidents.1}/updates {'status': 'resolved', 'message': 'M'}")]
#[case("incident", "PATCH /v1/incidents/{incidents.1} {'title': 'New'}")]
#[case("incident", "PATCH /v1/incidents/{incidents.1} {'is_published': true}")]
#[case("incident", "PUT /v1/incidents/{incidents.1} {'severity': 'critical', 'service_ids': ['{inside}']}")]
#[case("incident", "PATCH /v1/incidents/{incidents.1} {'statuspage_ids': []}")]
#[case("maintenance", "DELETE /v1/maintenances/{maintenances.1}")]
#[case("maintenance", "POST /v1/maintenances/{maintenances.1}/start")]
#[case("maintenance", "POST /v1/maintenances/{maintenances.1}/cancel")]
#[case("maintenance", "POST /v1/maintenances/{maintenances.1}/complete")]
#[case("maintenance", "POST /v1/maintenances/{maintenances.1}/extend {'scheduled_end': null}")]
#[case("maintenance", "PATCH /v1/maintenances/{maintenances.1} {'title': 'New'}")]
#[case("maintenance", "PATCH /v1/maintenances/{maintenances.1} {'scheduled_start': '2195-01-01'}")]
#[case("maintenance", "PATCH /v1/maintenances/{maintenances.1} {'statuspage_ids': []}")]
fn shared_resources_cannot_be_changed(#[case] kind: &str, #[case] request: &str) {
    let world = World::new();
    let path = world.fill(&format!("/v1/{kind}s/{{{kind}s.1}}"));
    let before = world.admin.get(&path).expect(200).data();
    let message = world.ask(&request.replace('\'', "\"")).expect(403).message();
    let expected = format!("This {kind} also concerns services outside of the access scope of this token.");
    assert_eq!(message, expected);
    assert_eq!(world.admin.get(&path).expect(200).data(), before);
}

/// Groups are the organisation's.
#[test]
fn groups_are_not_changed() {
    let world = World::new();
    for method in ["PATCH", "DELETE"] {
        world
            .ask(&format!("{method} /v1/statuspages/{{pages.1}}/components/{{components.0}} {{}}"))
            .expect(403);
    }
}

/// Of what is shared, one's own services can be changed, and what the others have stays.
#[rstest]
#[case("incident")]
#[case("maintenance")]
fn parts_outside_of_the_scope_are_kept(#[case] kind: &str) {
    let world = World::new();
    let body = json!({"name": "Second", "check_type": "manual", "tags": ["shop"]});
    let second = made(&world.confined, "/v1/services", &body);
    let path = world.fill(&format!("/v1/{kind}s/{{{kind}s.1}}"));
    let own = world.confined.patch(&path, &json!({"service_ids": [second]})).expect(200).data();
    assert_eq!(own["services"], json!([{"id": second, "name": "Second"}]));
    let all = world.admin.get(&path).expect(200).data();
    let services: Vec<&Value> = all["services"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert!(services.len() == 2 && services.contains(&&json!(world.outside)), "{services:?}");
    assert_eq!(all["statuspages"].as_array().unwrap().len(), 3);
    if kind == "incident" {
        let said = json!({"status": "monitoring", "message": "Said"});
        let updated = world.confined.post(&format!("{path}/updates"), &said).expect(201).data();
        assert_eq!(
            (&updated["status"], updated["services"].as_array().unwrap().len()),
            (&json!("monitoring"), 1)
        );
    }
}

/// Resources of the scope alone can be changed as by anybody; chosen pages outside of it stay chosen.
#[test]
fn resources_inside_the_scope_can_be_changed() {
    let world = World::new();
    let [incident, maintenance] = [&world.incidents[0], &world.maintenances[0]];
    let body = json!({"title": "New", "statuspage_ids": [world.pages[1]]});
    for path in [format!("/v1/incidents/{incident}"), format!("/v1/maintenances/{maintenance}")] {
        let own = world.confined.patch(&path, &body).expect(200).data();
        assert_eq!(own["statuspages"].as_array().unwrap().len(), 1, "{path}");
        let all = world.admin.get(&path).expect(200).data();
        let pages: Vec<&Value> =
            all["statuspages"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
        assert_eq!(pages, [&json!(world.pages[1]), &json!(world.pages[2])], "{path}");
        world.confined.delete(&path).expect(200);
    }
    let components = format!("/v1/statuspages/{}/components", world.pages[1]);
    let body = json!({"name": "New", "service_id": world.inside, "parent_id": world.components[0]});
    let component = made(&world.confined, &components, &body);
    world.confined.delete(&format!("{components}/{component}")).expect(200);
    world.confined.delete(&format!("/v1/services/{}", world.inside)).expect(200);
    for path in ["/v1/services", "/v1/incidents", "/v1/maintenances", "/v1/statuspages"] {
        assert_eq!(ids(&world.confined, path), Vec::<String>::new(), "{path}");
    }
    assert_eq!(ids(&world.admin, "/v1/services"), std::slice::from_ref(&world.outside));
}

/// Tags of a scope and tags of services apply from the next request on, also to cached reads.
#[test]
fn a_change_of_tags_applies_at_once() {
    let world = World::new();
    let list = || ids(&world.confined, "/v1/services");
    let scope = format!("/v1/access-scopes/{}", world.scope);
    let outside = format!("/v1/services/{}", world.outside);
    for _ in 0..3 {
        assert_eq!(list(), std::slice::from_ref(&world.inside));
        world.confined.get(&outside).expect(404);
        world.admin.patch(&scope, &json!({"tags": ["shop", "bank"]})).expect(200);
        assert_eq!(list(), [world.inside.clone(), world.outside.clone()]);
        world.confined.get(&outside).expect(200);
        world.admin.patch(&scope, &json!({"tags": ["shop"]})).expect(200);
        world.confined.get(&outside).expect(404);
        world.admin.patch(&outside, &json!({"tags": ["bank", "shop"]})).expect(200);
        world.confined.get(&outside).expect(200);
        world.admin.patch(&outside, &json!({"tags": ["bank"]})).expect(200);
    }
}

/// A quota counts the whole organisation: a confined token learns that it is full, not the usage.
#[test]
fn a_quota_error_shows_no_usage() {
    let world = World::new();
    let team = world.server.organisation("team");
    let admin = world.server.member(&team, "all");
    made(&admin, "/v1/tags", &json!({"key": "shop"}));
    made(&admin, "/v1/access-scopes", &json!({"name": "Shop team", "tags": ["shop"]}));
    for _ in 0..50 {
        made(&admin, "/v1/services", &json!({"name": "Many", "check_type": "manual"}));
    }
    let confined = confined(&world.server, &team, "Shop team");
    let body = json!({"name": "N", "check_type": "manual", "tags": ["shop"]});
    let error = confined.post("/v1/services", &body).expect(403).json();
    assert_eq!((&error["limit"], &error["usage"]), (&json!(50), &json!(50)));
}
