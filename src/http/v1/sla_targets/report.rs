//! `GET /v1/sla-targets/{id}/report`: the report of a period, as JSON, CSV, or a page to print.
//!
//! `sla_reports` computes it.

use chrono::NaiveDate;

use crate::clock::Timestamp;
use crate::http::gate::call::Call;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::query::Query;
use crate::http::kit::reply::Reply;
use crate::http::kit::rule::FieldRule;
use crate::http::kit::view::to_json;
use crate::http::v1::in_path;
use crate::http::v1::sla_targets::format::Format;
use crate::http::v1::sla_targets::report_view::ReportView;
use crate::http::v1::sla_targets::{print, table};
use crate::http::v1::state::AppState;
use crate::model::sla::Terms;
use crate::model::time_range::TimeRange;
use crate::sla_reports::{Asked, SERVICES_MAX, SlaReportFailed, gather};
use crate::stats::sla::account::Judged;
use crate::store::{StoreError, sla_targets};

pub(in crate::http::v1) async fn show_sla_report(call: Call<AppState>) -> Result<Reply, ApiError> {
    let target = in_path::find(&call, sla_targets::find).await?;
    let Call { state, caller, query, headers, .. } = call;
    let now = state.now();
    let mut errors = FieldErrors::default();
    let format = Format::read(&query, &headers, &mut errors);
    let asked = read_period(&query, &mut errors);
    let period = period_of(&target.terms, asked, now);
    if period.is_none() {
        errors.add("period", FieldRule::ReportPeriod);
    }
    let (format, period) = errors.into_result((format, period)).map_err(ApiError::Fields)?;
    let period = period.ok_or(ApiError::NotFound)?;
    let judged = Judged::new(target.terms.clone(), period, now);
    let asked = Asked { since: judged.looked_at().from, judged, now };
    let report = gather(&state.announcer, caller.sight(), target, asked).await.map_err(refused)?;
    match format {
        Format::Json => Ok(Reply::data(to_json(&ReportView::of(&report)))),
        Format::Csv => Ok(Reply::document("text/csv; charset=utf-8", table::render(&report))),
        Format::Html => Ok(Reply::page(print::render(&report)?, print::POLICY)),
    }
}

/// The requested period.
#[derive(Clone, Copy)]
enum AskedPeriod {
    Current,
    Previous,
    Of(NaiveDate),
    Nonsense,
}

fn read_period(query: &Query, errors: &mut FieldErrors) -> AskedPeriod {
    match query.narrowing("period", errors) {
        None | Some("current") => AskedPeriod::Current,
        Some("previous") => AskedPeriod::Previous,
        Some(date) => date.parse().map_or(AskedPeriod::Nonsense, AskedPeriod::Of),
    }
}

/// The period under these terms; `None` for a future one.
fn period_of(terms: &Terms, asked: AskedPeriod, now: Timestamp) -> Option<TimeRange> {
    let Terms { period, zone, .. } = terms;
    match asked {
        AskedPeriod::Current => Some(period.current(*zone, now)),
        AskedPeriod::Previous => Some(period.previous(*zone, now)),
        AskedPeriod::Of(date) => period.on(*zone, date, now),
        AskedPeriod::Nonsense => None,
    }
}

fn refused(failed: SlaReportFailed) -> ApiError {
    match failed {
        SlaReportFailed::Store(StoreError::Main(error)) => error.into(),
        SlaReportFailed::Store(StoreError::History(error)) => error.into(),
        SlaReportFailed::Store(error @ StoreError::Panicked(_)) => {
            ApiError::Internal(anyhow::Error::new(error))
        }
        SlaReportFailed::Unanswered(_) => ApiError::Unavailable,
        SlaReportFailed::TooManyServices => {
            ApiError::Fields(FieldErrors::of("tag_id", FieldRule::SlaServices(SERVICES_MAX)))
        }
    }
}
