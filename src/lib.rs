//! Watchkeeper watches services from many places, decides honestly whether they are up, and keeps the whole history.
//!
//! The floors; a module uses only floors below its own (`tests/tidy.rs` reads the `use` lines):
//!
//! - floor 5: [`http`] (the REST API), [`pages`] (public status pages), [`record`] (batched writes of measurements),
//!   [`timetable`] (what happens at its time)
//! - floor 4: [`announcer`] (a stored service becomes a running one)
//! - floor 3: [`engine`] (actors: schedule, retries, verdicts)
//! - floor 2: [`probe`] (one check, once) over [`egress`], [`stats`] (uptime, percentiles), [`store`] (sea-orm)
//! - floor 1: [`model`] (the rules: no IO, no async, no wire format)
//! - floor 0: [`clock`], [`id`], [`config`]
//!
//! [`app`] builds them bottom-up and stops them in order; [`mod@bench`] measures them and [`cli`] offers both as commands.

#![cfg_attr(
    test,
    allow(
        clippy::too_many_arguments,
        reason = "a row of a parametrised test has as many columns as its table"
    )
)]

pub mod announcer;
pub mod app;
pub mod bench;
pub mod cli;
pub mod clock;
pub mod config;
pub mod egress;
pub mod engine;
pub mod http;
pub mod id;
pub mod model;
pub mod pages;
pub mod probe;
pub mod record;
pub mod stats;
pub mod store;
pub mod telemetry;
pub mod timetable;
