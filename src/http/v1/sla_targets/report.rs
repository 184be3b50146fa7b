//! `GET /v1/sla-targets/{id}/report`: what a period comes to, as JSON, CSV, or a page to print.
//!
//! What is read is put together here; the arithmetic is that of `stats::sla`.

use std::collections::HashMap;

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
use crate::http::v1::sla_targets::outcome::{Report, ServiceReport};
use crate::http::v1::sla_targets::report_view::ReportView;
use crate::http::v1::sla_targets::{print, table};
use crate::http::v1::state::AppState;
use crate::model::service::Service;
use crate::model::sight::Sight;
use crate::model::sla::{SlaTarget, Subject, Terms};
use crate::model::time_range::TimeRange;
use crate::model::window::Window;
use crate::stats::sla::account::Judged;
use crate::stats::sla::{Past, Sums, runs, sums};
use crate::store::history::changes;
use crate::store::incidents::downtime::{self, Counted};
use crate::store::{PageWindow, services, sla_targets, windows};

/// Services of one report.
const SERVICES_MAX: u64 = 1_000;

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
    let report = gather(&state, caller.sight(), target, (period, now)).await?;
    match format {
        Format::Json => Ok(Reply::data(to_json(&ReportView::of(&report)))),
        Format::Csv => Ok(Reply::document("text/csv; charset=utf-8", table::render(&report))),
        Format::Html => Ok(Reply::page(print::render(&report)?, print::POLICY)),
    }
}

/// The period that a client asks for.
#[derive(Clone, Copy)]
enum Asked {
    Current,
    Previous,
    Of(NaiveDate),
    Nonsense,
}

fn read_period(query: &Query, errors: &mut FieldErrors) -> Asked {
    match query.narrowing("period", errors) {
        None | Some("current") => Asked::Current,
        Some("previous") => Asked::Previous,
        Some(date) => date.parse().map_or(Asked::Nonsense, Asked::Of),
    }
}

/// The period of some terms; `None` for one that is still to come.
fn period_of(terms: &Terms, asked: Asked, now: Timestamp) -> Option<TimeRange> {
    let Terms { period, zone, .. } = terms;
    match asked {
        Asked::Current => Some(period.current(*zone, now)),
        Asked::Previous => Some(period.previous(*zone, now)),
        Asked::Of(date) => period.on(*zone, date, now),
        Asked::Nonsense => None,
    }
}

async fn gather(
    state: &AppState,
    sight: Sight,
    target: SlaTarget,
    (period, now): (TimeRange, Timestamp),
) -> Result<Report, ApiError> {
    let judged = Judged::new(target.terms.clone(), period, now);
    let main = state.databases.main.reader();
    let found = subjects(state, sight, &target.subject).await?;
    let keys: Vec<i64> = found.iter().map(|service| service.key).collect();
    let looked_at = judged.looked_at();
    let mut decided: HashMap<i64, Vec<Window>> = HashMap::new();
    for window in windows::since(main, &keys, looked_at.from).await? {
        decided.entry(window.service).or_default().push(window);
    }
    let counted = downtime::counted(main, sight, &keys, looked_at).await?;
    let snapshots = state.snapshots(&found).await?;
    let (mut reports, mut all, mut spans_of_all) = (Vec::new(), Sums::default(), Vec::new());
    for (service, snapshot) in found.into_iter().zip(snapshots) {
        let changes = changes::since(state.databases.history.reader(), service.key, looked_at.from).await?;
        let incidents: Vec<Counted> =
            counted.iter().filter(|counted| counted.service == service.key).copied().collect();
        let past = Past {
            changes: &changes,
            measured_until: snapshot.measured_until.unwrap_or(looked_at.from),
            windows: decided.get(&service.key).map_or(&[], Vec::as_slice),
            incidents: &incidents.iter().map(|counted| counted.time).collect::<Vec<_>>(),
        };
        let spans = judged.spans(&past);
        let (sums, runs) = (sums(&spans, judged.so_far()), runs(&spans, judged.so_far()));
        all.merge(sums);
        let within = |counted: &Counted| counted.time.to > period.from;
        let incidents = incidents.into_iter().filter(within).collect();
        reports.push(ServiceReport { service, sums, runs, incidents });
        spans_of_all.push(spans);
    }
    let burn = (judged.until == now).then(|| judged.burn(&spans_of_all));
    Ok(Report { target, judged, made_at: now, services: reports, sums: all, burn })
}

/// The services that a target is about, as far as they are seen.
async fn subjects(state: &AppState, sight: Sight, subject: &Subject) -> Result<Vec<Service>, ApiError> {
    let main = state.databases.main.reader();
    match subject {
        Subject::Service(service) => Ok(services::find(main, sight, service.id).await?.into_iter().collect()),
        Subject::Tag(tag) => {
            let window = PageWindow { offset: 0, limit: SERVICES_MAX };
            let (found, total) = services::list(main, sight, Some(tag.key), window).await?;
            if total > SERVICES_MAX {
                return Err(ApiError::Fields(FieldErrors::of(
                    "tag_id",
                    FieldRule::SlaServices(SERVICES_MAX),
                )));
            }
            Ok(found)
        }
    }
}
