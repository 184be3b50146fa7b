//! On call: the contacts on duty at each time.
//!
//! - `schedule`: layers of rotations in a time zone, overrides and absences
//! - `roster`: the resulting shifts, and the uncovered periods
//! - `duty_status`: the contact who is on duty now, and the next shift
//! - `entry`: overrides and absences as they are stored for clients
//! - `cover`: requests to other contacts to take over
//!
//! A later layer takes precedence over an earlier one, an override over all layers, a newer override over an older one. An
//! absent contact is never on duty: the next lower layer takes over; if there is none, the period is uncovered.

pub mod cover;
pub mod duty_status;
pub mod entry;
pub mod roster;
pub mod schedule;
