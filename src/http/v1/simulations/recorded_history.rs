//! The recorded past of a service: results, status changes, windows, incidents.
//!
//! Results are read page by page, and only the parts that decide are kept in memory: [`RESULTS_MAX`] results take at most 20
//! MB.

use std::collections::BTreeMap;

use crate::clock::Timestamp;
use crate::http::gate::auth::Caller;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::rule::FieldRule;
use crate::http::v1::simulations::draft::SimulationRequest;
use crate::http::v1::state::AppState;
use crate::model::history::{StatusChange, StoredCheck};
use crate::model::service::{Service, ServiceKey};
use crate::model::service_window::ServiceWindow;
use crate::model::simulation::{HypotheticalIncident, RecordedCheck};
use crate::model::time_range::TimeRange;
use crate::store::history::changes;
use crate::store::history::checks::{CheckFilter, CheckPosition, page};
use crate::store::incidents::list;
use crate::store::windows;

/// Maximum number of results of one simulation.
const RESULTS_MAX: usize = 500_000;
/// Number of results per read.
const PAGE: u64 = 2_000;

/// The recorded past of a service.
pub(super) struct RecordedHistory {
    pub(super) service: ServiceKey,
    /// Results by location code, oldest first.
    pub(super) seen: BTreeMap<String, Vec<RecordedCheck>>,
    /// Status changes since the origin, preceded by the last change before it.
    pub(super) changes: Vec<StatusChange>,
    /// Starts and ends of flapping in the period.
    pub(super) flapping: Vec<StatusChange>,
    /// Time windows of the service, such as pauses, maintenances and unreachable periods.
    pub(super) windows: Vec<ServiceWindow>,
    /// Incidents opened by the engine.
    pub(super) incidents: Vec<HypotheticalIncident>,
    /// Time until which results confirm the present status.
    pub(super) backed_until: Timestamp,
}

impl RecordedHistory {
    pub(super) async fn read(
        state: &AppState,
        caller: &Caller,
        service: &Service,
        question: &SimulationRequest,
    ) -> Result<Self, ApiError> {
        let (history, main) = (state.databases.history.reader(), state.databases.main.reader());
        let SimulationRequest { period, origin, .. } = *question;
        let played = TimeRange { from: origin, to: period.to };
        let opened = list::opened_by_engine(main, caller.visibility(), service.key, period).await?;
        let snapshots = state.snapshots(std::slice::from_ref(service)).await?;
        let backed_until = snapshots.first().and_then(|snapshot| snapshot.measured_until);
        Ok(Self {
            service: service.key,
            seen: results(state, service.key, played).await?,
            changes: changes::since(history, service.key, origin).await?,
            flapping: changes::of_flapping(history, service.key, period).await?,
            windows: windows::since(main, &[service.key], origin).await?,
            incidents: opened.iter().map(to_recorded_incident).collect(),
            backed_until: backed_until.unwrap_or(origin),
        })
    }
}

fn to_recorded_incident(incident: &crate::model::incident::Incident) -> HypotheticalIncident {
    HypotheticalIncident {
        severity: incident.severity,
        started_at: incident.started_at,
        opened_at: incident.created_at,
        resolved_at: incident.resolved_at,
    }
}

/// Reads the results of a range, by location.
async fn results(
    state: &AppState,
    service: ServiceKey,
    TimeRange { from, to }: TimeRange,
) -> Result<BTreeMap<String, Vec<RecordedCheck>>, ApiError> {
    let mut filter = CheckFilter { from: Some(from), to: Some(to), ..CheckFilter::default() };
    let mut found: BTreeMap<String, Vec<RecordedCheck>> = BTreeMap::new();
    let mut count = 0;
    loop {
        let rows = page(&state.databases.history, service, &filter, PAGE).await?;
        count += rows.len();
        if count > RESULTS_MAX {
            let rule = FieldRule::TooManyResults(RESULTS_MAX);
            return Err(ApiError::Fields(FieldErrors::of("from", rule)));
        }
        for row in &rows {
            if let Some(of_location) = found.get_mut(&row.probe) {
                of_location.push(to_recorded_check(row));
            } else {
                found.insert(row.probe.clone(), vec![to_recorded_check(row)]);
            }
        }
        let is_last = (rows.len() as u64) < PAGE;
        match rows.into_iter().next_back().filter(|_| !is_last) {
            Some(StoredCheck { checked_at, probe, .. }) => {
                filter.before = Some(CheckPosition { checked_at, probe });
            }
            None => break,
        }
    }
    found.values_mut().for_each(|seen| seen.reverse());
    Ok(found)
}

fn to_recorded_check(check: &StoredCheck) -> RecordedCheck {
    let took = check.measurement.timings.total.or(check.measurement.response_time);
    RecordedCheck {
        due_at: check.scheduled_at,
        checked_at: check.checked_at,
        status: check.measurement.status,
        attempt: check.attempt,
        took_ms: took.map_or(0, |took| took.get().div_ceil(1_000)),
    }
}
