//! Simulation: stored results of a service, judged again with other settings and another incident policy.
//!
//! - `recorded_location`: what a location would have answered at a moment of the past
//! - `replay`: the watch of the engine on virtual time, with stored results instead of checks
//! - `incidents`: the incidents that the simulated status changes would have opened
//! - `status_comparison`: for how long two simulated periods differ
//!
//! All decisions are made by `model::watch` and `model::outage`, as in the engine. What is not in stored results is not
//! simulated: grouping with other services, locations whose votes were excluded, and targets that were never checked.

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
