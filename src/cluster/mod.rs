//! Several engine nodes share the services: each owns partitions, and all of them answer for all.
//!
//! - [`keeper`] keeps this node's share: it takes what nobody has, and gives back what is too much.
//! - [`handover`] begins and ends the watch of the services of a partition.
//! - [`lease_renewal`] says that this node lives, and [`database_contact`] whether it can write: a node that alone cannot
//!   gives back what it has, and takes nothing.
//! - [`pings`] looks up what others could not tell this node.
//! - [`counters`] are its numbers.
//!
//! The lease says who is to watch a partition, the database who may write of it. A node that cannot reach the bus goes on:
//! nobody else can have taken what it has without the database refusing its next write.

pub mod counters;
pub mod database_contact;
pub mod handover;
pub mod keeper;
pub mod lease_renewal;
pub mod pings;
