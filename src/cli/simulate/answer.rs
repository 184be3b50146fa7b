//! The parts of a simulation's response that are drawn.

use serde::Deserialize;

/// The recorded and the simulated outcome of a period.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct SimulationReply {
    pub(super) period: TimeRangeText,
    pub(super) results: u64,
    pub(super) locations: Vec<LocationResults>,
    pub(super) before: PeriodOutcome,
    pub(super) after: PeriodOutcome,
    pub(super) fidelity: ReplayFidelity,
}

/// Start and end, in the API's time format.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct TimeRangeText {
    pub(super) from: String,
    pub(super) to: String,
}

/// A location of the checks, recorded or simulated.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct LocationResults {
    pub(super) code: String,
    pub(super) results: u64,
    pub(super) used: bool,
}

/// An outcome of the period, recorded or simulated.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct PeriodOutcome {
    pub(super) status_at_start: String,
    pub(super) status_changes: Vec<SimulatedChange>,
    pub(super) incidents: Vec<SimulatedIncident>,
    pub(super) outages: u64,
    pub(super) uptime_percentage: Option<f64>,
    pub(super) down_seconds: f64,
    pub(super) degraded_seconds: f64,
    pub(super) no_data_seconds: f64,
    pub(super) detection_seconds: Option<f64>,
}

/// A change of the status.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct SimulatedChange {
    pub(super) at: String,
    pub(super) to: String,
}

/// An incident; only the number of incidents is drawn.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct SimulatedIncident {}

/// Reliability of the simulation.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ReplayFidelity {
    pub(super) differing_seconds: f64,
    pub(super) agreement_percentage: Option<f64>,
}
