//! Recording: facts of the engine become rows, in batches; rows become hours; deleted histories are erased; and at start
//! the rows tell the engine where it stopped.
//!
//! - [`recorder`]: the actor that writes. One transaction at a time, everything that waits in it.
//! - [`spool`]: what memory does not hold while the database is away.
//! - [`upkeep`]: background work on the history: deriving finished hours, erasing.
//! - [`recovery`]: services that are up again recover from their incidents.
//! - [`restore`]: from the stored services and their history back to running actors.

pub mod recorder;
pub mod recovery;
pub mod restore;
pub mod spool;
pub mod upkeep;
