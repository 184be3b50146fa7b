//! Describes `/v1/oncall/overrides`.

use serde_json::json;

use crate::http::gate::route::HttpVerb;
use crate::http::kit::page::DEFAULT_PER_PAGE;
use crate::http::openapi::operation::{ApiChapter, ApiOperation};
use crate::http::openapi::shape::{ApiSchema, id, instant, object, view};
use crate::http::v1::oncall::filter::by_schedule;
use crate::http::v1::oncall::overrides::view::OverrideView;

const LIST: &str = "/v1/oncall/overrides";
const ITEM: &str = "/v1/oncall/overrides/{id}";

pub(in crate::http) fn chapter() -> ApiChapter {
    let needed = ["schedule_id", "contact_id", "starts_at", "ends_at"];
    let schemas = vec![
        ("OncallOverride", view::<OverrideView<'_>>()),
        ("CreateOncallOverride", write().needs(&needed)),
        ("UpdateOncallOverride", write()),
    ];
    let about = "A contact takes over the duty of a schedule for a period, overriding all layers.";
    ApiChapter { name: "On-call overrides", about, schemas, operations: operations() }
}

fn operations() -> Vec<ApiOperation> {
    let schema = "OncallOverride";
    let new = json!({
        "schedule_id": "s7Kd2mVq9LwPz4TnXbR0y", "contact_id": "b3Hf8tNc5MxQy1UkWdS6z",
        "starts_at": "2026-11-25T17:00:00.000Z", "ends_at": "2026-11-26T08:00:00.000Z",
    });
    let mut shown = json!({"id": "o5Gc1rLp8JzWx3VmYeQ7k", "schedule_name": "Shop", "contact_name": "Ben",
        "created_at": "2026-11-20T09:00:00.000Z", "updated_at": "2026-11-20T09:00:00.000Z"});
    for name in ["schedule_id", "contact_id", "starts_at", "ends_at"] {
        shown[name] = new[name].clone();
    }
    let list = ApiOperation::new(HttpVerb::Get, LIST, "list_oncall_overrides", "List overrides");
    vec![
        by_schedule(list)
            .paged(DEFAULT_PER_PAGE)
            .lists("Overrides by their start.", schema, &shown)
            .refuses(&[422]),
        ApiOperation::new(HttpVerb::Post, LIST, "create_oncall_override", "Create an override")
            .says("A newer override takes precedence over an older one.")
            .takes("CreateOncallOverride", Some(new))
            .creates("The new override.", schema, &shown),
        ApiOperation::new(HttpVerb::Get, ITEM, "show_oncall_override", "Show an override").shows(
            "The override.",
            schema,
            &shown,
        ),
        ApiOperation::new(HttpVerb::Patch, ITEM, "update_oncall_override", "Change an override")
            .takes("UpdateOncallOverride", Some(json!({"ends_at": "2026-11-26T09:00:00.000Z"})))
            .shows("The changed override.", schema, &shown)
            .refuses(&[422]),
        ApiOperation::new(HttpVerb::Delete, ITEM, "delete_oncall_override", "Delete an override")
            .deletes("Deleted; the layers apply again."),
    ]
}

/// Members of both create and update requests; an update cannot change the schedule.
fn write() -> ApiSchema {
    object()
        .may_have("schedule_id", id())
        .may_have("contact_id", id().says("The contact who takes over."))
        .may_have("starts_at", instant())
        .may_have("ends_at", instant().says("Later than `starts_at`, by 366 days at most."))
}
