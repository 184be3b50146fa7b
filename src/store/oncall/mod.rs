//! On call: schedules with their layers, and the overrides, absences and cover requests on top of them.
//!
//! - `schedules`: schedules, with their layers as JSON (`layers`)
//! - `overrides`, `absences`: exceptions for a time range; the filter for their lists is in `window`
//! - `cover_requests`: requests of contacts that others take over
//! - `rosters`: everything that decides who is on duty in a time range
//!
//! Every writer holds the lock of the organisation, so that the contacts that it names are not deleted meanwhile.
//!
//! Functions fail with [`MainError`](crate::store::MainError) when the database fails, or when a row cannot be read.

pub mod absences;
pub mod cover_requests;
mod layers;
pub mod overrides;
pub mod rosters;
pub mod schedules;
pub mod window;
