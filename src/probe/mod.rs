//! One check, once: `run(&CheckSpec, &Toolbox) -> Outcome`.
//!
//! A probe is a function. It never returns an error: a failing target is an `Outcome`. It keeps no schedule, retries
//! nothing and stores nothing.

pub mod catalogue;
pub mod condition;
pub mod endpoint;
pub mod spec;
