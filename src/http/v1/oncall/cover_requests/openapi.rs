//! Describes `/v1/oncall/cover-requests`.

use serde_json::{Value, json};

use crate::http::gate::route::HttpVerb;
use crate::http::kit::page::DEFAULT_PER_PAGE;
use crate::http::openapi::operation::{ApiChapter, ApiOperation};
use crate::http::openapi::shape::{ApiSchema, id, instant, object, text_in, view};
use crate::http::v1::oncall::cover_requests::view::{CoverRequestView, contact_id, status};
use crate::http::v1::oncall::filter::by_schedule;
use crate::model::oncall::cover::NOTE_LENGTH;

const LIST: &str = "/v1/oncall/cover-requests";
const ITEM: &str = "/v1/oncall/cover-requests/{id}";
const ACCEPT: &str = "/v1/oncall/cover-requests/{id}/accept";
const DECLINE: &str = "/v1/oncall/cover-requests/{id}/decline";
const CANCEL: &str = "/v1/oncall/cover-requests/{id}/cancel";

pub(in crate::http) fn chapter() -> ApiChapter {
    let answer = object()
        .has("contact_id", id().says("The contact who answers; must be one of those who were asked."));
    let schemas = vec![
        ("CoverRequest", view::<CoverRequestView<'_>>()),
        ("CreateCoverRequest", write()),
        ("AnswerCoverRequest", answer),
    ];
    let about = "A contact asks another one, or all others of a schedule, to take over for a period.";
    ApiChapter { name: "Cover requests", about, schemas, operations: operations() }
}

fn operations() -> Vec<ApiOperation> {
    let schema = "CoverRequest";
    let new = json!({"schedule_id": "s7Kd2mVq9LwPz4TnXbR0y", "contact_id": "a9Vd2sKq7LwPz4TnXbR0y",
        "starts_at": "2026-11-25T17:00:00.000Z", "ends_at": "2026-11-26T08:00:00.000Z",
        "note": "School play."});
    let shown = shown(&new);
    let answer = json!({"contact_id": "b3Hf8tNc5MxQy1UkWdS6z"});
    let list = ApiOperation::new(HttpVerb::Get, LIST, "list_cover_requests", "List cover requests");
    vec![
        by_schedule(list.asks_list("status", status(), "Only those of these statuses."))
            .paged(DEFAULT_PER_PAGE)
            .lists("Requests, newest first.", schema, &shown)
            .refuses(&[422]),
        ApiOperation::new(HttpVerb::Post, LIST, "create_cover_request", "Create a cover request")
            .says("Without `asked_contact_id` all others in the schedule are asked.")
            .takes("CreateCoverRequest", Some(new))
            .creates("The new request.", schema, &shown),
        ApiOperation::new(HttpVerb::Get, ITEM, "show_cover_request", "Show a cover request").shows(
            "The request.",
            schema,
            &shown,
        ),
        ApiOperation::new(HttpVerb::Post, ACCEPT, "accept_cover_request", "Accept a cover request")
            .says("The first who accepts is put on duty by an override; later answers get 409.")
            .takes("AnswerCoverRequest", Some(answer.clone()))
            .shows("The request, accepted.", schema, &shown)
            .refuses(&[409]),
        ApiOperation::new(HttpVerb::Post, DECLINE, "decline_cover_request", "Decline a cover request")
            .says("When all who were asked have declined, the request is declined.")
            .takes("AnswerCoverRequest", Some(answer))
            .shows("The request.", schema, &shown)
            .refuses(&[409]),
        ApiOperation::new(HttpVerb::Post, CANCEL, "cancel_cover_request", "Cancel a cover request")
            .shows("The request, cancelled.", schema, &shown)
            .refuses(&[409]),
    ]
}

fn shown(new: &Value) -> Value {
    json!({
        "id": "c2Jd7uRk4HvTz9XnGfM1b", "status": "open",
        "schedule_id": new["schedule_id"], "schedule_name": "Shop",
        "contact_id": new["contact_id"], "contact_name": "Anna",
        "starts_at": new["starts_at"], "ends_at": new["ends_at"], "note": new["note"],
        "asked": [{"contact_id": "b3Hf8tNc5MxQy1UkWdS6z", "declined_at": null}],
        "accepted_by_id": null, "accepted_by_name": null, "override_id": null,
        "created_at": "2026-11-20T09:00:00.000Z", "updated_at": "2026-11-20T09:00:00.000Z",
    })
}

fn write() -> ApiSchema {
    let words = "The contact who is asked; null: all others in the schedule.";
    object()
        .has("schedule_id", id())
        .has("contact_id", contact_id())
        .has("starts_at", instant())
        .has("ends_at", instant().says("In the future, and later than `starts_at` by 366 days at most."))
        .may_have("asked_contact_id", id().nullable().says(words))
        .may_have("note", text_in(&NOTE_LENGTH).nullable().says("A note for the contacts who are asked."))
}
