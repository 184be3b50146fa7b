//! Measurements of a service (contract 4.5-4.8): figures, series, days, and every check.
//!
//! Every response needs the history database: while it is unavailable the response is 503, never an empty list. `stats`
//! computes the figures.

pub(super) mod checks;
mod cursor;
mod cursor_page;
pub(super) mod metrics;
pub(in crate::http) mod openapi;
pub(super) mod response_times;
pub(super) mod status_changes;
mod timeline;
pub(super) mod uptime;
pub(super) mod view;

use crate::clock::{DAY_MS, Timestamp};
use crate::http::gate::auth::Caller;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::query::QueryString;
use crate::http::kit::rule::FieldRule;
use crate::model::access::PlanLimits;
use crate::model::check::CheckType;
use crate::model::history_range::HistoryRange;
use crate::model::service::Service;

/// Number of past days for which history is shown.
const SHOWN_DAYS: i64 = 90;

/// Reads `range`, with a default of 24 hours.
fn read_range(query: &QueryString, errors: &mut FieldErrors) -> HistoryRange {
    match query.narrowing_value("range", errors).map(str::parse) {
        None => HistoryRange::default(),
        Some(Ok(range)) => range,
        Some(Err(_)) => {
            errors.add("range", FieldRule::unknown_word(HistoryRange::WORDS));
            HistoryRange::default()
        }
    }
}

/// Returns the start of the shown history, which the plan limits further.
pub(in crate::http::v1) fn history_start(now: Timestamp, limits: &PlanLimits) -> Timestamp {
    let days = SHOWN_DAYS.min(i64::from(limits.retention_days));
    now.plus_ms(-days * DAY_MS)
}

/// Returns the start of a service's history; `None` for services without measurements.
fn start_of(service: &Service, caller: &Caller, now: Timestamp) -> Option<Timestamp> {
    let configured_at = service.configured_at.filter(|_| service.check_type != CheckType::Manual)?;
    Some(history_start(now, &caller.limits).max(configured_at))
}

/// Converts microseconds to milliseconds with one decimal.
fn tenths_ms(us: f64) -> f64 {
    (us / 100.0).round() / 10.0
}
