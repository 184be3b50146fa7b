//! `GET /v1/services/{id}/uptime` (contract 4.7): one entry per UTC calendar day, oldest first, today last.

use std::collections::BTreeMap;

use serde_json::json;

use crate::clock::{DAY_MS, Timestamp};
use crate::http::gate::call::ApiCall;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::query::QueryString;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::rule::FieldRule;
use crate::http::kit::view::to_json;
use crate::http::v1::history::view::{UptimeDayFigures, UptimeDayView};
use crate::http::v1::history::{SHOWN_DAYS, history_start, timeline};
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::model::incident::open_within;
use crate::model::time_range::TimeRange;
use crate::stats::uptime::{Availability, per_day};
use crate::store::incidents::list;
use crate::store::services;

const DEFAULT_DAYS: i64 = 30;

pub(in crate::http) async fn list_uptime(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let service = resource_lookup::find_or_404(&call, services::find).await?;
    let days = read_days(&call.query)?;
    let ApiCall { state, caller, .. } = call;
    let now = state.now();
    let first = start_of_day(now.day() - days + 1);
    let from = first.max(history_start(now, &caller.limits));
    let past = timeline::load_timeline(&state, &service, TimeRange { from, to: now }).await?;
    let measured: BTreeMap<i64, Availability> = per_day(&past.spans).into_iter().collect();
    let reader = state.databases.main.reader();
    let incidents = list::periods(reader, caller.visibility(), service.key, first).await?;
    let entry = |day: i64| {
        let open = open_within(&incidents, TimeRange { from: start_of_day(day), to: start_of_day(day + 1) });
        let unreachable_ms = past.unreachable_ms.get(&day).copied().unwrap_or_default();
        let measured = measured.get(&day).copied().unwrap_or_default();
        let elapsed_ms = (now.ms() - start_of_day(day).ms()).min(DAY_MS);
        UptimeDayView::of(
            start_of_day(day),
            UptimeDayFigures { measured, incidents: open, unreachable_ms, elapsed_ms },
        )
    };
    let data: Vec<UptimeDayView> = (first.day()..=now.day()).map(entry).collect();
    Ok(ApiReply::ok(json!({"data": to_json(&data), "meta": {"days": days}})))
}

/// Reads `days`, clamped to 1..90; any value that is no whole number is refused.
fn read_days(query: &QueryString) -> Result<i64, ApiError> {
    let mut errors = FieldErrors::default();
    let days = match query.narrowing_value("days", &mut errors) {
        None => DEFAULT_DAYS,
        Some(text) => read_whole(text).unwrap_or_else(|| {
            errors.add("days", FieldRule::Integer);
            DEFAULT_DAYS
        }),
    };
    errors.into_result(days.clamp(1, SHOWN_DAYS)).map_err(ApiError::Fields)
}

/// Reads a whole number of any size; a number out of range counts as the largest or smallest.
fn read_whole(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let size = digits.parse().unwrap_or(i64::MAX);
    Some(if text.starts_with('-') { -size } else { size })
}

fn start_of_day(day: i64) -> Timestamp {
    Timestamp::from_ms(day * DAY_MS)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Contract 4.7: the status of a day.
    #[rstest]
    #[case(0, 0, "no_data", 0.0)]
    #[case(1_000, 0, "up", 100.0)]
    #[case(999, 1, "up", 99.9)]
    #[case(998, 2, "degraded", 99.8)]
    #[case(95, 5, "degraded", 95.0)]
    #[case(94, 6, "down", 94.0)]
    fn a_day_has_the_status_of_its_percentage(
        #[case] up_ms: i64,
        #[case] down_ms: i64,
        #[case] status: &str,
        #[case] percent: f64,
    ) {
        let measured = Availability { up_ms, down_ms };
        let day = UptimeDayView::of(
            start_of_day(0),
            UptimeDayFigures { measured, incidents: 7, ..UptimeDayFigures::default() },
        );
        let entry = to_json(&day);
        assert_eq!((&entry["status"], &entry["uptime_percent"]), (&json!(status), &json!(percent)));
        assert_eq!((&entry["date"], &entry["incidents"]), (&json!("1970-01-01"), &json!(7)));
    }

    /// Time that is neither up nor down nor unreachable counts as not measured. Of the current day only the elapsed time
    /// counts.
    #[rstest]
    #[case(DAY_MS, 0, 86_400)]
    #[case(DAY_MS, 3_600_000, 82_800)]
    #[case(3_600_000, 3_600_000, 0)]
    #[case(1_000, 3_600_000, 0)]
    fn a_day_has_its_unmeasured_seconds(
        #[case] elapsed_ms: i64,
        #[case] known_ms: i64,
        #[case] seconds: i64,
    ) {
        let quarter = known_ms / 4;
        let measured = Availability { up_ms: 2 * quarter, down_ms: quarter };
        let figures = UptimeDayFigures { measured, incidents: 0, unreachable_ms: quarter, elapsed_ms };
        assert_eq!(to_json(&UptimeDayView::of(start_of_day(0), figures))["unmeasured_seconds"], seconds);
    }

    #[rstest]
    #[case("days=", Some(30))]
    #[case("", Some(30))]
    #[case("days=0", Some(1))]
    #[case("days=-5", Some(1))]
    #[case("days=91", Some(90))]
    #[case("days=99999999999999999999", Some(90))]
    #[case("days=7", Some(7))]
    #[case("days=x", None)]
    #[case("days=1.5", None)]
    #[case("days[]=1", None)]
    fn days_are_clamped_and_must_be_a_number(#[case] query: &str, #[case] days: Option<i64>) {
        assert_eq!(read_days(&QueryString::parse(query)).ok(), days);
    }
}
