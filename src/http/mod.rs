//! The REST API: the only floor that knows actix-web and the JSON shapes of the contract. It has storeys:
//!
//! - [`kit`] knows no resource: bodies, fields, rules, pages, errors, replies;
//! - [`gate`] lets a request in: who asks, how often, may they, was it sent before; it is generic over what stands behind it;
//! - [`openapi`] turns what resources say of themselves into the API's description;
//! - [`v1`] holds the resources, one room each, and the route table;
//! - `outside` answers the paths without a token;
//! - [`description`] puts the chapters of all of them together, and [`server`] listens.
//!
//! Handlers parse, call `store` and `engine`, and render; rules live in `model`, measurements in `record`.

pub mod description;
pub mod gate;
pub mod kit;
pub mod listeners;
pub mod openapi;
mod outside;
pub mod server;
pub mod v1;
