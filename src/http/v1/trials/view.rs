//! The result of a trial as clients see it.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::openapi::shape::{ApiSchema, anything, enum_of, integer, map_of, string_or_null, timestamp};
use crate::http::v1::history::view::{TimingsView, whole_ms};
use crate::model::check::{CheckOutcome, CheckStatus, ErrorCode, LocalFault, PhaseTimings};
use crate::probe::CheckInspection;
use crate::probe::condition::ConditionReport;
use crate::probe::condition::ConditionState;
use crate::probe::finding::{CheckFinding, FindingValue};

/// Common prefix of the names of most findings.
const METADATA: &str = "metadata.";

/// The result of a trial: that of a check, and what it is based on.
#[derive(Serialize, ToSchema)]
pub(super) struct TrialView<'a> {
    #[schema(schema_with = timestamp)]
    checked_at: Timestamp,
    #[schema(schema_with = status)]
    status: &'static str,
    #[schema(schema_with = response_time, required)]
    response_time_ms: Option<u32>,
    #[schema(schema_with = status_code, required)]
    status_code: Option<u16>,
    #[schema(schema_with = error_code, required)]
    error_code: Option<&'static str>,
    #[schema(schema_with = string_or_null, required)]
    error_message: Option<&'a str>,
    #[schema(schema_with = trouble, required)]
    trouble: Option<&'static str>,
    /// Durations of the phases of the check, in milliseconds.
    #[schema(inline)]
    timings: TimingsView,
    /// What each condition says; empty if the target did not answer.
    #[schema(inline)]
    conditions: Vec<ConditionView<'a>>,
    #[schema(schema_with = findings)]
    findings: BTreeMap<&'static str, Value>,
}

/// What a condition says about the answer.
#[derive(Serialize, ToSchema)]
struct ConditionView<'a> {
    /// The condition in words.
    condition: &'a str,
    #[schema(schema_with = condition_status)]
    status: &'static str,
    #[schema(schema_with = state)]
    state: &'static str,
    #[schema(schema_with = expected, required)]
    expected: Option<&'a str>,
    #[schema(schema_with = found, required)]
    found: Option<Value>,
}

impl<'a> TrialView<'a> {
    /// Creates the view of a trial that started at this time.
    pub(super) fn of(checked_at: Timestamp, inspected: &'a CheckInspection) -> Self {
        let CheckInspection { outcome, findings, conditions } = inspected;
        let conditions = conditions.iter().map(ConditionView::of).collect();
        let findings = findings.iter().map(entry).collect();
        match outcome {
            CheckOutcome::Unmeasured(fault) => Self {
                checked_at,
                status: "no_data",
                response_time_ms: None,
                status_code: None,
                error_code: None,
                error_message: None,
                trouble: Some(fault.as_str()),
                timings: TimingsView::of(&PhaseTimings::default()),
                conditions,
                findings,
            },
            CheckOutcome::Measured(measurement) => Self {
                checked_at,
                status: measurement.status.as_str(),
                response_time_ms: measurement.response_time.map(whole_ms),
                status_code: measurement.status_code,
                error_code: measurement.failure.as_ref().map(|failure| failure.code.as_str()),
                error_message: measurement.failure.as_ref().map(|failure| failure.message.as_ref()),
                trouble: None,
                timings: TimingsView::of(&measurement.timings),
                conditions,
                findings,
            },
        }
    }
}

impl<'a> ConditionView<'a> {
    fn of(report: &'a ConditionReport) -> Self {
        Self {
            condition: &report.condition,
            status: report.status.as_str(),
            state: report.state.as_str(),
            expected: report.expected.as_deref(),
            found: report.found.as_ref().map(value),
        }
    }
}

fn entry(finding: &CheckFinding) -> (&'static str, Value) {
    (finding.field.strip_prefix(METADATA).unwrap_or(finding.field), value(&finding.value))
}

fn value(found: &FindingValue) -> Value {
    match found {
        FindingValue::Number(number) => json!(number),
        FindingValue::Text(text) => json!(text),
        FindingValue::List(texts) => json!(texts),
    }
}

fn status() -> ApiSchema {
    let mut words = CheckStatus::WORDS.to_vec();
    words.push("no_data");
    enum_of(&words).says("`no_data`: this server could not make the check; see `trouble`.")
}

fn response_time() -> ApiSchema {
    integer().at_least(0).nullable().says("Null if the target did not answer.")
}

fn status_code() -> ApiSchema {
    integer()
        .nullable()
        .says("Status code of the HTTP response; null for other types, or without a response.")
}

fn error_code() -> ApiSchema {
    enum_of(ErrorCode::WORDS).nullable().says("Set exactly when the status is `degraded` or `down`.")
}

fn trouble() -> ApiSchema {
    enum_of(LocalFault::WORDS).nullable().says("Why this server could not make the check; null if it could.")
}

fn condition_status() -> ApiSchema {
    enum_of(&["degraded", "down"]).says("The status if the condition is met.")
}

fn state() -> ApiSchema {
    enum_of(ConditionState::WORDS)
        .says("`undecided`: it depends on a part of the body that is not read; counts as `degraded`.")
}

fn expected() -> ApiSchema {
    string_or_null()
        .says("The configured value; null for bodies, headers and JSON, whose values may be secret.")
}

fn found() -> ApiSchema {
    anything().nullable().says(
        "A number, a text or a list; null without a value, and for bodies, headers, JSON and addresses.",
    )
}

fn findings() -> ApiSchema {
    map_of(anything()).says("What `ssl` and `dns` have read: the fields of conditions, without `metadata.`.")
}
