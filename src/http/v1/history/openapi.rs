//! Describes a service's measurements (contract 4.5 to 4.8): metrics, response times, uptime, checks, status changes.

use serde_json::json;

use crate::http::gate::route::HttpVerb;
use crate::http::openapi::operation::{ApiChapter, ApiOperation, enveloped, example};
use crate::http::openapi::shape::{
    ApiSchema, any_of, enum_of, integer, list_of, named, object, string, text, url, view,
};
use crate::http::v1::history::view::{
    CheckView, MetricsView, ResponseTimeView, StatusChangeView, UptimeDayView,
};

const METRICS: &str = include_str!("example_metrics.json");
const CHECKS: &str = include_str!("example_checks.json");

const RANGES: [&str; 5] = ["1h", "6h", "24h", "7d", "30d"];
pub(in crate::http) fn chapter() -> ApiChapter {
    let schemas = vec![
        ("Metrics", view::<MetricsView>()),
        ("ResponseTime", view::<ResponseTimeView>()),
        ("UptimeDay", view::<UptimeDayView>()),
        ("Check", view::<CheckView<'_>>()),
        ("CheckPage", cursor_page("Check")),
        ("StatusChange", view::<StatusChangeView>()),
        ("StatusChangePage", cursor_page("StatusChange")),
    ];
    let operations =
        vec![show_metrics(), list_response_times(), list_uptime(), list_checks(), list_status_changes()];
    ApiChapter { name: "Measurements", about: "Stored measurements of a service.", schemas, operations }
}

fn show_metrics() -> ApiOperation {
    let body = enveloped(named("Metrics")).has("meta", object().has("range", enum_of(&RANGES)));
    ApiOperation::new(
        HttpVerb::Get,
        "/v1/services/{id}/metrics",
        "show_metrics",
        "Show the figures of a service",
    )
    .asks("range", range(), "The time that the figures cover, up to now.")
    .answers(200, "The figures; null without data.", body, Some(example(METRICS)))
    .refuses(&[422, 503])
}

fn list_response_times() -> ApiOperation {
    let meta = object().has("range", enum_of(&RANGES)).has("bucket_seconds", integer().at_least(1));
    let body = enveloped(list_of(named("ResponseTime"))).has("meta", meta);
    let shown = json!({
        "data": [{"timestamp": "2026-11-20T16:45:00.000Z", "avg_ms": 142.5, "min_ms": 88, "max_ms": 310,
                  "p95_ms": 280.1, "p99_ms": 305.0}],
        "meta": {"range": "6h", "bucket_seconds": 300},
    });
    let id = "list_response_times";
    ApiOperation::new(
        HttpVerb::Get,
        "/v1/services/{id}/response-times",
        id,
        "List the response times of a service",
    )
    .asks("range", range(), "The time that the list covers, up to now.")
    .asks_list("probe", codes(), "Only results of these locations.")
    .answers(200, "Buckets, the oldest first; those without data are left out.", body, Some(shown))
    .refuses(&[422, 503])
}

fn list_uptime() -> ApiOperation {
    let body =
        enveloped(list_of(named("UptimeDay"))).has("meta", object().has("days", integer().range(1, 90)));
    let shown = json!({
        "data": [{"date": "2026-11-20", "status": "up", "uptime_percent": 99.982, "incidents": 0, "downtime_seconds": 15,
            "unreachable_seconds": 0, "unmeasured_seconds": 0}],
        "meta": {"days": 1},
    });
    ApiOperation::new(
        HttpVerb::Get,
        "/v1/services/{id}/uptime",
        "list_uptime",
        "List the uptime of a service by day",
    )
    .asks("days", integer().range(1, 90).default_value(30), "How many days, today included; clamped.")
    .answers(200, "Days (UTC), the oldest first.", body, Some(shown))
    .refuses(&[422, 503])
}

fn list_checks() -> ApiOperation {
    let statuses = list_of(enum_of(&["up", "down", "degraded"]));
    let rows = integer().range(1, 100).default_value(50);
    ApiOperation::new(
        HttpVerb::Get,
        "/v1/services/{id}/checks",
        "list_checks",
        "List the checks of a service",
    )
    .says("Walk the pages by `links.next`, or by `cursor`.")
    .asks_list("probe", codes(), "Only checks of these locations.")
    .asks_list("status", statuses, "Only checks with these results.")
    .period("Only checks that started at or after this time.", "Only checks that started before this time.")
    .asks("per_page", rows, "Rows per page; clamped, never refused.")
    .asks("cursor", string(), "The next page: `meta.next_cursor` of the page before.")
    .answers(200, "Finished checks, the newest first.", named("CheckPage"), Some(example(CHECKS)))
    .refuses(&[422, 503])
}

fn list_status_changes() -> ApiOperation {
    let rows = integer().range(1, 100).default_value(50);
    let shown = json!({
        "data": [
            {"at": "2026-11-20T16:50:31.120Z", "from": "no_data", "to": "up", "cause": "votes", "until": null},
            {"at": "2026-11-20T16:49:02.000Z", "from": "up", "to": "no_data", "cause": "gap",
             "until": "2026-11-20T16:50:31.120Z"},
        ],
        "links": {"first": null, "last": null, "prev": null, "next": null},
        "meta": {"per_page": 50, "next_cursor": null},
    });
    ApiOperation::new(
        HttpVerb::Get,
        "/v1/services/{id}/status-changes",
        "list_status_changes",
        "List the status changes of a service",
    )
    .says("What was measured, without overrides and maintenances. Periods without checks are entries to `no_data`. Walk the pages by `links.next`, or by `cursor`.")
    .period("Only changes at or after this time.", "Only changes before this time.")
    .asks("per_page", rows, "Rows per page; clamped, never refused.")
    .asks("cursor", string(), "The next page: `meta.next_cursor` of the page before.")
    .answers(200, "Changes, the newest first.", named("StatusChangePage"), Some(shown))
    .refuses(&[422, 503])
}

fn range() -> ApiSchema {
    enum_of(&RANGES).default_value("24h")
}

fn codes() -> ApiSchema {
    list_of(string().pattern("^[A-Za-z0-9._-]{1,32}$"))
}

fn cursor_page(row: &'static str) -> ApiSchema {
    let never = || url().nullable();
    let links = object().has_all(&["first", "last", "prev"], &never()).has("next", url().nullable());
    let cursor = text(1, 256).nullable().says("Null when nothing older exists.");
    let meta = object().has("per_page", integer().range(1, 100)).has("next_cursor", cursor);
    enveloped(list_of(named(row))).has("links", links).has("meta", meta)
}

impl ApiOperation {
    /// Adds the parameters `from` and `to` (contract 1.7).
    pub(in crate::http::v1) fn period(self, from: &str, to: &str) -> Self {
        let time = || any_of([string().format("date-time"), string().format("date")]);
        self.asks("from", time(), from).asks("to", time(), to)
    }
}
