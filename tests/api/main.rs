//! The API as its clients see it: the real binary, real HTTP, real targets; one file a noun of the API.
//!
//! Each file says first what works, then what is refused. Sections in doc comments are those of the API contract. All of it
//! runs on the embedded databases, and with `WATCHKEEPER_TESTS_DATABASE=postgres` on PostgreSQL; a test of what is true on
//! one of them alone starts its server there.

#![allow(clippy::unwrap_used, reason = "what a test sets up is expected to work")]

mod abandoned;
mod access_scopes;
mod assets;
mod auth;
mod automatic_incidents;
mod blocked_database;
mod check_types;
mod checks;
mod clients;
mod component_tree;
mod components;
mod custom_domains;
mod dependencies;
mod edges;
mod effective_status;
mod empty_lists;
mod engine_view;
mod errors;
mod events;
mod foreign_ids;
mod heartbeat;
mod history_away;
mod history_depth;
mod http_rules;
mod idempotency;
mod import;
mod incident_access;
mod incident_acknowledgement;
mod incident_changes;
mod incident_course;
mod incident_filters;
mod incident_languages;
mod incident_pages;
mod incident_policies;
mod incident_races;
mod incident_random;
mod incident_timeline;
mod incidents;
mod kept_reads;
mod main_away;
mod maintenance_access;
mod maintenance_effects;
mod maintenance_filters;
mod maintenance_series;
mod maintenance_states;
mod maintenances;
mod me;
mod metrics;
mod openapi;
mod operation;
mod pause;
mod permission_matrix;
mod plans;
mod probes;
mod public_page;
mod rate_limit;
mod request_bodies;
mod scoped_random;
mod scoped_tokens;
mod scoped_writes;
mod sealed_figures;
mod secrets;
mod service_incidents;
mod service_tags;
mod services;
mod settings;
mod simulate;
mod status_command;
mod status_override;
mod statuspage_fields;
mod statuspage_publishing;
mod statuspages;
mod support;
mod synced_groups;
mod tags;
mod tenants;
mod verdicts;
mod watchdog;
mod wire_bytes;
mod write_races;
