//! Everything that changes incidents, maintenances and notices, with all that follows from a change.
//!
//! - `incidents`: new, changed and deleted incidents
//! - `service_deletion`: what a deleted service leaves of its incidents and maintenances
//! - `maintenances`: maintenances begin, end and are reminded of; `maintenance_series` makes those of series
//! - `notices`: notices begin, become worse and end
//! - `escalation_steps`: a step of an escalation is taken
//! - `digests`: held messages become one message
//! - `audience`: reads who may have to be told
//! - `effects`: carries out what follows
//!
//! Each function reads what it needs, asks a pure function of `model` for the effects, writes the rows and carries the effects
//! out, all in the transaction of its caller, which holds the lock of the organisation. Nothing is decided here, and no SQL is
//! written here.

mod audience;
pub mod digests;
mod effects;
pub mod escalation_steps;
pub mod incidents;
pub mod maintenance_series;
pub mod maintenances;
pub mod notices;
pub mod service_deletion;
