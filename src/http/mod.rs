//! The REST API: the only layer that knows actix-web and the JSON objects of the contract. Its own layers:
//!
//! - [`kit`] does not know any resource: bodies, fields, rules, pages, errors, replies;
//! - [`gate`] admits requests: authentication, rate limit, permissions, idempotency; it is generic over the application
//!   state;
//! - [`openapi`] builds the API's description from the chapters of the resources;
//! - [`v1`] holds the resources, one module each, and the route table;
//! - [`console_entry`] is the way to the console, and from there to the API;
//! - `public_paths` serves the paths that need no token;
//! - [`description`] combines the chapters of all resources, and [`server`] listens.
//!
//! Handlers parse, call `store` and `engine`, and render; rules live in `model`, measurements in `record`.

pub mod console_entry;
pub mod description;
pub mod gate;
pub mod kit;
pub mod listeners;
pub mod openapi;
mod public_paths;
pub mod server;
pub mod v1;
