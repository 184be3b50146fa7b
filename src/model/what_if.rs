//! What would have been: stored results of a service, decided once more by other settings and another policy.
//!
//! - `witness`: what a location says when it is asked at a moment of the past
//! - `replay`: the watch of the engine on virtual time, with witnesses in the place of locations
//! - `incidents`: the incidents that its status changes would have opened
//! - `difference`: how long two accounts of the same time do not agree
//!
//! Nothing decides here: that do `model::watch` and `model::outage`, as in the engine. What no result tells is not made up:
//! services that it depends on or is grouped with, locations that were set aside, targets that were never asked.

mod difference;
mod incidents;
mod replay;
#[cfg(test)]
mod tests;
mod witness;

pub use crate::model::what_if::difference::{Comparison, compare};
pub use crate::model::what_if::incidents::{Case, WouldBe};
pub use crate::model::what_if::replay::{Break, Known, Replay, Replayed, Told, TooManyLooks};
pub use crate::model::what_if::witness::{Rhythm, Seen};
