//! Checks the OpenAPI document against the route table, the contract, and itself.

use std::collections::{BTreeMap, BTreeSet};

use jsonschema::Draft;
use serde_json::{Value, json};

use super::*;
use crate::http::gate::route::{AccessRule, HttpVerb, RouteSummary};
use crate::http::openapi::{OUTSIDE, build, shape_of};
use crate::http::v1::routes::routes;

/// The routes of contract section 6, and those that were added.
const CONTRACT: &str = "
    GET /v1/probes
    GET /v1/meta/check-types
    GET /v1/meta/channel-types
    GET,POST /v1/notification-channels
    GET,PUT,PATCH,DELETE /v1/notification-channels/{id}
    POST /v1/notification-channels/{id}/test
    GET /v1/notices
    GET /v1/notifications
    GET /v1/notifications/{id}
    POST /v1/notifications/{id}/redeliver
    POST /v1/notifications/redeliver
    GET,POST /v1/escalation-policies
    GET,PUT,PATCH,DELETE /v1/escalation-policies/{id}
    GET /v1/incidents/{id}/escalation
    GET,POST /v1/contacts
    GET,PUT,PATCH,DELETE /v1/contacts/{id}
    POST,DELETE /v1/contacts/{id}/calendar
    GET,POST /v1/oncall/schedules
    GET,PUT,PATCH,DELETE /v1/oncall/schedules/{id}
    GET /v1/oncall/schedules/{id}/shifts
    POST /v1/oncall/schedules/{id}/preview
    POST /v1/oncall/schedules/preview
    GET /v1/oncall/current
    GET,POST /v1/oncall/overrides
    GET,PUT,PATCH,DELETE /v1/oncall/overrides/{id}
    GET,POST /v1/oncall/absences
    GET,PUT,PATCH,DELETE /v1/oncall/absences/{id}
    GET,POST /v1/oncall/cover-requests
    GET /v1/oncall/cover-requests/{id}
    POST /v1/oncall/cover-requests/{id}/accept
    POST /v1/oncall/cover-requests/{id}/decline
    POST /v1/oncall/cover-requests/{id}/cancel
    GET,POST /v1/services
    GET,PUT,PATCH,DELETE /v1/services/{id}
    POST /v1/services/{id}/pause
    POST /v1/services/{id}/resume
    GET,POST /v1/tags
    POST /v1/tags/ensure
    GET,PUT,PATCH,DELETE /v1/tags/{id}
    GET /v1/services/{id}/metrics
    GET /v1/services/{id}/response-times
    GET /v1/services/{id}/uptime
    GET /v1/services/{id}/incidents
    GET /v1/services/{id}/maintenances
    GET /v1/services/{id}/checks
    GET /v1/services/{id}/status-changes
    GET,POST /v1/incidents
    GET,PUT,PATCH,DELETE /v1/incidents/{id}
    POST /v1/incidents/{id}/updates
    POST /v1/incidents/{id}/resolve
    GET,POST /v1/maintenances
    GET,PUT,PATCH,DELETE /v1/maintenances/{id}
    POST /v1/maintenances/{id}/start
    POST /v1/maintenances/{id}/complete
    POST /v1/maintenances/{id}/extend
    POST /v1/maintenances/{id}/cancel
    GET,POST /v1/statuspages
    GET,PUT,PATCH,DELETE /v1/statuspages/{id}
    POST /v1/statuspages/{id}/publish
    POST /v1/statuspages/{id}/unpublish
    GET,POST /v1/statuspages/{id}/components
    GET,PUT,PATCH,DELETE /v1/statuspages/{id}/components/{component}
    GET,POST /v1/statuspages/{id}/custom-domains
    GET,DELETE /v1/statuspages/{id}/custom-domains/{domain}
    POST /v1/statuspages/{id}/custom-domains/{domain}/verify
    POST,DELETE /v1/statuspages/{id}/assets/logo
    POST,DELETE /v1/statuspages/{id}/assets/logo-dark
    POST,DELETE /v1/statuspages/{id}/assets/favicon
    GET /v1/me
    POST,DELETE /v1/services/{id}/status-override
    POST /v1/services/{id}/heartbeat/rotate
    GET,POST /v1/access-scopes
    GET,PUT,PATCH,DELETE /v1/access-scopes/{id}
    GET,POST /ping/{secret}
    GET,POST /ping/{secret}/fail";

fn served_document() -> Value {
    serde_json::to_value(document(&routes().unwrap(), &Config::default())).unwrap()
}

/// The document of every described operation, as if all routes were served.
fn whole_document() -> Value {
    let access = AccessRule::any_token();
    let all: Vec<(HttpVerb, &'static str)> = contract().into_iter().collect();
    let lines = all.iter().map(|(verb, path)| RouteSummary { verbs: one(*verb), path, access });
    let mut lines: Vec<RouteSummary> = lines.collect();
    lines.retain(|line| !line.path.starts_with("/ping"));
    serde_json::to_value(build(chapters(&Config::default()), &lines, &OUTSIDE, &Config::default())).unwrap()
}

/// The verbs of the route that answers this verb.
fn one(verb: HttpVerb) -> &'static [HttpVerb] {
    match verb {
        HttpVerb::Put | HttpVerb::Patch => &[HttpVerb::Put, HttpVerb::Patch],
        HttpVerb::Get => &[HttpVerb::Get, HttpVerb::Head],
        HttpVerb::Head => &[],
        HttpVerb::Post => &[HttpVerb::Post],
        HttpVerb::Delete => &[HttpVerb::Delete],
    }
}

fn verb(word: &str) -> HttpVerb {
    let verbs = [HttpVerb::Get, HttpVerb::Post, HttpVerb::Put, HttpVerb::Patch, HttpVerb::Delete];
    verbs.into_iter().find(|verb| verb.as_str() == word).unwrap()
}

fn contract() -> Vec<(HttpVerb, &'static str)> {
    let lines = CONTRACT.lines().map(str::trim).filter(|line| !line.is_empty());
    let rows = lines.map(|line| line.split_once(' ').unwrap());
    rows.flat_map(|(verbs, path)| verbs.split(',').map(move |word| (verb(word), path))).collect()
}

/// The operations of a document by method and path, such as `POST /v1/tags`.
fn operations(document: &Value) -> BTreeMap<String, &Value> {
    let paths = document["paths"].as_object().unwrap().iter();
    let all = paths.flat_map(|(path, item)| {
        let methods = item.as_object().unwrap().iter();
        methods.map(move |(method, operation)| (format!("{} {path}", method.to_uppercase()), operation))
    });
    all.collect()
}

#[test]
fn every_route_is_documented() {
    let (routes, document) = (routes().unwrap(), served_document());
    for line in routes.lines() {
        for verb in line.verbs.iter().filter(|verb| **verb != HttpVerb::Head) {
            let documented = operations(&document);
            let same = |key: &&String| {
                let (method, path) = key.split_once(' ').unwrap();
                method == verb.as_str() && shape_of(path).eq(shape_of(line.path))
            };
            assert!(documented.keys().any(|key| same(&key)), "{} {}", verb.as_str(), line.path);
        }
    }
}

#[test]
fn the_document_knows_exactly_the_operations_of_the_contract() {
    let document = whole_document();
    let documented: BTreeSet<String> = operations(&document).into_keys().collect();
    let is_ours = |key: &str| OUTSIDE.contains(&key.trim_start_matches("GET ")) && !key.contains("/ping/");
    let is_outside = |key: &&str| is_ours(key);
    let documented: BTreeSet<&str> =
        documented.iter().map(String::as_str).filter(|key| !is_outside(key)).collect();
    let wanted: Vec<String> =
        contract().iter().map(|(verb, path)| format!("{} {path}", verb.as_str())).collect();
    assert_eq!(documented, wanted.iter().map(String::as_str).collect());
}

#[test]
fn every_documented_operation_is_served() {
    let (whole, served) = (whole_document(), served_document());
    let served: BTreeSet<String> = operations(&served).into_keys().collect();
    let missing: Vec<String> = operations(&whole).into_keys().filter(|key| !served.contains(key)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn an_operation_that_is_not_served_is_not_in_the_document() {
    let nothing =
        serde_json::to_value(build(chapters(&Config::default()), &[], &["/healthz"], &Config::default()))
            .unwrap();
    assert_eq!(operations(&nothing).keys().collect::<Vec<_>>(), ["GET /healthz"]);
    assert_eq!(nothing["tags"].as_array().unwrap().len(), 1);
}

#[test]
fn metrics_on_a_separate_address_are_not_in_the_document() {
    let config = Config { metrics_listen: Some("127.0.0.1:9".parse().unwrap()), ..Config::default() };
    let document = serde_json::to_value(document(&routes().unwrap(), &config)).unwrap();
    assert!(document["paths"].get("/metrics").is_none());
    assert!(served_document()["paths"].get("/metrics").is_some());
}

#[test]
fn operation_ids_and_schema_names_are_unique() {
    let document = whole_document();
    let operations = operations(&document);
    let ids: BTreeSet<_> =
        operations.values().map(|operation| operation["operationId"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), operations.len());
    let names = chapters(&Config::default()).into_iter().flat_map(|chapter| chapter.schemas);
    let mut seen = BTreeSet::new();
    for (name, _) in names {
        assert!(seen.insert(name), "{name} is there twice");
    }
}

#[test]
fn every_reference_has_a_target() {
    let document = whole_document();
    let mut references = Vec::new();
    collect_references(&document, &mut references);
    assert!(!references.is_empty());
    for reference in references {
        assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
    }
}

fn collect_references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|value| collect_references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| collect_references(value, found)),
        _ => {}
    }
}

/// Examples of responses and bodies match the schemas next to which they are shown.
#[test]
fn every_example_fits_its_schema() {
    let document = whole_document();
    let mut examples = 0;
    let operations = operations(&document);
    let shared = document["components"]["responses"].as_object().unwrap().iter();
    let shared = shared.map(|(name, response)| (name.clone(), response));
    let of_operations = operations.iter().flat_map(|(name, operation)| {
        let answers = operation["responses"].as_object().unwrap().iter();
        let answers = answers.map(move |(status, response)| (format!("{name} {status}"), response));
        answers.chain([(format!("{name} body"), &operation["requestBody"])])
    });
    for (name, holder) in shared.chain(of_operations) {
        let content = &holder["content"]["application/json"];
        let Some(example) = content.get("example") else { continue };
        let schema = json!({"allOf": [content["schema"]], "components": document["components"]});
        let options = jsonschema::options().with_draft(Draft::Draft202012).offline();
        let validator = options.should_validate_formats(true).build(&schema).unwrap();
        let problems: Vec<_> = validator.iter_errors(example).map(|problem| problem.to_string()).collect();
        assert!(problems.is_empty(), "{name}: {problems:?}");
        examples += 1;
    }
    assert!(examples > 100, "{examples}");
}

#[test]
fn every_schema_is_a_schema() {
    let document = whole_document();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        assert!(jsonschema::draft202012::meta::is_valid(schema), "{name}");
    }
    assert!(!jsonschema::draft202012::meta::is_valid(&json!({"type": "text"})));
}

/// Contract 1.9, 1.12, 5.1: the document shows the properties of an operation below `/v1` that follow from its route.
#[test]
fn properties_derived_from_the_route_are_in_the_document() {
    let document = served_document();
    for (name, operation) in operations(&document).into_iter().filter(|(name, _)| name.contains("/v1/")) {
        for status in ["401", "429", "500", "503"] {
            assert!(operation["responses"][status].is_object(), "{name} {status}");
        }
        assert_eq!(operation["responses"]["403"].is_object(), name != "GET /v1/me", "{name}");
        assert!(operation["security"][0]["token"].is_array(), "{name}");
        let names = operation["parameters"].as_array().into_iter().flatten();
        let names: Vec<_> = names.map(|parameter| parameter["name"].as_str().unwrap()).collect();
        let takes_key = name.starts_with("POST") && !name.contains("/assets/") && name != "POST /v1/trials";
        assert_eq!(names.contains(&"Idempotency-Key"), takes_key, "{name}");
        assert_eq!(names.contains(&"id"), name.contains("{id}"), "{name}");
    }
    let delete = &document["paths"]["/v1/services/{id}"]["delete"];
    assert_eq!(delete["security"][0]["token"], json!(["services.delete"]));
    let words = delete["description"].as_str().unwrap();
    assert!(words.contains("`delete_orphaned_incidents=true` also needs `incidents.delete`."), "{words}");
}
