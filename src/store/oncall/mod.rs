//! On call: schedules with their layers, and what takes precedence over them.
//!
//! - `schedules`: schedules, with their layers as JSON (`layers`)
//! - `overrides`, `absences`: for a time, with the filters of their lists in `window`
//! - `cover_requests`: contacts who ask others to take over
//! - `rosters`: everything that decides who is on duty in a stretch of time
//!
//! Every writer holds the lock of the organisation, so that the named contacts stay.
//!
//! Functions fail with [`MainError`](crate::store::MainError) when the database does, or when a row cannot be
//! read.

pub mod absences;
pub mod cover_requests;
mod layers;
pub mod overrides;
pub mod rosters;
pub mod schedules;
pub mod window;
