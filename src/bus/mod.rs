//! The bus: communication between engine nodes and remote locations, over NATS JetStream.
//!
//! - [`subjects`] has every subject, in both directions; [`streams`] the streams and buckets behind them.
//! - [`users`] has the permissions of nodes, locations and enrolments as data; [`jwt`] signs them, [`credentials`] stores them.
//! - [`accounts`] separates the engine's account from that of the locations; [`installation`] writes it, with
//!   [`certificates`] and [`server_config`], to a folder (`watchkeeper nats-config`).
//! - [`connection`] is a connection that reconnects by itself and reports its state.
//! - [`definitions`] delivers the definitions to a location; [`sealing`] encrypts them for that location only.
//! - [`messages`] are the messages, parsed strictly, since the sender may be anybody with a location's key.
//! - [`leases`] has the living engine nodes and the owner of each partition; [`peers`] are requests between nodes.
//! - [`definition_bucket`] is where engine nodes write definitions; [`result_stream`] transports results; [`requests`] and
//!   [`reports`] are the messages without JetStream.
//!
//! Without `nats_url` none of this is used: everything runs in one process. Only this module uses `async_nats` and `nkeys`.
//!
//! Errors that are not typed are one line of text: sending fails when the connection is closed, a request when
//! JetStream or the server does not answer.

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
