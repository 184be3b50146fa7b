//! Watchkeeper checks services from many locations, decides their status, and keeps the whole history.
//!
//! The floors, from the top; a module uses only floors below its own (`tests/tidy.rs` reads the `use` lines):
//!
//! 8. program: [`cli`], the commands; [`mod@doctor`]; [`mod@bench`], which measures the program and, in the same run,
//!    a baseline; [`app`], which builds the floors bottom-up, starts them, and stops them in order
//! 7. interfaces: [`http`], the REST API; [`pages`], public status pages; [`remote`] and [`agent`], remote locations as a node
//!    sees them, and this process as one; [`cluster`], services shared among nodes
//! 6. reactions to what is stored: [`events`], [`incidents`], [`notices`]; [`record`] writes, compacts and restores the history;
//!    [`mod@backup`] copies an installation; [`fleet_view`], the services of an organisation in memory
//! 5. support: [`feed`], status changes in their order; [`notify`], messages to people; [`bus`], NATS; [`timetable`], what is due
//!    by the clock; [`sla_reports`] and [`history_figures`], figures from the history; [`mod@certificates`], TLS certificates of
//!    custom domains; [`verdict_texts`], the explanation of a status in words
//! 4. engine: [`engine`], the actors; [`lifecycle`], what follows from a change, in its transaction; [`service_router`], which
//!    applies a stored service where it is owned; [`readiness`]
//! 3. tools: [`probe`], one check, once, over [`egress`], the gate of every outbound connection; [`stats`], uptime and
//!    percentiles; [`store`], rows by sea-orm; [`texts`], sentences for people
//! 2. rules: [`model`], all decisions, without IO; [`supervise`], the one way to start an actor or a task
//! 1. ground: [`clock`], [`id`], [`config`], [`telemetry`]; [`representation`], content as it is sent to many clients
//!
//! Section numbers in comments ("contract 4.10") refer to the contract of the project's API, whose published part is the
//! OpenAPI document at `/docs`; "specification 4.9" to the specification of the product. The project's owners keep both
//! documents outside of this repository.
//!
//! `ARCHITECTURE.md` says where things are and what must stay true, `docs/glossary.md` what the words mean.

#![cfg_attr(
    test,
    allow(
        clippy::too_many_arguments,
        reason = "a row of a parametrised test has as many columns as its table"
    )
)]

pub mod agent;
pub mod app;
pub mod backup;
pub mod bench;
pub mod bus;
pub mod certificates;
pub mod cli;
pub mod clock;
pub mod cluster;
pub mod config;
pub mod console;
pub mod doctor;
pub mod egress;
pub mod engine;
pub mod events;
pub mod feed;
pub mod fleet_view;
pub mod history_figures;
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
pub mod representation;
pub mod service_router;
pub mod sla_reports;
pub mod stats;
pub mod store;
pub mod subscribers;
pub mod supervise;
pub mod telemetry;
pub mod texts;
pub mod timetable;
pub mod verdict_texts;
