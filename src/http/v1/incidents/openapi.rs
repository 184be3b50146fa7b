//! Describes `/v1/incidents` and the incidents of a service (contract 4.9, 4.10).

use serde_json::{Value, json};

use crate::http::gate::route::HttpVerb;
use crate::http::kit::linked_ids::FILTER_IDS_MAX;
use crate::http::kit::page::DEFAULT_PER_PAGE;
use crate::http::openapi::operation::{ApiChapter, ApiOperation, example};
use crate::http::openapi::shape::{
    ApiSchema, boolean, enum_of, id, instant, list_of, object, text_in, translatable, view,
};
use crate::http::v1::announcement::{AttachmentView, AuthorView, EntryView};
use crate::http::v1::incidents::draft::{KINDS, OPEN_STATUSES};
use crate::http::v1::incidents::view::{
    IncidentRowView, IncidentView, ServiceIncidentView, kind, severity, status,
};
use crate::http::v1::named::NamedView;
use crate::model::announcement::{SERVICES_MAX, STATUSPAGES_MAX};
use crate::model::incident::{IncidentKind, IncidentStatus, MESSAGE_LENGTH, NOTE_LENGTH, TITLE_LENGTH};

const EXAMPLE: &str = include_str!("example.json");
const ITEM: &str = "/v1/incidents/{id}";

pub(in crate::http) fn chapter() -> ApiChapter {
    let schemas = vec![
        ("Incident", view::<IncidentView<'_>>()),
        ("IncidentRow", view::<IncidentRowView<'_>>()),
        ("ServiceIncident", view::<ServiceIncidentView<'_>>()),
        ("IncidentUpdate", view::<EntryView<'_>>().narrowed("status", status())),
        ("CreateIncident", create()),
        ("UpdateIncident", change()),
        ("CreateIncidentUpdate", entry()),
        ("ResolveIncident", resolve()),
        ("AcknowledgeIncident", acknowledge()),
        ("Named", view::<NamedView<'_>>()),
        ("Author", view::<AuthorView<'_>>()),
        ("Attachment", view::<AttachmentView>()),
    ];
    let mut operations = collection();
    operations.extend(timeline());
    let about = "Outages and other problems, their timelines, and who is notified.";
    ApiChapter { name: "Incidents", about, schemas, operations }
}

fn collection() -> Vec<ApiOperation> {
    let incident = example(EXAMPLE);
    let row = row_example();
    let sent = json!({"title": "Checkout is slow", "message": "We are looking into slow payments.", "severity": "major",
                      "is_published": true, "service_ids": ["rNSJxMbDTX2uHc08AiCqo"]});
    let mut of_service = row.clone();
    of_service["service_impact"] = json!({"impact": "partial_outage", "is_recovered": false,
                                          "added_at": "2026-11-20T15:04:11.000Z", "recovered_at": null});
    let operations = vec![
        ApiOperation::new(HttpVerb::Get, "/v1/incidents", "list_incidents", "List incidents")
            .incident_filters()
            .lists("Incidents, the newest start first; internal ones too.", "IncidentRow", &row),
        ApiOperation::new(HttpVerb::Post, "/v1/incidents", "create_incident", "Create an incident")
            .takes("CreateIncident", Some(sent))
            .creates("The new incident.", "Incident", &incident),
        ApiOperation::new(HttpVerb::Get, ITEM, "show_incident", "Show an incident with its timeline").shows(
            "The incident.",
            "Incident",
            &incident,
        ),
        ApiOperation::new(HttpVerb::Patch, ITEM, "update_incident", "Change an incident")
            .says("Only a timeline entry reopens a resolved incident: 409 here.")
            .takes("UpdateIncident", Some(json!({"is_published": true})))
            .shows("The changed incident.", "Incident", &incident)
            .refuses(&[409, 422]),
        ApiOperation::new(HttpVerb::Delete, ITEM, "delete_incident", "Delete an incident")
            .deletes("Deleted."),
        ApiOperation::new(
            HttpVerb::Get,
            "/v1/services/{id}/incidents",
            "list_service_incidents",
            "List incidents of a service",
        )
        .incident_filters()
        .lists("Incidents of the service, with their impact on it.", "ServiceIncident", &of_service),
    ];
    // The response to a deletion has no translated text.
    let translated = |operation: ApiOperation| {
        if operation.verb == HttpVerb::Delete { operation } else { operation.translated() }
    };
    operations.into_iter().map(translated).collect()
}

fn timeline() -> Vec<ApiOperation> {
    let incident = example(EXAMPLE);
    let entry = json!({"status": "monitoring", "message": "A fix is live.", "notify_subscribers": true});
    vec![
        ApiOperation::new(
            HttpVerb::Post,
            "/v1/incidents/{id}/updates",
            "post_incident_update",
            "Add a timeline entry",
        )
        .says("With the status `resolved` the token also needs `incidents.resolve`.")
        .takes("CreateIncidentUpdate", Some(entry))
        .creates("The whole incident.", "Incident", &incident)
        .translated(),
        ApiOperation::new(HttpVerb::Post, "/v1/incidents/{id}/resolve", "resolve_incident", "Resolve an incident")
            .takes("ResolveIncident", Some(json!({"message": "Payments are fast again."})))
            .shows("The whole incident.", "Incident", &incident)
            .refuses(&[409])
            .translated(),
        ApiOperation::new(
            HttpVerb::Post,
            "/v1/incidents/{id}/acknowledge",
            "acknowledge_incident",
            "Acknowledge an incident",
        )
        .says("The first acknowledgement counts until the incident is reopened; only members of the organisation see it.")
        .may_take("AcknowledgeIncident", Some(json!({"note": "I look at the payment gateway."})))
        .shows("The whole incident.", "Incident", &incident)
        .refuses(&[409])
        .translated(),
    ]
}

/// Returns the example as an incident in a list.
fn row_example() -> Value {
    let mut row = example(EXAMPLE);
    if let Some(members) = row.as_object_mut() {
        members.retain(|key, _| !["updates", "internal_updates", "statuspages"].contains(&key.as_str()));
    }
    row
}

/// Members of both create and update requests.
fn write() -> ApiSchema {
    object()
        .may_have("title", translatable(&TITLE_LENGTH))
        .may_have("severity", severity().says("Always `minor` for a notice."))
        .may_have("is_published", boolean())
        .may_have("sla_counts_as_downtime", boolean())
        .may_have("service_ids", service_ids())
        .may_have("statuspage_ids", statuspage_ids())
}

fn create() -> ApiSchema {
    let only = "Only read with the status `resolved`.";
    write()
        .may_have(
            "message",
            translatable(&MESSAGE_LENGTH).says("The first timeline entry: a text, or one text per language."),
        )
        .may_have("status", status().default_value(IncidentStatus::Investigating.as_str()))
        .may_have("kind", enum_of(&KINDS).default_value(IncidentKind::Standard.as_str()))
        .may_have("started_at", instant().nullable())
        .may_have("resolved_at", instant().nullable().says(only))
        .may_have("notify_subscribers", boolean().default_value(true))
        .needs(&["title", "message"])
}

fn change() -> ApiSchema {
    let words =
        "Only `investigating`, `identified` or `monitoring`; use the resolve operation to resolve it.";
    write()
        .may_have("status", enum_of(&OPEN_STATUSES).says(words))
        .may_have("kind", kind().says("Cannot be changed after creation."))
        .may_have("started_at", instant().nullable())
        .may_have("resolved_at", instant())
}

fn entry() -> ApiSchema {
    object()
        .has("status", status())
        .has("message", translatable(&MESSAGE_LENGTH))
        .may_have("notify_subscribers", boolean().default_value(true))
}

fn resolve() -> ApiSchema {
    object()
        .has("message", translatable(&MESSAGE_LENGTH))
        .may_have("notify_subscribers", boolean().default_value(true))
        .may_have("resolved_at", instant().nullable())
}

fn acknowledge() -> ApiSchema {
    object().may_have("note", text_in(&NOTE_LENGTH).nullable())
}

pub(in crate::http::v1) fn service_ids() -> ApiSchema {
    list_of(id()).items(0, SERVICES_MAX).says("Services of the organisation; replaces the list.")
}

pub(in crate::http::v1) fn statuspage_ids() -> ApiSchema {
    list_of(id().nullable())
        .items(0, STATUSPAGES_MAX)
        .says("Pages that show it; empty: every page with an affected component.")
}

impl ApiOperation {
    /// Adds the filters of incident lists (contract 4.10.5).
    fn incident_filters(self) -> Self {
        let (from, to) = (
            "Only incidents that were open at or after this time.",
            "Only incidents that started before this time.",
        );
        self.service_filter()
            .asks(
                "resolved",
                boolean(),
                "`true`: resolved ones, `false`: open ones; `1` and `0` are accepted, too.",
            )
            .asks(
                "is_published",
                boolean(),
                "`true`: published ones, `false`: internal ones; `1` and `0` are accepted, too.",
            )
            .asks("kind", kind(), "Only incidents of this kind.")
            .period(from, to)
            .paged(DEFAULT_PER_PAGE)
            .refuses(&[422])
    }

    /// Adds the filter `service_ids`.
    pub(in crate::http::v1) fn service_filter(self) -> Self {
        let words = "Only what concerns one of these services, at most 100; unknown ids are ignored. Sent empty: nothing.";
        self.asks_list("service_ids", list_of(id()).items(0, FILTER_IDS_MAX), words)
    }
}
