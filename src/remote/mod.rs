//! Remote locations, on the side of an engine node. The location itself is `agent`; between them is `bus`.
//!
//! - [`enrolment_service`]: enrolment of machines as locations, and renewal of their tokens.
//! - [`location_sync`]: updates the location registry with stored locations while services are watched.
//! - [`distribution`]: sends each location its definitions; [`assignments`] are the services that each location
//!   checks.
//! - [`intake`]: receives results, filtered by [`admission`], and acknowledges them once they are stored.
//! - [`gap_filler`]: turns no-data periods into measured time when late results arrive.
//! - [`check_requests`]: requests to locations for immediate checks.
//! - [`presences`]: reports of locations about themselves; [`clocks`]: the differences of their clocks.
//!
//! A location can harm only itself, whatever it sends: its assignments decide which results are accepted.

pub mod admission;
pub mod assignments;
pub mod check_requests;
pub mod clocks;
pub mod counters;
pub mod distribution;
pub mod enrolment_service;
pub mod gap_filler;
pub mod intake;
pub mod location_sync;
pub mod presences;
