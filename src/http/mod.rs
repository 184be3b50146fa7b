//! The REST API (`/v1`): the only floor that knows actix-web and the JSON shapes of the contract.
//!
//! A request passes the gate (who asks, how often, may they), one handler, and out again. Handlers parse, call
//! `store` and `engine`, and render; rules live in `model`, measurements in `record`.

pub mod api;
pub mod assets;
pub mod assignment;
pub mod auth;
pub mod body;
pub mod call;
pub mod check_config;
pub mod check_types;
pub mod client_address;
pub mod conditions;
pub mod cors;
mod custom_domains;
pub mod error;
pub mod field;
pub mod field_errors;
pub mod fields;
pub mod fingerprint;
pub mod gate;
mod history;
pub mod idempotency;
pub mod languages;
pub mod linked;
mod me;
mod operation;
pub mod page;
pub mod path;
pub mod plans;
mod probes;
pub mod query;
pub mod quota;
pub mod rate_limit;
pub mod reply;
pub mod request_id;
pub mod route;
pub mod routes;
pub mod rule;
pub mod secrets;
pub mod server;
pub mod service_json;
mod services;
pub mod settings;
mod statuspages;
pub mod store_access;
pub mod target;
pub mod timestamp;
pub mod token;
pub mod traffic;
pub mod translated;
pub mod vault;
pub mod write;
