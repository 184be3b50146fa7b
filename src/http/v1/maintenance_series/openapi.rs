//! Describes `/v1/maintenance-series`.

use serde_json::{Value, json};

use crate::http::gate::route::HttpVerb;
use crate::http::kit::page::DEFAULT_PER_PAGE;
use crate::http::openapi::operation::{ApiChapter, ApiOperation, example};
use crate::http::openapi::shape::{ApiSchema, boolean, instant, translatable, view};
use crate::http::v1::maintenance_series::view::{
    OccurrenceView, RecurrenceRuleView, SeriesRowView, SeriesView,
};
use crate::http::v1::maintenances::openapi::{recurrence, write};
use crate::model::maintenance::MESSAGE_LENGTH;

const EXAMPLE: &str = include_str!("example.json");
const COLLECTION: &str = "/v1/maintenance-series";
const ITEM: &str = "/v1/maintenance-series/{id}";

pub(in crate::http) fn chapter() -> ApiChapter {
    let schemas = vec![
        ("MaintenanceSeries", view::<SeriesView<'_>>()),
        ("MaintenanceSeriesRow", view::<SeriesRowView<'_>>()),
        ("RecurrenceRule", view::<RecurrenceRuleView<'_>>()),
        ("MaintenanceOccurrence", view::<OccurrenceView>()),
        ("UpdateMaintenanceSeries", change()),
    ];
    let about = "Maintenance windows that repeat. A series is created with its first maintenance, by \
                 `POST /v1/maintenances` with `recurrence`. Its maintenances of the next 30 days exist in advance, at least \
                 the next one.";
    ApiChapter { name: "Maintenance series", about, schemas, operations: operations() }
}

fn operations() -> Vec<ApiOperation> {
    let (series, row) = (example(EXAMPLE), row_example());
    let later = json!({"scheduled_start": "2026-11-29T03:00:00+01:00"});
    vec![
        ApiOperation::new(HttpVerb::Get, COLLECTION, "list_maintenance_series", "List series of maintenances")
            .lists("Series, the oldest first.", "MaintenanceSeriesRow", &row)
            .paged(DEFAULT_PER_PAGE)
            .translated(),
        ApiOperation::new(HttpVerb::Get, ITEM, "show_maintenance_series", "Show a series with its future maintenances")
            .shows("The series.", "MaintenanceSeries", &series)
            .translated(),
        ApiOperation::new(HttpVerb::Patch, ITEM, "update_maintenance_series", "Change a series")
            .says(
                "Maintenances that have not started follow the change, and those that move keep their id. One that was \
                 changed, cancelled or deleted individually stays as it is and replaces the occurrence of that day.",
            )
            .takes("UpdateMaintenanceSeries", Some(later))
            .shows("The changed series.", "MaintenanceSeries", &series)
            .refuses(&[409, 422])
            .translated(),
        ApiOperation::new(HttpVerb::Delete, ITEM, "delete_maintenance_series", "End a series")
            .says("Deletes its scheduled maintenances. Others stay and no longer belong to a series.")
            .deletes("Deleted."),
    ]
}

/// Returns the example as a series in a list.
fn row_example() -> Value {
    let mut row = example(EXAMPLE);
    if let Some(members) = row.as_object_mut() {
        members.retain(|key, _| !["statuspages", "next_occurrences", "skipped"].contains(&key.as_str()));
    }
    row
}

fn change() -> ApiSchema {
    let start = "Start of the first window, in the future unless it is the present one. Left out: windows keep their time.";
    let end = "End of the first window. Left out: windows stay as long as they are.";
    let message = translatable(&MESSAGE_LENGTH).nullable();
    write()
        .may_have("scheduled_start", instant().says(start))
        .may_have("scheduled_end", instant().says(end))
        .may_have("recurrence", recurrence())
        .may_have("message", message.says("The first timeline entry of future maintenances."))
        .may_have("notify_announcement", boolean())
        .may_have("post_update", boolean().default_value(true).says("A moved window adds a timeline entry."))
        .may_have("notify_subscribers", boolean().default_value(false).says("Notify subscribers of it."))
}
