//! The rules: what a check, a verdict, a service, a secret and a permission are.
//!
//! No IO, no async, no wire format. Everything here is a plain value with plain methods; whatever needs
//! "now" takes it as an argument.

pub mod access;
pub mod allowance;
pub mod announcement;
pub mod asset;
pub mod automation;
pub mod check;
pub mod component;
pub mod course;
pub mod css;
pub mod dependency;
pub mod domain;
pub mod domain_names;
pub mod email;
pub(crate) mod facts;
pub mod flapping;
pub mod heartbeat;
pub mod history;
pub mod impairment;
pub mod incident;
pub mod incident_news;
pub mod incident_policy;
pub mod language;
pub mod ledger;
pub mod location;
pub mod maintenance;
pub mod node;
pub mod outage;
pub mod partition;
pub mod password;
pub mod period;
pub mod plans;
pub mod recurrence;
pub mod rollup;
pub mod rules;
pub mod schedule;
pub mod secret;
pub mod segment;
pub mod service;
pub mod service_secrets;
pub mod slug;
pub mod status_line;
pub mod statuspage;
pub mod suspicion;
pub mod tag;
pub mod time_range;
pub mod token;
pub mod translated;
pub(crate) mod varint;
pub mod vault;
pub mod verdict;
pub mod watch;
pub mod window;
pub(crate) mod word;
