//! Describes `/v1/incident-policies`.

use serde_json::json;

use crate::http::gate::route::HttpVerb;
use crate::http::kit::page::DEFAULT_PER_PAGE;
use crate::http::openapi::operation::{ApiChapter, ApiOperation, example};
use crate::http::openapi::shape::{ApiSchema, boolean, object, view};
use crate::http::v1::incident_policies::view::{
    IncidentPolicyView, group_by, group_by_tag_keys, group_window, name, open_after, position, resolve_after,
    severity, tag_id,
};

const EXAMPLE: &str = include_str!("example.json");
const ITEM: &str = "/v1/incident-policies/{id}";

pub(in crate::http) fn chapter() -> ApiChapter {
    let schemas = vec![
        ("IncidentPolicy", view::<IncidentPolicyView<'_>>()),
        ("CreateIncidentPolicy", write().needs(&["name"])),
        ("UpdateIncidentPolicy", write()),
    ];
    let about =
        "Which outages open an incident automatically, when, with which severity, and when it is resolved.";
    ApiChapter { name: "Incident policies", about, schemas, operations: operations() }
}

fn operations() -> Vec<ApiOperation> {
    let policy = example(EXAMPLE);
    vec![
        ApiOperation::new(
            HttpVerb::Get,
            "/v1/incident-policies",
            "list_incident_policies",
            "List incident policies",
        )
        .paged(DEFAULT_PER_PAGE)
        .lists("Policies in order; the first one that matches decides.", "IncidentPolicy", &policy),
        ApiOperation::new(
            HttpVerb::Post,
            "/v1/incident-policies",
            "create_incident_policy",
            "Create an incident policy",
        )
        .says("Without `position` it becomes the first one.")
        .takes(
            "CreateIncidentPolicy",
            Some(json!({"name": "Shop", "down_severity": "critical", "publish": true})),
        )
        .creates("The new policy.", "IncidentPolicy", &policy)
        .refuses(&[402]),
        ApiOperation::new(HttpVerb::Get, ITEM, "show_incident_policy", "Show an incident policy").shows(
            "The policy.",
            "IncidentPolicy",
            &policy,
        ),
        ApiOperation::new(HttpVerb::Patch, ITEM, "update_incident_policy", "Change an incident policy")
            .says("Incidents that are open follow the changed policy from then on.")
            .takes("UpdateIncidentPolicy", Some(json!({"open_after_seconds": 120})))
            .shows("The changed policy.", "IncidentPolicy", &policy)
            .refuses(&[422]),
        ApiOperation::new(HttpVerb::Delete, ITEM, "delete_incident_policy", "Delete an incident policy")
            .says("Incidents that it opened stay open until they are resolved by hand.")
            .deletes("Deleted."),
    ]
}

/// Members of both create and update requests.
pub(in crate::http::v1) fn write() -> ApiSchema {
    object()
        .may_have("name", name())
        .may_have("position", position())
        .may_have("tag_id", tag_id())
        .may_have("open_after_seconds", open_after())
        .may_have("resolve_after_seconds", resolve_after())
        .may_have("down_severity", severity())
        .may_have("degraded_severity", severity())
        .may_have("unstable_severity", severity())
        .may_have("publish", boolean())
        .may_have("group_by", group_by())
        .may_have("group_by_tag_keys", group_by_tag_keys())
        .may_have("group_window_seconds", group_window())
}
