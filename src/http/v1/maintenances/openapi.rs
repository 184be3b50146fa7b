//! Describes `/v1/maintenances` and the maintenances of a service (contract 4.9, 4.11).

use serde_json::{Value, json};

use crate::http::gate::route::HttpVerb;
use crate::http::kit::page::DEFAULT_PER_PAGE;
use crate::http::openapi::operation::{ApiChapter, ApiOperation, example};
use crate::http::openapi::shape::{
    ApiSchema, boolean, instant, list_of, object, string, text, translatable, view,
};
use crate::http::v1::announcement::EntryView;
use crate::http::v1::incidents::openapi::{service_ids, statuspage_ids};
use crate::http::v1::maintenances::view::{
    MaintenanceRowView, MaintenanceView, RecurrenceView, kind, status,
};
use crate::model::maintenance::{MESSAGE_LENGTH, TITLE_LENGTH};
use crate::model::recurrence::rule::RULE_LENGTH_MAX;

const EXAMPLE: &str = include_str!("example.json");
const ITEM: &str = "/v1/maintenances/{id}";
const NOTICES: [&str; 4] = ["notify_24h", "notify_1h", "notify_start", "notify_complete"];

pub(in crate::http) fn chapter() -> ApiChapter {
    let schemas = vec![
        ("Maintenance", view::<MaintenanceView<'_>>()),
        ("MaintenanceRow", view::<MaintenanceRowView<'_>>()),
        ("MaintenanceRecurrence", view::<RecurrenceView<'_>>()),
        ("MaintenanceUpdate", view::<EntryView<'_>>().narrowed("status", status())),
        ("CreateMaintenance", create()),
        ("UpdateMaintenance", change()),
        ("ExtendMaintenance", extend()),
    ];
    let mut operations = collection();
    operations.extend(acts());
    let about = "Announced work that does not count as an outage.";
    ApiChapter { name: "Maintenances", about, schemas, operations }
}

fn collection() -> Vec<ApiOperation> {
    let (maintenance, row) = (example(EXAMPLE), row_example());
    let sent = json!({"title": "Database upgrade", "message": "We upgrade the database.", "type": "planned",
                      "scheduled_start": "2026-11-22T22:00:00Z", "scheduled_end": "2026-11-23T00:00:00Z",
                      "service_ids": ["rNSJxMbDTX2uHc08AiCqo"]});
    let of_service = "/v1/services/{id}/maintenances";
    vec![
        ApiOperation::new(HttpVerb::Get, "/v1/maintenances", "list_maintenances", "List maintenances")
            .maintenance_filters()
            .lists("Maintenances, the latest start first.", "MaintenanceRow", &row)
            .translated(),
        ApiOperation::new(HttpVerb::Post, "/v1/maintenances", "create_maintenance", "Announce a maintenance")
            .says(
                "A start that has been reached begins it at once, unless `auto_start` is false. With `recurrence` the answer is \
                 the first maintenance of a series.",
            )
            .takes("CreateMaintenance", Some(sent))
            .creates("The new maintenance.", "Maintenance", &maintenance)
            .refuses(&[402])
            .translated(),
        ApiOperation::new(HttpVerb::Get, ITEM, "show_maintenance", "Show a maintenance with its timeline")
            .shows("The maintenance.", "Maintenance", &maintenance)
            .translated(),
        ApiOperation::new(HttpVerb::Patch, ITEM, "update_maintenance", "Change a maintenance")
            .says("The window of a completed or cancelled one cannot be changed: 409.")
            .takes("UpdateMaintenance", Some(json!({"scheduled_end": "2026-11-23T01:00:00Z"})))
            .shows("The changed maintenance.", "Maintenance", &maintenance)
            .refuses(&[409, 422])
            .translated(),
        ApiOperation::new(HttpVerb::Delete, ITEM, "delete_maintenance", "Delete a maintenance")
            .deletes("Deleted."),
        ApiOperation::new(HttpVerb::Get, of_service, "list_service_maintenances", "List maintenances of a service")
            .maintenance_filters()
            .lists("Maintenances of the service.", "MaintenanceRow", &row)
            .translated(),
    ]
}

fn acts() -> Vec<ApiOperation> {
    let maintenance = example(EXAMPLE);
    let extended = json!({"scheduled_end": "2026-11-23T02:00:00Z", "message": "We need two more hours."});
    let act = |path, id, summary| {
        let operation = ApiOperation::new(HttpVerb::Post, path, id, summary);
        operation.shows("The maintenance.", "Maintenance", &maintenance).refuses(&[409]).translated()
    };
    vec![
        act("/v1/maintenances/{id}/start", "start_maintenance", "Start a maintenance")
            .says("Only a scheduled one; otherwise 409."),
        act("/v1/maintenances/{id}/complete", "complete_maintenance", "Complete a maintenance")
            .says("Only one in progress; otherwise 409."),
        act("/v1/maintenances/{id}/extend", "extend_maintenance", "Extend a maintenance")
            .says("Only one in progress, or a completed one, which continues; otherwise 409.")
            .takes("ExtendMaintenance", Some(extended)),
        act("/v1/maintenances/{id}/cancel", "cancel_maintenance", "Cancel a maintenance")
            .says("Only a scheduled one; otherwise 409."),
    ]
}

/// Returns the example as a maintenance in a list.
fn row_example() -> Value {
    let mut row = example(EXAMPLE);
    if let Some(members) = row.as_object_mut() {
        members.retain(|key, _| key != "updates" && key != "statuspages");
    }
    row
}

/// Members of both create and update requests.
pub(in crate::http::v1) fn write() -> ApiSchema {
    object()
        .may_have("title", translatable(&TITLE_LENGTH))
        .may_have("type", kind())
        .may_have("scheduled_start", instant())
        .may_have("scheduled_end", instant().nullable().says("Later than the start; null: open end."))
        .may_have("auto_start", boolean())
        .may_have("auto_complete", boolean().says("Needs a planned end."))
        .may_have("service_ids", service_ids())
        .may_have("statuspage_ids", statuspage_ids())
        .may_have_all(&NOTICES, &boolean())
}

fn create() -> ApiSchema {
    let message = translatable(&MESSAGE_LENGTH).nullable();
    let recurs = "Makes it come again: `scheduled_start` is the first of a series, and `scheduled_end` is required. Both are \
                  wall times of the time zone. `auto_complete` is true then unless it is sent.";
    let repeated = recurrence().needs(&["rrule", "time_zone"]).nullable().says(recurs);
    write()
        .may_have("recurrence", repeated)
        .may_have("message", message.says("The first timeline entry; generated when left out."))
        .may_have("notify_announcement", boolean().default_value(true).says("Notify subscribers now."))
        .needs(&["title", "scheduled_start"])
}

/// The recurrence rule and time zone in a body.
pub(in crate::http::v1) fn recurrence() -> ApiSchema {
    let rule = "A recurrence rule of RFC 5545 without DTSTART; at most daily.";
    object()
        .may_have("rrule", text(1, RULE_LENGTH_MAX).says(rule).example("FREQ=WEEKLY;BYDAY=SU"))
        .may_have("time_zone", string().says("A name of the IANA database.").example("Europe/Berlin"))
        .closed()
}

fn change() -> ApiSchema {
    let post = boolean().default_value(true).says("A changed window adds a timeline entry.");
    let notify = boolean().default_value(false).says("Notify subscribers of that entry.");
    write().may_have("post_update", post).may_have("notify_subscribers", notify)
}

fn extend() -> ApiSchema {
    object()
        .has("scheduled_end", instant().nullable().says("Later than the start and than now; null: open end."))
        .may_have("scheduled_start", instant().nullable().says("Null: unchanged."))
        .may_have("message", translatable(&MESSAGE_LENGTH).nullable())
        .may_have("notify_subscribers", boolean().default_value(false))
}

impl ApiOperation {
    /// Adds the filters of lists of maintenances (contract 4.11.4).
    fn maintenance_filters(self) -> Self {
        let statuses = list_of(status());
        let (from, to) =
            ("Only those that end at or after this time.", "Only those that start before this time.");
        self.service_filter()
            .asks_list("status", statuses, "Only maintenances in these states.")
            .period(from, to)
            .paged(DEFAULT_PER_PAGE)
            .refuses(&[422])
    }
}
