//! Describes shifts, previews, and the contacts on duty now.

use serde_json::{Value, json};

use crate::http::gate::route::HttpVerb;
use crate::http::openapi::operation::{ApiChapter, ApiOperation, enveloped};
use crate::http::openapi::shape::{ApiSchema, instant, list_of, named, view};
use crate::http::v1::oncall::duty::view::{CurrentView, DutyView};
use crate::http::v1::oncall::schedules::{example_layers, write};

const SHIFTS: &str = "/v1/oncall/schedules/{id}/shifts";
const PREVIEW: &str = "/v1/oncall/schedules/preview";
const PREVIEW_CHANGE: &str = "/v1/oncall/schedules/{id}/preview";
const CURRENT: &str = "/v1/oncall/current";

pub(in crate::http) fn chapter() -> ApiChapter {
    let schemas = vec![
        ("OncallDuty", view::<DutyView<'_>>()),
        ("OncallCurrent", view::<CurrentView<'_>>()),
        ("PreviewOncallSchedule", in_period(write().needs(&["name", "layers"]))),
        ("PreviewOncallChange", in_period(write())),
    ];
    let about = "Who is on duty when, also before a schedule is saved, and who is on duty now.";
    ApiChapter { name: "On-call duty", about, schemas, operations: operations() }
}

fn in_period(body: ApiSchema) -> ApiSchema {
    body.may_have("from", instant().nullable().says("Start of the period; now unless given.")).may_have(
        "to",
        instant().nullable().says("End of the period; 14 days after its start unless given, at most 400."),
    )
}

fn operations() -> Vec<ApiOperation> {
    let duty = duty();
    let from = json!("2026-11-23T08:00:00.000Z");
    let body =
        json!({"name": "Shop", "time_zone": "Europe/Berlin", "layers": example_layers(), "from": from});
    let current = json!([{"schedule_id": "s7Kd2mVq9LwPz4TnXbR0y", "schedule_name": "Shop",
        "on_duty": {"contact_id": "a9Vd2sKq7LwPz4TnXbR0y", "contact_name": "Anna"},
        "since": "2026-11-23T08:00:00.000Z", "until": "2026-11-30T08:00:00.000Z",
        "next": {"contact_id": "b3Hf8tNc5MxQy1UkWdS6z", "contact_name": "Ben",
            "starts_at": "2026-11-30T08:00:00.000Z"}}]);
    vec![
        ApiOperation::new(HttpVerb::Get, SHIFTS, "show_oncall_shifts", "Show the shifts of a schedule")
            .asks("from", instant(), "Start of the period; now unless given.")
            .asks("to", instant(), "End of the period; 14 days after its start unless given, at most 400.")
            .shows("Shifts and uncovered periods; together they cover the whole period.", "OncallDuty", &duty)
            .refuses(&[422]),
        ApiOperation::new(
            HttpVerb::Post,
            PREVIEW,
            "preview_new_schedule",
            "Show the shifts of a schedule before it is saved",
        )
        .says("Absences of contacts count; nothing is stored.")
        .takes("PreviewOncallSchedule", Some(body))
        .shows("Shifts and uncovered periods.", "OncallDuty", &duty),
        ApiOperation::new(
            HttpVerb::Post,
            PREVIEW_CHANGE,
            "preview_changed_schedule",
            "Show the shifts of a change before it is saved",
        )
        .says("Overrides of the schedule and absences of contacts count; nothing is stored.")
        .takes("PreviewOncallChange", Some(json!({"time_zone": "UTC"})))
        .shows("Shifts and uncovered periods.", "OncallDuty", &duty)
        .refuses(&[422]),
        ApiOperation::new(HttpVerb::Get, CURRENT, "show_current_duty", "Show who is on duty now").answers(
            200,
            "Every schedule, oldest first.",
            enveloped(list_of(named("OncallCurrent"))),
            Some(json!({"data": current})),
        ),
    ]
}

fn duty() -> Value {
    json!({
        "from": "2026-11-23T08:00:00.000Z",
        "to": "2026-12-07T08:00:00.000Z",
        "time_zone": "Europe/Berlin",
        "shifts": [{
            "starts_at": "2026-11-23T08:00:00.000Z", "ends_at": "2026-11-30T08:00:00.000Z",
            "contact_id": "a9Vd2sKq7LwPz4TnXbR0y", "contact_name": "Anna",
            "source": "layer", "layer_name": "Weeks", "override_id": null,
        }],
        "gaps": [{"starts_at": "2026-11-30T08:00:00.000Z", "ends_at": "2026-12-07T08:00:00.000Z"}],
    })
}
