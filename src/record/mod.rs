//! Recording: facts of the engine become rows, in batches; rows become blocks, and are dropped in the end; and at start the
//! history tells the engine where it stopped.
//!
//! - [`recorder`]: the actor that keeps facts until they are stored, one batch at a time; [`history_writer`] stores them.
//! - [`compaction`]: the actor that seals rows into blocks, merges blocks and drops what has been kept long enough.
//! - [`fence`]: what a node may still write when others have taken its services.
//! - [`import`]: results of other tools.
//! - [`filling`]: results that come late make a gap measured time.
//! - [`spool`]: what memory does not hold while the database is away.
//! - [`upkeep`]: background work on the main database.
//! - [`restore`]: from the stored services and their history back to running actors.

pub mod compaction;
pub mod fence;
pub mod filling;
pub mod history_writer;
pub mod import;
pub mod listening_marks;
pub mod recorder;
pub mod restore;
pub mod spool;
mod sweep;
pub mod upkeep;
