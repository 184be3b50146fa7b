//! Every change of incidents, maintenances, notices and claims of host names, with everything that follows from the
//! change.
//!
//! - `incidents`: new, changed and deleted incidents
//! - `service_deletion`: incidents and maintenances of a deleted service
//! - `maintenances`: starts, ends and reminders of maintenances; `maintenance_series` creates those of series
//! - `recoveries`: services recover from open incidents
//! - `notices`: notices start, become worse and end
//! - `escalation_steps`: a step of an escalation is taken; `escalation_policies`: its policy is changed
//! - `clock_setback`: the clock was ahead and is set back
//! - `digests`: held messages become one message
//! - `custom_domains`: a check of a domain's records, which may end the claims of others
//! - `held_messages`: quiet hours or digests are changed while messages are held
//! - `audience`: reads the possible recipients of a message
//! - `effects`: carries out the effects of a change
//!
//! Each function reads what it needs, asks a pure function of `model` for the effects, writes the rows and carries
//! the effects out, all in the transaction of its caller, which holds the lock of the organisation (claims of a host
//! name have a lock of their own). The functions decide nothing and contain no SQL.
//!
//! Functions fail with [`MainError`](crate::store::MainError) when the database does, or when a row cannot be
//! read.

mod audience;
pub mod clock_setback;
pub mod custom_domains;
pub mod digests;
mod effects;
pub mod engine_entries;
pub mod escalation_policies;
pub mod escalation_steps;
pub mod held_messages;
pub mod incidents;
pub mod maintenance_series;
pub mod maintenances;
pub mod notices;
pub mod recoveries;
pub mod service_deletion;
