//! Locations in other places, seen from an engine node. The location itself is `agent`; between them is `bus`.
//!
//! - [`desk`]: machines become locations, and stay it.
//! - [`census`]: which locations there are; the roster grows while services are watched.
//! - [`distribution`]: every location is given what it has to check, and nothing else; [`assignments`] knows what that is.
//! - [`intake`]: results come in, [`admission`] lets them pass, the recorder stores them, and then they are acknowledged.
//! - [`late`]: what came late makes gaps measured time.
//! - [`looks`]: a location is asked to look at once.
//! - [`presences`]: how locations are; [`clocks`]: how their clocks differ.
//!
//! A location harms nobody but itself, whatever it sends: what it is assigned decides what is taken from it.

pub mod admission;
pub mod assignments;
pub mod census;
pub mod clocks;
pub mod counters;
pub mod desk;
pub mod distribution;
pub mod intake;
pub mod late;
pub mod looks;
pub mod presences;
