//! Describes `/v1/escalation-policies`, and the progress of an incident in its policy.

use serde_json::json;

use crate::http::gate::route::HttpVerb;
use crate::http::kit::page::DEFAULT_PER_PAGE;
use crate::http::openapi::operation::{ApiChapter, ApiOperation, example};
use crate::http::openapi::shape::{ApiSchema, object, view};
use crate::http::v1::escalation_policies::progress::EscalationView;
use crate::http::v1::escalation_policies::view::{
    EscalationPolicyView, applies_to, incident_policy_ids, min_severity, name, position, repeat_after,
    service_ids, steps, tag_ids,
};

const EXAMPLE: &str = include_str!("example.json");
const LIST: &str = "/v1/escalation-policies";
const ITEM: &str = "/v1/escalation-policies/{id}";
const OF_INCIDENT: &str = "/v1/incidents/{id}/escalation";

pub(in crate::http) fn chapter() -> ApiChapter {
    let schemas = vec![
        ("EscalationPolicy", view::<EscalationPolicyView<'_>>()),
        ("Escalation", view::<EscalationView<'_>>().nullable()),
        ("CreateEscalationPolicy", write().needs(&["name", "steps"])),
        ("UpdateEscalationPolicy", write()),
    ];
    let about = "Who is notified of an incident, step by step, until it is acknowledged or resolved.";
    ApiChapter { name: "Escalation policies", about, schemas, operations: operations() }
}

fn operations() -> Vec<ApiOperation> {
    let policy = example(EXAMPLE);
    let schema = "EscalationPolicy";
    let step = json!({"after_seconds": 300, "channel_ids": ["8rumoia4tHtM30RLo1EcP"]});
    let escalation = json!({"policy_id": "q3aGkLgk3cQ6nXnPAhDXC", "policy_name": "Shop", "round": 1,
        "steps_taken": 1, "next_at": "2026-11-20T10:05:00.000Z"});
    vec![
        ApiOperation::new(HttpVerb::Get, LIST, "list_escalation_policies", "List escalation policies")
            .paged(DEFAULT_PER_PAGE)
            .lists("Policies in order; the first one that matches decides.", schema, &policy),
        ApiOperation::new(HttpVerb::Post, LIST, "create_escalation_policy", "Create an escalation policy")
            .says("Without `position` it becomes the first one. Open incidents follow it from their next change on.")
            .takes("CreateEscalationPolicy", Some(json!({"name": "Shop", "steps": [step]})))
            .creates("The new policy.", schema, &policy)
            .refuses(&[402]),
        ApiOperation::new(HttpVerb::Get, ITEM, "show_escalation_policy", "Show an escalation policy").shows(
            "The policy.",
            schema,
            &policy,
        ),
        ApiOperation::new(HttpVerb::Patch, ITEM, "update_escalation_policy", "Change an escalation policy")
            .says("Incidents that follow it continue with the changed steps.")
            .takes("UpdateEscalationPolicy", Some(json!({"repeat_after_seconds": 900})))
            .shows("The changed policy.", schema, &policy)
            .refuses(&[422]),
        ApiOperation::new(HttpVerb::Delete, ITEM, "delete_escalation_policy", "Delete an escalation policy")
            .says("Incidents that follow it notify no further steps.")
            .deletes("Deleted."),
        ApiOperation::new(HttpVerb::Get, OF_INCIDENT, "show_incident_escalation", "Show the escalation of an incident")
            .says("Null when it follows no policy: none matches, or it is acknowledged or resolved.")
            .shows("Its policy, round and next step.", "Escalation", &escalation),
    ]
}

/// Members of both create and update requests.
fn write() -> ApiSchema {
    object()
        .may_have("name", name())
        .may_have("position", position())
        .may_have("min_severity", min_severity())
        .may_have("applies_to", applies_to())
        .may_have("incident_policy_ids", incident_policy_ids())
        .may_have("tag_ids", tag_ids())
        .may_have("service_ids", service_ids())
        .may_have("steps", steps())
        .may_have("repeat_after_seconds", repeat_after())
}
