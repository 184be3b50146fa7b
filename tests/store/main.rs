//! The store and what records into it, on SQLite and on a private PostgreSQL: every test runs on both.
//!
//! PostgreSQL is started once from the installed programs, in a temporary folder and on a free port. Without the programs
//! its half says so loudly and passes, unless `WATCHKEEPER_TESTS_REQUIRE_POSTGRES=1`.

#![allow(clippy::unwrap_used, reason = "a helper of a test that meets an error has failed it")]

mod access_scopes;
mod append;
mod certificates;
mod changes;
mod checks;
mod compaction;
mod domain_claims;
mod domains;
mod erase;
mod escalations;
mod events;
mod feed;
mod figures;
mod flapping;
mod fleet_view;
mod heartbeats;
mod held_messages;
mod holds;
mod idempotency_keys;
mod import;
mod incident_excerpts;
mod incidents;
mod installation;
mod linked;
mod listening_spans;
mod maintenance_series;
mod maintenances;
mod merge;
mod migrations;
mod notices;
mod notifications;
mod oncall;
mod organisations;
mod passkeys;
mod promotion;
mod recent;
mod recorder;
mod restore;
mod services;
mod statuspages;
mod subscriber_deliveries;
mod subscriber_facts;
mod support;
mod tags;
mod timetable;
mod tokens;
mod transactions;
mod wall_clock;
mod windows;
