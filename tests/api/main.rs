//! The API as its clients see it: the real binary, real HTTP, real targets; one file a noun of the API.
//!
//! Each file says first what works, then what is refused. Sections in doc comments are those of the API contract.

#![allow(clippy::unwrap_used, reason = "what a test sets up is expected to work")]

mod assets;
mod auth;
mod check_types;
mod checks;
mod custom_domains;
mod errors;
mod history_away;
mod http_rules;
mod idempotency;
mod me;
mod metrics;
mod operation;
mod pause;
mod plans;
mod probes;
mod public_page;
mod rate_limit;
mod secrets;
mod services;
mod settings;
mod status_override;
mod support;
mod tenants;
