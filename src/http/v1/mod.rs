//! The resources of `/v1`, one module each: its handlers, the reader of its body (`draft`), its JSON (`view`), and its
//! chapter of the API description (`openapi`).
//!
//! [`routes`] lists the whole API.
//!
//! A handler that reads or writes rows fails with 503 when the database cannot be reached, and with 500 on any other
//! database error. Sections `# Errors` name only other statuses.

pub(super) mod access_scopes;
pub(super) mod address_secret;
mod announcement;
pub mod assets;
pub(super) mod audit_log;
pub(super) mod channel_types;
pub mod check_types;
pub(super) mod components;
mod confined_to;
pub(super) mod contacts;
pub mod creation_times;
pub(super) mod custom_domains;
mod engine;
pub(super) mod escalation_policies;
pub(super) mod events;
pub mod figures;
pub(super) mod history;
pub(super) mod incident_policies;
pub(super) mod incidents;
pub(super) mod maintenance_series;
pub(super) mod maintenances;
mod me;
mod named;
pub(super) mod notices;
pub(super) mod notification_channels;
pub(super) mod notifications;
pub(super) mod oncall;
mod probes;
mod quiet_hours;
pub(super) mod reference;
mod resource_lookup;
mod routed_services;
pub mod routes;
pub mod services;
pub(super) mod simulations;
pub(super) mod sla_targets;
pub mod state;
pub(super) mod statuspages;
pub(super) mod subscribers;
pub(super) mod tags;
pub(super) mod tokens;
pub(super) mod trials;
pub(super) mod users;
pub(super) mod wall_keys;
pub(super) mod warnings;
mod weekly_hours;
