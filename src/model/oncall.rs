//! On call: the contacts on duty at each time.
//!
//! - `schedule`: layers of rotations in a time zone, and what takes precedence over them
//! - `roster`: the resulting shifts, and the uncovered periods
//! - `duty_status`: the contact on duty now, and the next one
//! - `entry`: overrides and absences as clients create them
//! - `cover`: requests to be covered by others
//!
//! A later layer takes precedence over an earlier one, an override over all layers, a newer override over an older
//! one. An absent contact is on duty nowhere: the layer below takes over, and without one the period is
//! uncovered.

pub mod cover;
pub mod duty_status;
pub mod entry;
pub mod roster;
pub mod schedule;
