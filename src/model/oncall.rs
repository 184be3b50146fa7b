//! On call: who is on duty when.
//!
//! - `schedule`: layers of rotations in a time zone, and what stands above them
//! - `roster`: the shifts that follow, and the gaps
//! - `present`: who is on duty now, and who comes next
//! - `entry`: overrides and absences as clients place them
//! - `cover`: requests to be covered by others
//!
//! A later layer stands above an earlier one, an override above all layers, a newer override above an older one. Whoever is
//! absent is on duty in none of them: what stands below takes over, and where nothing does there is a gap.

pub mod cover;
pub mod entry;
pub mod present;
pub mod roster;
pub mod schedule;
