//! Watchkeeper monitors services from many locations, decides honestly whether they are up, and keeps the whole history.
//!
//! The layers, from the top; a module uses only layers below its own (`tests/tidy.rs` reads the `use` lines):
//!
//! - [`cli`]: the commands
//! - [`mod@bench`]: benchmarks of the program, each beside a baseline of the same run
//! - [`app`]: builds the layers bottom-up, starts them, and stops them in order
//! - [`remote`] (remote locations, on the side of an engine node), [`agent`] (this process as a remote location)
//! - [`http`] (the REST API), [`pages`] (public status pages), [`record`] (batched writes, compaction and restore of
//!   measurements), [`timetable`] (time-based transitions), [`bus`] (communication between processes), [`notify`] (notifications)
//! - [`incidents`]: automatic incidents from outages, over [`feed`]: the status changes in order; [`notices`]: events that are
//!   no incidents; [`mod@backup`]: backup and restore; [`sla_reports`]: the report of an SLA target's period
//! - [`announcer`]: applies a stored service to the engine; [`readiness`]: the health of the process
//! - [`engine`]: the actors, which keep schedule, retries and verdicts
//! - [`probe`] (one check, once) over [`egress`] (the gate of every connection), [`stats`] (uptime, percentiles), [`store`]
//!   (sea-orm)
//! - [`texts`]: texts of the engine for people, in their languages
//! - [`model`]: the rules, without IO, async or a wire format
//! - [`supervise`]: the one way to start an actor or a background task
//! - [`clock`], [`id`], [`config`], [`telemetry`]
//!
//! `ARCHITECTURE.md` describes the content of each folder and the invariants, and has the glossary.

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
