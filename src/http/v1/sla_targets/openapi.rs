//! Describes `/v1/sla-targets`.

use serde_json::json;

use crate::http::gate::route::HttpVerb;
use crate::http::kit::page::DEFAULT_PER_PAGE;
use crate::http::openapi::operation::{ApiChapter, ApiOperation, example};
use crate::http::openapi::shape::{ApiSchema, enum_of, object, string, view};
use crate::http::v1::sla_targets::format::ReportFormat;
use crate::http::v1::sla_targets::report_view::ReportView;
use crate::http::v1::sla_targets::view::{
    SlaTargetView, business_hours, name, objective, period, rolling_days, service_id, tag_id, time_zone,
};

const EXAMPLE: &str = include_str!("example.json");
const REPORT: &str = include_str!("example_report.json");
const LIST: &str = "/v1/sla-targets";
const ITEM: &str = "/v1/sla-targets/{id}";

pub(in crate::http) fn chapter() -> ApiChapter {
    let schemas = vec![
        ("SlaTarget", view::<SlaTargetView<'_>>()),
        ("SlaReport", view::<ReportView<'_>>()),
        ("CreateSlaTarget", write().needs(&["name", "objective", "period", "time_zone"])),
        ("UpdateSlaTarget", write()),
    ];
    let about = "SLA targets of services, and reports about them.";
    ApiChapter { name: "SLA targets", about, schemas, operations: operations() }
}

fn operations() -> Vec<ApiOperation> {
    let target = example(EXAMPLE);
    let body = json!({"name": "Shop, gold", "tag_id": "8rumoia4tHtM30RLo1EcP", "objective": 99.9, "period": "month",
        "time_zone": "Europe/Berlin"});
    vec![
        ApiOperation::new(HttpVerb::Get, LIST, "list_sla_targets", "List SLA targets")
            .says(
                "A token that is confined to an access scope sees the targets of its services and tags only.",
            )
            .paged(DEFAULT_PER_PAGE)
            .lists("Targets, oldest first.", "SlaTarget", &target),
        ApiOperation::new(HttpVerb::Post, LIST, "create_sla_target", "Create an SLA target")
            .says(
                "It applies to one service or to all that carry a tag: send either `service_id` or `tag_id`.",
            )
            .takes("CreateSlaTarget", Some(body))
            .creates("The new target.", "SlaTarget", &target)
            .refuses(&[402]),
        ApiOperation::new(HttpVerb::Get, ITEM, "show_sla_target", "Show an SLA target").shows(
            "The target.",
            "SlaTarget",
            &target,
        ),
        report(),
        ApiOperation::new(HttpVerb::Patch, ITEM, "update_sla_target", "Change an SLA target")
            .takes("UpdateSlaTarget", Some(json!({"objective": 99.95})))
            .shows("The changed target.", "SlaTarget", &target)
            .refuses(&[422]),
        ApiOperation::new(HttpVerb::Delete, ITEM, "delete_sla_target", "Delete an SLA target")
            .deletes("Deleted."),
    ]
}

fn report() -> ApiOperation {
    let path = "/v1/sla-targets/{id}/report";
    let period = "`current`, `previous`, or a day of the period; of a rolling one its last day.";
    let page = "One HTML file with print CSS; a browser can save it as PDF.";
    ApiOperation::new(HttpVerb::Get, path, "show_sla_report", "Show the report of an SLA target")
        .says(
            "Computed from intervals. Planned work, pauses and times in which a service could not be reached are left out \
             and listed; incidents with `sla_counts_as_downtime` are counted in. Times of several services are added up.",
        )
        .asks("period", string().default_value("current"), period)
        .asks("format", enum_of(&ReportFormat::WORDS), "Without it `Accept` decides; JSON, if that does not.")
        .shows("The report.", "SlaReport", &example(REPORT))
        .answers_with("text/csv", "A table.", string())
        .answers_with("text/html", page, string())
        .refuses(&[422])
}

/// Members of both create and update requests.
fn write() -> ApiSchema {
    object()
        .may_have("name", name())
        .may_have("service_id", service_id())
        .may_have("tag_id", tag_id())
        .may_have("objective", objective())
        .may_have("period", period())
        .may_have("rolling_days", rolling_days())
        .may_have("time_zone", time_zone())
        .may_have("business_hours", business_hours())
}
