//! The bus: what goes between engine nodes and locations in other places, over NATS JetStream.
//!
//! - [`subjects`] knows every subject, in both directions; [`streams`] the streams and buckets behind them.
//! - [`users`] says what a node, a location and an enrolment may do, as data; [`jwt`] signs it, [`credentials`] keeps it.
//! - [`accounts`] is the wall between the engine's account and that of the locations; [`installation`] writes it, with
//!   [`certificates`] and [`server_config`], to a folder (`watchkeeper nats-config`).
//! - [`connection`] is a connection that comes back by itself and says how it is.
//! - [`definitions`] delivers to a location what it has to check; [`sealing`] keeps it for that location alone.
//! - [`messages`] is what goes over it, and how it is read: strictly, for it may come from anybody who holds a location's key.
//! - [`leases`] says which engine nodes live, and who owns which partition; [`peers`] lets them ask each other.
//! - [`definition_bucket`] is where engine nodes write definitions; [`result_stream`] brings results; [`requests`] and
//!   [`reports`] are all that goes without JetStream.
//!
//! Without `nats_url` nothing of this is used: everything runs in one process. `async_nats` and `nkeys` appear here alone.

pub mod accounts;
pub mod certificates;
pub mod connection;
pub mod credentials;
pub mod definition_bucket;
pub mod definitions;
pub mod installation;
pub mod jwt;
pub mod lease_value;
pub mod leases;
pub mod messages;
pub mod peers;
pub(crate) mod private_files;
pub mod reports;
pub mod requests;
pub mod result_stream;
pub mod sealing;
pub mod server_config;
pub mod streams;
pub mod subjects;
pub mod users;
