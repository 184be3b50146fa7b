//! Several engine nodes share the services: each owns partitions, and every node answers requests about all of them.
//!
//! - [`keeper`] keeps this node's share: it takes free partitions, and releases those beyond its share.
//! - [`handover`] starts and ends the watch of the services of a partition.
//! - [`lease_renewal`] renews this node's lease, and [`database_contact`] checks that this node can write: a
//!   node that cannot, while others can, releases its partitions, and takes none.
//! - [`pings`] looks up pings that other nodes could not pass on.
//! - [`counters`] are the metrics of a node.
//!
//! The lease decides which node watches a partition, the database which node may write its results. A node that cannot reach
//! the bus continues: no other node can have taken its partitions without the database refusing its next write.

pub mod counters;
pub mod database_contact;
pub mod handover;
pub mod keeper;
pub mod lease_renewal;
pub mod pings;
