//! Describes `/v1/oncall/schedules`.

use serde_json::{Value, json};

use crate::http::gate::route::HttpVerb;
use crate::http::kit::page::DEFAULT_PER_PAGE;
use crate::http::openapi::operation::{ApiChapter, ApiOperation, example};
use crate::http::openapi::shape::{ApiSchema, object, view};
use crate::http::v1::oncall::schedules::layers::layers;
use crate::http::v1::oncall::schedules::view::{ScheduleView, name, time_zone};

const EXAMPLE: &str = include_str!("example.json");
const LIST: &str = "/v1/oncall/schedules";
const ITEM: &str = "/v1/oncall/schedules/{id}";

pub(in crate::http) fn chapter() -> ApiChapter {
    let schemas = vec![
        ("OncallSchedule", view::<ScheduleView<'_>>()),
        ("CreateOncallSchedule", write().needs(&["name", "layers"])),
        ("UpdateOncallSchedule", write()),
    ];
    let about = "Who is on duty when: layers of rotations in a time zone.";
    ApiChapter { name: "On-call schedules", about, schemas, operations: operations() }
}

fn operations() -> Vec<ApiOperation> {
    let schedule = example(EXAMPLE);
    let schema = "OncallSchedule";
    let new = json!({"name": "Shop", "time_zone": "Europe/Berlin", "layers": schedule["layers"]});
    vec![
        ApiOperation::new(HttpVerb::Get, LIST, "list_oncall_schedules", "List on-call schedules")
            .paged(DEFAULT_PER_PAGE)
            .lists("Schedules, oldest first.", schema, &schedule),
        ApiOperation::new(HttpVerb::Post, LIST, "create_oncall_schedule", "Create an on-call schedule")
            .takes("CreateOncallSchedule", Some(new))
            .creates("The new schedule.", schema, &schedule)
            .refuses(&[402]),
        ApiOperation::new(HttpVerb::Get, ITEM, "show_oncall_schedule", "Show an on-call schedule").shows(
            "The schedule.",
            schema,
            &schedule,
        ),
        ApiOperation::new(HttpVerb::Patch, ITEM, "update_oncall_schedule", "Change an on-call schedule")
            .says("`layers` replaces all layers.")
            .takes("UpdateOncallSchedule", Some(json!({"name": "Shop and stock"})))
            .shows("The changed schedule.", schema, &schedule)
            .refuses(&[422]),
        ApiOperation::new(HttpVerb::Delete, ITEM, "delete_oncall_schedule", "Delete an on-call schedule")
            .says("422 while escalation policies name it.")
            .deletes("Deleted, with its overrides and cover requests.")
            .refuses(&[422]),
    ]
}

/// Members of create requests, update requests and previews.
pub(in crate::http::v1::oncall) fn write() -> ApiSchema {
    object().may_have("name", name()).may_have("time_zone", time_zone()).may_have("layers", layers())
}

/// Returns the layers of the example.
pub(in crate::http::v1::oncall) fn example_layers() -> Value {
    example(EXAMPLE)["layers"].clone()
}
