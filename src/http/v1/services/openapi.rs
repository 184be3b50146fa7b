//! Describes `/v1/services` (contract 4.3): the object, its settings, and all operations.

use serde_json::{Value, json};

use crate::http::gate::route::HttpVerb;
use crate::http::kit::page::DEFAULT_PER_PAGE;
use crate::http::openapi::operation::{ApiChapter, ApiOperation, enveloped, example};
use crate::http::openapi::shape::{
    ApiSchema, always_true, boolean, enum_of, id, integer, list_of, named, object, string, text_in,
    timestamp, view,
};
use crate::http::v1::services::filter::TEXT_MAX;
use crate::http::v1::services::settings::openapi as settings;
use crate::http::v1::services::settings::view::SettingsView;
use crate::http::v1::services::tag_input::TAGS_MAX;
use crate::http::v1::services::view::{ServiceView, check_type};
use crate::model::check::CheckType;
use crate::model::dependency::DEPENDENCIES_MAX;
use crate::model::service::{NAME_LENGTH, OverrideStatus, REASON_LENGTH, ServiceStatus};

const EXAMPLE: &str = include_str!("example.json");
const DELETED: &str = include_str!("example_deleted.json");

const ITEM: &str = "/v1/services/{id}";

pub(in crate::http) fn chapter() -> ApiChapter {
    let mut schemas = vec![
        ("Service", view::<ServiceView<'_>>()),
        ("Settings", view::<SettingsView<'_>>()),
        ("Condition", settings::condition()),
        ("CreateService", write(settings::sent(&["interval_seconds"])).needs(&["name", "check_type"])),
        ("UpdateService", write(sent_settings())),
        ("StatusOverride", status_override()),
        ("DeletedService", deleted()),
    ];
    schemas.extend(settings::configs());
    let mut operations = collection();
    operations.extend(acts());
    ApiChapter { name: "Services", about: "What is monitored, and how.", schemas, operations }
}

fn collection() -> Vec<ApiOperation> {
    let service = example(EXAMPLE);
    let filter = "Only services with exactly this tag: `key:value`, `key=value` or `key`. Unknown or empty: no service.";
    let flag = |of: &str| format!("Also delete {of} that concern only this service.");
    vec![
        ApiOperation::new(HttpVerb::Get, "/v1/services", "list_services", "List services")
            .asks("tag", string(), filter)
            .asks_list(
                "status",
                list_of(enum_of(ServiceStatus::WORDS)),
                "Only services whose `effective_status` is one of these.",
            )
            .asks_list("check_type", list_of(enum_of(CheckType::WORDS)), "Only services of one of these types.")
            .asks("q", text_in(&(0..=TEXT_MAX)), "Only services whose name or target contains this text; case is ignored.")
            .paged(DEFAULT_PER_PAGE)
            .lists("Services, the oldest first.", "Service", &service)
            .refuses(&[422]),
        ApiOperation::new(HttpVerb::Post, "/v1/services", "create_service", "Create a service")
            .says("Without `settings` a service of type http, tcp, dns, icmp or ssl is stored, but not checked.")
            .takes("CreateService", Some(sent()))
            .creates("The new service.", "Service", &service)
            .refuses(&[402, 422]),
        ApiOperation::new(HttpVerb::Get, ITEM, "show_service", "Show a service").shows(
            "The service.",
            "Service",
            &service,
        ),
        ApiOperation::new(HttpVerb::Patch, ITEM, "update_service", "Change a service")
            .says("Omitted fields stay unchanged, also inside `settings` and `settings.config`.")
            .takes("UpdateService", Some(json!({"settings": {"interval_seconds": 300}})))
            .shows("The changed service.", "Service", &service)
            .refuses(&[422]),
        ApiOperation::new(HttpVerb::Delete, ITEM, "delete_service", "Delete a service")
            .asks("delete_orphaned_incidents", boolean(), &flag("incidents"))
            .asks("delete_orphaned_maintenances", boolean(), &flag("maintenances"))
            .answers(200, "What was deleted and cleaned up.", named("DeletedService"), Some(example(DELETED)))
            .refuses(&[422]),
    ]
}

fn acts() -> Vec<ApiOperation> {
    let service = example(EXAMPLE);
    let act = |path, id, summary| ApiOperation::new(HttpVerb::Post, path, id, summary);
    let shows = |operation: ApiOperation| operation.shows("The service.", "Service", &service);
    let stated = json!({"status": "maintenance", "reason": "The rack moves to another room."});
    vec![
        shows(
            act("/v1/services/{id}/pause", "pause_service", "Pause a service")
                .says("A paused service is not checked and does not count towards the plan."),
        ),
        shows(
            act("/v1/services/{id}/resume", "resume_service", "Resume a service")
                .says("A check starts at once. 403 when the plan allows no further service."),
        ),
        act("/v1/services/{id}/check-now", "check_service_now", "Check a service now")
            .says(
                "All locations check at once; the schedule of the following checks stays. 409 for services that are paused or \
                not checked; 429 within 10 seconds of the last request for the service.",
            )
            .answers(
                202,
                "The check is requested; its results are in `GET /v1/services/{id}/checks`.",
                enveloped(object().has("requested_at", timestamp())),
                Some(json!({"data": {"requested_at": "2026-11-21T10:00:00.000Z"}})),
            )
            .refuses(&[409, 503]),
        shows(
            act("/v1/services/{id}/status-override", "set_status_override", "Override the status")
                .says("Checks continue; the override is the status that people see until it is removed.")
                .takes("StatusOverride", Some(stated)),
        )
        .refuses(&[422]),
        shows(ApiOperation::new(
            HttpVerb::Delete,
            "/v1/services/{id}/status-override",
            "remove_status_override",
            "Remove the status override",
        )),
        shows(
            act("/v1/services/{id}/heartbeat/rotate", "rotate_heartbeat", "Create a new ping address")
                .says("The old address stops working at once."),
        )
        .refuses(&[422]),
    ]
}

fn write(settings: ApiSchema) -> ApiSchema {
    let depends_on = "Ids of services, and ids or names of tags, mixed; replaces the list. 422 when services would depend on each other.";
    let tags = "Ids and names of tags, mixed; names that do not exist are created. Replaces the tags of the service.";
    object()
        .may_have("name", text_in(&NAME_LENGTH))
        .may_have("check_type", check_type().says("Cannot be changed after creation."))
        .may_have("target", string().nullable().says("Needed where the check type says so."))
        .may_have("tags", list_of(string()).items(0, TAGS_MAX).nullable().says(tags))
        .may_have("settings", settings)
        .may_have("depends_on", list_of(string()).items(0, DEPENDENCIES_MAX).says(depends_on))
}

/// The body of a trial: that of a create request, or of an update of a stored service.
pub(in crate::http::v1) fn tried() -> ApiSchema {
    let service = "Omitted fields, also secrets, are those of this service; needs `services.edit`.";
    write(settings::sent(&[])).may_have("service_id", id().says(service))
}

pub(in crate::http::v1) fn sent_settings() -> ApiSchema {
    settings::sent(&[])
}

fn status_override() -> ApiSchema {
    object()
        .has("status", enum_of(OverrideStatus::WORDS))
        .has("reason", text_in(&REASON_LENGTH).says("Internal; never shown on a status page."))
}

fn deleted() -> ApiSchema {
    let counts = [
        "incidents_resolved",
        "incidents_deleted",
        "incidents_detached",
        "maintenances_cancelled",
        "maintenances_deleted",
        "maintenances_detached",
    ];
    let cleanup = object().has_all(&counts, &integer().at_least(0));
    enveloped(object().has("id", id()).has("deleted", always_true()).has("cleanup", cleanup))
}

fn sent() -> Value {
    json!({
        "name": "Shop front", "check_type": "http", "target": "https://shop.example.com/health", "tags": ["env:prod"],
        "settings": {"interval_seconds": 60, "config": {"method": "GET", "headers": {"X-Api-Key": "secret"}}},
    })
}
