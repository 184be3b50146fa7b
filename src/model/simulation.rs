//! Simulation: stored results of a service, judged again by other settings and another policy.
//!
//! - `recorded_location`: the result of a location at a moment of the past
//! - `replay`: the watch of the engine on virtual time, with stored results in the place of locations
//! - `incidents`: the incidents that its status changes would have opened
//! - `status_comparison`: the time in which two simulated periods differ
//!
//! All decisions are made by `model::watch` and `model::outage`, as in the engine. Facts without stored results are
//! not simulated: dependencies and grouping with other services, locations that were set aside, targets that were
//! never checked.

mod incidents;
mod recorded_location;
mod replay;
mod status_comparison;
#[cfg(test)]
mod tests;

pub use crate::model::simulation::incidents::{HypotheticalIncident, IncidentSimulation};
pub use crate::model::simulation::recorded_location::{RecordedCadence, RecordedCheck};
pub use crate::model::simulation::replay::{
    CheckReplay, HistoryBreak, PriorStatus, ReplayLimitExceeded, ReplayOutcome, ReplayedChange,
};
pub use crate::model::simulation::status_comparison::{StatusComparison, compare};
