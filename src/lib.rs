//! Watchkeeper watches services from many places, decides honestly whether they are up, and keeps the whole history.
//!
//! The floors, from the top; a module uses only floors below its own (`tests/tidy.rs` reads the `use` lines):
//!
//! - [`cli`]: the commands
//! - [`mod@bench`]: measures the program beside a floor of the same run
//! - [`app`]: builds the floors bottom-up, starts them, and stops them in order
//! - [`remote`] (locations in other places, as an engine node sees them), [`agent`] (this process as such a location)
//! - [`http`] (the REST API), [`pages`] (public status pages), [`record`] (batched writes, compaction and restore of
//!   measurements), [`timetable`] (what happens at its time), [`bus`] (what goes between processes), [`notify`] (who is told)
//! - [`incidents`]: outages become incidents by themselves, over [`feed`]: the status changes in their order; [`notices`]: events
//!   that are no incidents; [`mod@backup`]: copies of an installation, and the way back; [`sla_reports`]: what a period of an SLA target comes to
//! - [`announcer`]: a stored service becomes a running one; [`readiness`]: whether everything answers
//! - [`engine`]: the actors, which keep schedule, retries and verdicts
//! - [`probe`] (one check, once) over [`egress`] (the gate of every connection), [`stats`] (uptime, percentiles), [`store`]
//!   (sea-orm)
//! - [`texts`]: what the engine says to people, in their languages
//! - [`model`]: the rules, without IO, async or a wire format
//! - [`supervise`]: the one way to start an actor or a background task
//! - [`clock`], [`id`], [`config`], [`telemetry`]
//!
//! `ARCHITECTURE.md` says what is in each folder, what must stay true, and what the words mean.

#![cfg_attr(
    test,
    allow(
        clippy::too_many_arguments,
        reason = "a row of a parametrised test has as many columns as its table"
    )
)]

pub mod agent;
pub mod announcer;
pub mod app;
pub mod backup;
pub mod bench;
pub mod bus;
pub mod cli;
pub mod clock;
pub mod cluster;
pub mod config;
pub mod doctor;
pub mod egress;
pub mod engine;
pub mod events;
pub mod feed;
pub mod http;
pub mod id;
pub mod incidents;
pub mod lifecycle;
pub mod model;
pub mod notices;
pub mod notify;
pub mod pages;
pub mod probe;
pub mod readiness;
pub mod record;
pub mod remote;
pub mod sla_reports;
pub mod stats;
pub mod store;
pub mod supervise;
pub mod telemetry;
pub mod texts;
pub mod timetable;
