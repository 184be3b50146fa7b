//! `GET /v1/sla-targets/{id}/report`: the report about a period, as JSON, CSV, or a page for printing.
//!
//! `sla_reports` computes the report.

use chrono::NaiveDate;

use crate::clock::Timestamp;
use crate::http::gate::call::ApiCall;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::query::QueryString;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::rule::FieldRule;
use crate::http::kit::view::to_json;
use crate::http::v1::resource_lookup;
use crate::http::v1::sla_targets::format::ReportFormat;
use crate::http::v1::sla_targets::report_view::ReportView;
use crate::http::v1::sla_targets::{print, table};
use crate::http::v1::state::AppState;
use crate::model::sla::SlaTerms;
use crate::model::time_range::TimeRange;
use crate::sla_reports::{SERVICES_MAX, SlaReportError, SlaReportRequest, gather};
use crate::stats::sla::calculation::SlaCalculation;
use crate::store::{StoreError, sla_targets};

pub(in crate::http::v1) async fn show_sla_report(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let target = resource_lookup::find_or_404(&call, sla_targets::find).await?;
    let ApiCall { state, caller, query, headers, .. } = call;
    let now = state.now();
    let mut errors = FieldErrors::default();
    let format = ReportFormat::read(&query, &headers, &mut errors);
    let asked = read_period(&query, &mut errors);
    let period = period_of(&target.terms, asked, now);
    if period.is_none() {
        errors.add("period", FieldRule::ReportPeriod);
    }
    let (format, period) = errors.into_result((format, period)).map_err(ApiError::Fields)?;
    let period = period.ok_or(ApiError::NotFound)?;
    let judged = SlaCalculation::new(target.terms.clone(), period, now);
    let asked = SlaReportRequest { since: judged.evaluated_range().from, judged, now };
    let report = gather(&state.router, caller.visibility(), target, asked).await.map_err(refused)?;
    match format {
        ReportFormat::Json => Ok(ApiReply::data(to_json(&ReportView::of(&report)))),
        ReportFormat::Csv => Ok(ApiReply::document("text/csv; charset=utf-8", table::render(&report))),
        ReportFormat::Html => Ok(ApiReply::page(print::render(&report)?, print::POLICY)),
    }
}

#[derive(Clone, Copy)]
enum RequestedPeriod {
    Current,
    Previous,
    Of(NaiveDate),
    Nonsense,
}

fn read_period(query: &QueryString, errors: &mut FieldErrors) -> RequestedPeriod {
    match query.narrowing_value("period", errors) {
        None | Some("current") => RequestedPeriod::Current,
        Some("previous") => RequestedPeriod::Previous,
        Some(date) => date.parse().map_or(RequestedPeriod::Nonsense, RequestedPeriod::Of),
    }
}

/// Returns the requested period under these terms; `None` for a future one, or for invalid input.
fn period_of(terms: &SlaTerms, asked: RequestedPeriod, now: Timestamp) -> Option<TimeRange> {
    let SlaTerms { period, zone, .. } = terms;
    match asked {
        RequestedPeriod::Current => Some(period.current(*zone, now)),
        RequestedPeriod::Previous => Some(period.previous(*zone, now)),
        RequestedPeriod::Of(date) => period.on(*zone, date, now),
        RequestedPeriod::Nonsense => None,
    }
}

fn refused(failed: SlaReportError) -> ApiError {
    match failed {
        SlaReportError::Store(StoreError::Main(error)) => error.into(),
        SlaReportError::Store(StoreError::History(error)) => error.into(),
        SlaReportError::Store(error @ StoreError::Panicked(_)) => {
            ApiError::Internal(anyhow::Error::new(error))
        }
        SlaReportError::Unanswered(_) => ApiError::Unavailable,
        SlaReportError::TooManyServices => {
            ApiError::Fields(FieldErrors::of("tag_id", FieldRule::SlaServices(SERVICES_MAX)))
        }
    }
}
