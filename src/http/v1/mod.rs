//! The resources of `/v1`, one room each: its handlers, how it reads a body (`draft`), how it shows itself (`view`), and its
//! chapter of the description (`openapi`).
//!
//! [`routes`] is the whole API on one page.

pub mod api;
pub mod assets;
pub mod check_types;
mod components;
mod custom_domains;
mod history;
mod incidents;
mod maintenances;
mod me;
pub mod openapi;
mod probes;
mod reference;
pub mod routes;
pub mod services;
mod statuspages;
mod tags;
