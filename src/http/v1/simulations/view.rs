//! A simulation as clients see it.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::openapi::shape::{
    ApiSchema, duration_or_null, enum_of, number, percent_or_null, timestamp, timestamp_or_null,
};
use crate::http::v1::simulations::simulated_period::{ReplayedLocation, SimulatedPeriod, SimulationResult};
use crate::model::history::{ChangeCause, MeasuredStatus, StatusChange};
use crate::model::incident::Severity;
use crate::model::simulation::{HypotheticalIncident, StatusComparison};
use crate::model::time_range::TimeRange;

/// Maximum number of status changes listed per period.
const CHANGES_MAX: usize = 5_000;

/// A period as recorded and as simulated.
#[derive(Serialize, ToSchema)]
pub(super) struct SimulationView<'a> {
    #[schema(inline)]
    period: TimeRangeView,
    /// Number of results that were read, including some from before the period.
    #[schema(minimum = 0)]
    results: usize,
    #[schema(inline)]
    locations: Vec<SimulatedLocationView<'a>>,
    #[schema(inline)]
    before: SimulatedPeriodView,
    #[schema(inline)]
    after: SimulatedPeriodView,
    #[schema(inline)]
    fidelity: FidelityView,
}

/// The simulated period. It starts later than requested if no earlier results are stored or shown.
#[derive(Serialize, ToSchema)]
struct TimeRangeView {
    #[schema(schema_with = timestamp)]
    from: Timestamp,
    #[schema(schema_with = timestamp)]
    to: Timestamp,
}

/// A location that made checks, or would have made some.
#[derive(Serialize, ToSchema)]
struct SimulatedLocationView<'a> {
    /// Code of the location.
    code: &'a str,
    /// Number of the location's results that were read; without results it has no vote.
    #[schema(minimum = 0)]
    results: usize,
    /// False if the location made checks, but is not part of the simulation.
    used: bool,
}

/// A period, as recorded or as simulated.
#[derive(Serialize, ToSchema)]
struct SimulatedPeriodView {
    #[schema(schema_with = status)]
    status_at_start: &'static str,
    /// The status changes in order of time; only the first 5,000 are listed.
    #[schema(inline)]
    status_changes: Vec<ChangeView>,
    #[schema(inline)]
    incidents: Vec<SimulatedIncidentView>,
    /// Number of status changes to `down`.
    #[schema(minimum = 0)]
    outages: usize,
    #[schema(schema_with = uptime, required)]
    uptime_percentage: Option<f64>,
    #[schema(schema_with = seconds)]
    down_seconds: f64,
    #[schema(schema_with = seconds)]
    degraded_seconds: f64,
    #[schema(schema_with = seconds)]
    no_data_seconds: f64,
    #[schema(schema_with = left_out)]
    left_out_seconds: f64,
    #[schema(schema_with = detection, required)]
    detection_seconds: Option<f64>,
}

/// A change of the measured status. With the causes `flapping` and `settled` the status stays the same.
#[derive(Serialize, ToSchema)]
struct ChangeView {
    #[schema(schema_with = timestamp)]
    at: Timestamp,
    #[schema(schema_with = status)]
    from: &'static str,
    #[schema(schema_with = status)]
    to: &'static str,
    #[schema(schema_with = cause)]
    cause: &'static str,
}

/// An incident that the engine opened, or would have opened.
#[derive(Serialize, ToSchema)]
struct SimulatedIncidentView {
    #[schema(schema_with = timestamp)]
    started_at: Timestamp,
    #[schema(schema_with = timestamp)]
    opened_at: Timestamp,
    #[schema(schema_with = resolved_at, required)]
    resolved_at: Option<Timestamp>,
    #[schema(schema_with = severity)]
    severity: &'static str,
}

/// Reliability of the simulation: a replay with the present settings, compared to the recorded status.
#[derive(Serialize, ToSchema)]
struct FidelityView {
    #[schema(schema_with = differing)]
    differing_seconds: f64,
    #[schema(schema_with = agreement, required)]
    agreement_percentage: Option<f64>,
}

impl<'a> SimulationView<'a> {
    /// Creates the view of a result.
    pub(super) fn of(accounts: &'a SimulationResult) -> Self {
        let TimeRange { from, to } = accounts.period;
        let StatusComparison { differing_ms, known_ms } = accounts.fidelity;
        Self {
            period: TimeRangeView { from, to },
            results: accounts.locations.iter().map(|location| location.results).sum(),
            locations: accounts.locations.iter().map(SimulatedLocationView::of).collect(),
            before: SimulatedPeriodView::of(&accounts.before),
            after: SimulatedPeriodView::of(&accounts.after),
            fidelity: FidelityView {
                differing_seconds: in_seconds(differing_ms),
                agreement_percentage: (known_ms > 0).then(|| percent(known_ms - differing_ms, known_ms)),
            },
        }
    }
}

impl<'a> SimulatedLocationView<'a> {
    fn of(location: &'a ReplayedLocation) -> Self {
        Self { code: &location.code, results: location.results, used: location.is_used }
    }
}

impl SimulatedPeriodView {
    fn of(account: &SimulatedPeriod) -> Self {
        let is_outage =
            |change: &&StatusChange| change.to == MeasuredStatus::Down && change.from != MeasuredStatus::Down;
        Self {
            status_at_start: account.began_as.as_str(),
            status_changes: account.changes.iter().take(CHANGES_MAX).map(ChangeView::of).collect(),
            incidents: account.incidents.iter().map(SimulatedIncidentView::of).collect(),
            outages: account.changes.iter().filter(is_outage).count(),
            uptime_percentage: account.times.uptime,
            down_seconds: in_seconds(account.times.down),
            degraded_seconds: in_seconds(account.times.degraded),
            no_data_seconds: in_seconds(account.times.no_data),
            left_out_seconds: in_seconds(account.times.left_out),
            detection_seconds: detection_ms(&account.incidents).map(in_seconds),
        }
    }
}

impl ChangeView {
    fn of(change: &StatusChange) -> Self {
        let StatusChange { at, from, to, cause, .. } = *change;
        Self { at, from: from.as_str(), to: to.as_str(), cause: cause.as_str() }
    }
}

impl SimulatedIncidentView {
    fn of(incident: &HypotheticalIncident) -> Self {
        let HypotheticalIncident { severity, started_at, opened_at, resolved_at } = *incident;
        Self { started_at, opened_at, resolved_at, severity: severity.as_str() }
    }
}

/// Returns the mean time from the start of an outage to its incident in milliseconds; `None` without incidents.
fn detection_ms(incidents: &[HypotheticalIncident]) -> Option<i64> {
    let waits = incidents.iter().map(|incident| incident.opened_at.ms_since(incident.started_at));
    waits.sum::<i64>().checked_div(i64::try_from(incidents.len()).unwrap_or(i64::MAX))
}

#[expect(clippy::cast_precision_loss, reason = "a period is a few billion milliseconds")]
fn in_seconds(ms: i64) -> f64 {
    ms as f64 / 1_000.0
}

/// Returns a percentage, cut to three decimals instead of rounded.
fn percent(part: i64, whole: i64) -> f64 {
    in_seconds(part.max(0) * 100_000 / whole)
}

fn status() -> ApiSchema {
    enum_of(MeasuredStatus::WORDS)
}

fn cause() -> ApiSchema {
    enum_of(ChangeCause::WORDS)
}

fn uptime() -> ApiSchema {
    percent_or_null().says("Null when nothing was measured. Counted as the uptime of the service is.")
}

fn seconds() -> ApiSchema {
    number().at_least(0)
}

fn left_out() -> ApiSchema {
    seconds().says("Pauses, planned work, status overrides, and time in which the service was unreachable.")
}

fn detection() -> ApiSchema {
    duration_or_null()
        .says("Mean seconds from the start of an outage to its incident; null without incidents.")
}

fn resolved_at() -> ApiSchema {
    timestamp_or_null().says("Null while it is open.")
}

fn severity() -> ApiSchema {
    enum_of(Severity::WORDS)
}

fn differing() -> ApiSchema {
    seconds().says("Seconds in which a replay with the present settings differs from the recorded status.")
}

fn agreement() -> ApiSchema {
    percent_or_null()
        .says("Share of the time in which either of them has a status; null when neither has one.")
}
