//! Describes `/v1/oncall/absences`.

use serde_json::json;

use crate::http::gate::route::HttpVerb;
use crate::http::kit::page::DEFAULT_PER_PAGE;
use crate::http::openapi::operation::{ApiChapter, ApiOperation};
use crate::http::openapi::shape::{ApiSchema, id, instant, object, view};
use crate::http::v1::oncall::absences::view::AbsenceView;
use crate::http::v1::oncall::filter::by_contact;

const LIST: &str = "/v1/oncall/absences";
const ITEM: &str = "/v1/oncall/absences/{id}";

pub(in crate::http) fn chapter() -> ApiChapter {
    let schemas = vec![
        ("OncallAbsence", view::<AbsenceView<'_>>()),
        ("CreateOncallAbsence", write().needs(&["contact_id", "starts_at", "ends_at"])),
        ("UpdateOncallAbsence", write()),
    ];
    let about = "A period in which a contact is on duty in no schedule; the next layer takes over.";
    ApiChapter { name: "On-call absences", about, schemas, operations: operations() }
}

fn operations() -> Vec<ApiOperation> {
    let schema = "OncallAbsence";
    let new = json!({"contact_id": "b3Hf8tNc5MxQy1UkWdS6z", "starts_at": "2026-12-24T00:00:00.000Z",
        "ends_at": "2027-01-02T00:00:00.000Z"});
    let shown = json!({"id": "o5Gc1rLp8JzWx3VmYeQ7k", "contact_id": new["contact_id"], "contact_name": "Ben",
        "starts_at": new["starts_at"], "ends_at": new["ends_at"],
        "created_at": "2026-11-20T09:00:00.000Z", "updated_at": "2026-11-20T09:00:00.000Z"});
    let list = ApiOperation::new(HttpVerb::Get, LIST, "list_oncall_absences", "List absences");
    vec![
        by_contact(list)
            .paged(DEFAULT_PER_PAGE)
            .lists("Absences by their start.", schema, &shown)
            .refuses(&[422]),
        ApiOperation::new(HttpVerb::Post, LIST, "create_oncall_absence", "Create an absence")
            .takes("CreateOncallAbsence", Some(new))
            .creates("The new absence.", schema, &shown),
        ApiOperation::new(HttpVerb::Get, ITEM, "show_oncall_absence", "Show an absence").shows(
            "The absence.",
            schema,
            &shown,
        ),
        ApiOperation::new(HttpVerb::Patch, ITEM, "update_oncall_absence", "Change an absence")
            .takes("UpdateOncallAbsence", Some(json!({"ends_at": "2027-01-03T00:00:00.000Z"})))
            .shows("The changed absence.", schema, &shown)
            .refuses(&[422]),
        ApiOperation::new(HttpVerb::Delete, ITEM, "delete_oncall_absence", "Delete an absence")
            .deletes("Deleted."),
    ]
}

/// Members of both create and update requests.
fn write() -> ApiSchema {
    object()
        .may_have("contact_id", id().says("The absent contact."))
        .may_have("starts_at", instant())
        .may_have("ends_at", instant().says("Later than `starts_at`, by 366 days at most."))
}
