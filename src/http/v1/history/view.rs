//! Measurements as clients see them (contract 4.5 to 4.8).

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::openapi::shape::{
    ApiSchema, duration_or_null, enum_of, integer, number, percent_or_null, string, text, timestamp,
};
use crate::http::v1::history::tenths_ms;
use crate::model::check::{CheckStatus, Micros, PhaseTimings};
use crate::model::history::{ChangeCause, MeasuredStatus, StatusChange, StoredCheck};
use crate::stats::rollup::CheckSums;
use crate::stats::uptime::Availability;

/// The `error_code`s of checks, for the API description.
const CODES: &str = "`dns_nxdomain`, `dns_servfail`, `dns_timeout`, `dns_no_records`, `connect_refused`, \
    `connect_timeout`, `connect_reset`, `connect_unreachable`, `tls_expired`, `tls_untrusted`, `tls_hostname`, \
    `tls_handshake`, `http_timeout`, `http_protocol`, `http_redirect_loop`, `icmp_no_reply`, `condition_failed`, \
    `target_blocked`, `heartbeat_missed`, `heartbeat_fail`, `internal`; there may be more in future.";

/// The figures of a range: counts of checks, and statistics of their response times.
#[derive(Serialize, ToSchema)]
#[schema(as = Metrics)]
pub(super) struct MetricsView {
    #[schema(schema_with = uptime, required)]
    uptime: Option<f64>,
    #[schema(schema_with = duration_or_null, required)]
    avg_ms: Option<f64>,
    #[schema(schema_with = duration_or_null, required)]
    p50_ms: Option<f64>,
    #[schema(schema_with = duration_or_null, required)]
    p90_ms: Option<f64>,
    #[schema(schema_with = duration_or_null, required)]
    p95_ms: Option<f64>,
    #[schema(schema_with = duration_or_null, required)]
    p99_ms: Option<f64>,
    #[schema(schema_with = duration_or_null, required)]
    min_ms: Option<f64>,
    #[schema(schema_with = duration_or_null, required)]
    max_ms: Option<f64>,
    #[schema(schema_with = count)]
    total_checks: u64,
    #[schema(schema_with = failed)]
    failed_checks: u64,
}

impl MetricsView {
    /// Creates the view of these sums; `uptime` is in per cent.
    pub(super) fn of(sums: &CheckSums, uptime: Option<f64>) -> Self {
        let summary = sums.times.summary();
        let percentile = |percent| sums.times.percentile_us(percent).map(|us| tenths_ms(f64::from(us)));
        Self {
            uptime,
            avg_ms: summary.map(|times| tenths_ms(times.mean_us())),
            p50_ms: percentile(50.0),
            p90_ms: percentile(90.0),
            p95_ms: percentile(95.0),
            p99_ms: percentile(99.0),
            min_ms: summary.map(|times| tenths_ms(f64::from(times.min_us))),
            max_ms: summary.map(|times| tenths_ms(f64::from(times.max_us))),
            total_checks: sums.checks,
            failed_checks: sums.failed,
        }
    }
}

/// The response times of a bucket.
#[derive(Serialize, ToSchema)]
#[schema(as = ResponseTime)]
pub(super) struct ResponseTimeView {
    #[schema(schema_with = bucket_start)]
    pub(super) timestamp: Timestamp,
    #[schema(schema_with = duration)]
    pub(super) avg_ms: f64,
    #[schema(schema_with = duration)]
    min_ms: f64,
    #[schema(schema_with = duration)]
    pub(super) max_ms: f64,
    #[schema(schema_with = duration, required)]
    p95_ms: Option<f64>,
    #[schema(schema_with = duration, required)]
    p99_ms: Option<f64>,
}

impl ResponseTimeView {
    /// Creates the view of the bucket that starts at `start`; `None` without a successful check.
    pub(super) fn of(start: Timestamp, CheckSums { times, .. }: &CheckSums) -> Option<Self> {
        let summary = times.summary()?;
        let percentile = |percent| times.percentile_us(percent).map(|us| tenths_ms(f64::from(us)));
        Some(Self {
            timestamp: start,
            avg_ms: tenths_ms(summary.mean_us()),
            min_ms: tenths_ms(f64::from(summary.min_us)),
            max_ms: tenths_ms(f64::from(summary.max_us)),
            p95_ms: percentile(95.0),
            p99_ms: percentile(99.0),
        })
    }
}

/// The uptime of a calendar day (UTC).
#[derive(Serialize, ToSchema)]
#[schema(as = UptimeDay)]
pub(super) struct UptimeDayView {
    #[schema(schema_with = date)]
    pub(super) date: String,
    #[schema(schema_with = day_status)]
    pub(super) status: &'static str,
    #[schema(schema_with = day_percent)]
    pub(super) uptime_percent: f64,
    #[schema(schema_with = incidents)]
    pub(super) incidents: usize,
    #[schema(schema_with = downtime)]
    downtime_seconds: i64,
    #[schema(schema_with = unreachable)]
    unreachable_seconds: i64,
    #[schema(schema_with = unmeasured)]
    unmeasured_seconds: i64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UptimeDayFigures {
    /// The measured time, up and down.
    pub(super) measured: Availability,
    /// Number of incidents that were open at some time of the day.
    pub(super) incidents: usize,
    pub(super) unreachable_ms: i64,
    /// Milliseconds of the day that have passed so far.
    pub(super) elapsed_ms: i64,
}

impl UptimeDayView {
    /// Creates the view of the day that starts at `start`.
    pub(super) fn of(start: Timestamp, figures: UptimeDayFigures) -> Self {
        let UptimeDayFigures { measured, incidents, unreachable_ms, elapsed_ms } = figures;
        let unmeasured_ms = elapsed_ms - measured.up_ms - measured.down_ms - unreachable_ms;
        let percent = measured.percent();
        let status = match percent {
            None => "no_data",
            Some(percent) if percent >= 99.9 => "up",
            Some(percent) if percent >= 95.0 => "degraded",
            Some(_) => "down",
        };
        Self {
            date: start.date(),
            status,
            uptime_percent: percent.unwrap_or(0.0),
            incidents,
            downtime_seconds: measured.down_ms / 1_000,
            unreachable_seconds: unreachable_ms / 1_000,
            unmeasured_seconds: unmeasured_ms.max(0) / 1_000,
        }
    }
}

/// A status of a service, with its start and end.
#[derive(Serialize, ToSchema)]
#[schema(as = StatusChange)]
pub(in crate::http::v1) struct StatusChangeView {
    #[schema(schema_with = moment)]
    at: Timestamp,
    #[schema(schema_with = measured_status)]
    from: &'static str,
    #[schema(schema_with = measured_status)]
    to: &'static str,
    #[schema(schema_with = change_cause)]
    cause: &'static str,
    #[schema(schema_with = end_or_null, required)]
    until: Option<Timestamp>,
}

impl StatusChangeView {
    pub(super) const fn of(change: StatusChange, until: Option<Timestamp>) -> Self {
        let StatusChange { at, from, to, cause, .. } = change;
        Self { at, from: from.as_str(), to: to.as_str(), cause: cause.as_str(), until }
    }
}

fn moment() -> ApiSchema {
    string().format("date-time").says("Start of the status.")
}

fn measured_status() -> ApiSchema {
    enum_of(MeasuredStatus::WORDS)
        .says("`no_data`: no check was made; `unknown`: no result yet, or none recently.")
}

fn change_cause() -> ApiSchema {
    enum_of(ChangeCause::WORDS).says("Why it changed; clients must accept more.")
}

fn end_or_null() -> ApiSchema {
    string().format("date-time").nullable().says("End of the status; null for the present one.")
}

/// A finished check.
#[derive(Serialize, ToSchema)]
#[schema(as = Check)]
pub(in crate::http::v1) struct CheckView<'a> {
    #[schema(schema_with = checked_at)]
    checked_at: Timestamp,
    /// Code of the location that made the check.
    probe: &'a str,
    #[schema(schema_with = check_status)]
    status: &'static str,
    #[schema(schema_with = count_or_null, required)]
    response_time_ms: Option<u32>,
    #[schema(schema_with = status_code, required)]
    status_code: Option<u16>,
    #[schema(schema_with = error_message, required)]
    error_message: Option<&'a str>,
    /// Durations of the phases of the check, in milliseconds.
    #[schema(inline)]
    timings: TimingsView,
    #[schema(schema_with = scheduled_at)]
    scheduled_at: Timestamp,
    #[schema(schema_with = attempt)]
    attempt: u8,
    #[schema(schema_with = error_code, required)]
    error_code: Option<&'static str>,
}

/// The phases of a check, in milliseconds.
#[derive(Serialize, ToSchema)]
pub(in crate::http::v1) struct TimingsView {
    #[schema(schema_with = duration_or_null, required)]
    dns: Option<f64>,
    #[schema(schema_with = duration_or_null, required)]
    connect: Option<f64>,
    #[schema(schema_with = duration_or_null, required)]
    tls: Option<f64>,
    #[schema(schema_with = duration_or_null, required)]
    ttfb: Option<f64>,
    #[schema(schema_with = duration_or_null, required)]
    transfer: Option<f64>,
    #[schema(schema_with = duration_or_null, required)]
    total: Option<f64>,
}

impl TimingsView {
    /// Creates the view of the phases of a check.
    pub(in crate::http::v1) fn of(timings: &PhaseTimings) -> Self {
        let milliseconds = |phase: Option<Micros>| phase.map(|phase| f64::from(phase.get()) / 1_000.0);
        Self {
            dns: milliseconds(timings.dns),
            connect: milliseconds(timings.connect),
            tls: milliseconds(timings.tls),
            ttfb: milliseconds(timings.ttfb),
            transfer: milliseconds(timings.transfer),
            total: milliseconds(timings.total),
        }
    }
}

impl<'a> CheckView<'a> {
    /// Creates the view of a stored check.
    pub(in crate::http::v1) fn of(check: &'a StoredCheck) -> Self {
        let seen = &check.measurement;
        let failure = seen.failure.as_deref();
        Self {
            checked_at: check.checked_at,
            probe: &check.probe,
            status: seen.status.as_str(),
            response_time_ms: seen.response_time.map(whole_ms),
            status_code: seen.status_code,
            error_message: failure.map(|failure| failure.message.as_ref()),
            timings: TimingsView::of(&seen.timings),
            scheduled_at: check.scheduled_at,
            attempt: check.attempt,
            error_code: failure.map(|failure| failure.code.as_str()),
        }
    }
}

/// Converts to whole milliseconds, rounded; at least 1, because a measured time is never zero.
pub(in crate::http::v1) fn whole_ms(phase: Micros) -> u32 {
    (phase.get().saturating_add(500) / 1_000).max(1)
}

fn uptime() -> ApiSchema {
    percent_or_null().says("Percent.")
}

fn count() -> ApiSchema {
    integer().at_least(0)
}

fn count_or_null() -> ApiSchema {
    count().nullable()
}

fn failed() -> ApiSchema {
    count().says("Checks with the status `down`.")
}

fn bucket_start() -> ApiSchema {
    timestamp().says("Start of the bucket.")
}

fn duration() -> ApiSchema {
    number().at_least(0)
}

fn date() -> ApiSchema {
    string().format("date")
}

fn day_status() -> ApiSchema {
    enum_of(&["up", "degraded", "down", "no_data"])
}

fn day_percent() -> ApiSchema {
    number().percent().says("0 on days without data: never average over it.")
}

fn incidents() -> ApiSchema {
    count().says("Incidents that were open on that day.")
}

fn downtime() -> ApiSchema {
    integer().range(0, 86_400)
}

fn unmeasured() -> ApiSchema {
    integer().range(0, 86_400).says(
        "Time of the day, until now, without data or excluded: no checks, a pause, or planned maintenance. \
         `uptime_percent` covers the rest.",
    )
}

fn unreachable() -> ApiSchema {
    integer()
        .range(0, 86_400)
        .says("Time that is excluded because something that the service depends on was down.")
}

fn checked_at() -> ApiSchema {
    timestamp().says("Start of the check.")
}

fn check_status() -> ApiSchema {
    enum_of(&[CheckStatus::Up, CheckStatus::Down, CheckStatus::Degraded].map(CheckStatus::as_str))
}

fn status_code() -> ApiSchema {
    integer().nullable().says("Of HTTP checks.")
}

fn error_message() -> ApiSchema {
    text(0, 500).nullable()
}

fn scheduled_at() -> ApiSchema {
    timestamp().says("When the check was due.")
}

fn attempt() -> ApiSchema {
    integer().range(1, 6).says("The attempt that decided.")
}

fn error_code() -> ApiSchema {
    string().nullable().says(CODES)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::http::kit::view::to_json;
    use crate::model::history::CheckSample;

    #[test]
    fn without_data_figures_are_null_and_counts_zero() {
        let data = to_json(&MetricsView::of(&CheckSums::default(), None));
        assert!(
            ["uptime", "avg_ms", "p50_ms", "p99_ms", "min_ms", "max_ms"]
                .iter()
                .all(|key| data[key].is_null())
        );
        assert_eq!((&data["total_checks"], &data["failed_checks"]), (&json!(0), &json!(0)));
    }

    #[test]
    fn unanswered_checks_count_but_have_no_time() {
        let mut sums = CheckSums::default();
        for (response_us, is_down) in [(Some(10_040), false), (None, true)] {
            let checked_at = Timestamp::from_ms(0);
            sums.add_sample(&CheckSample { checked_at, location: 1, is_down, response_us });
        }
        let data = to_json(&MetricsView::of(&sums, Some(50.0)));
        assert_eq!(data["avg_ms"], json!(10.0));
        assert_eq!((&data["total_checks"], &data["failed_checks"]), (&json!(2), &json!(1)));
        assert_eq!(data["uptime"], json!(50.0));
    }
}
