//! Recording: facts of the engine become rows, in batches; rows become blocks, which are dropped after their retention; at
//! the start the engine is restored from the history.
//!
//! - [`recorder`]: the actor that keeps facts until they are stored, one batch at a time; [`history_writer`] stores
//!   them.
//! - [`compaction`]: the actor that seals rows into blocks, merges blocks, and drops blocks after their retention.
//! - [`fence`]: refuses facts of services that other nodes have taken over.
//! - [`import`]: results of other tools.
//! - [`gap_filling`]: results that arrive late turn a no-data period into measured time.
//! - [`spool`]: facts on disk, beyond the memory limit, while the database is unavailable.
//! - [`upkeep`]: background work on the main database.
//! - [`restore`]: resumes running actors from the stored services and their history.
//!
//! Functions that use a database fail when it does; `# Errors` sections say what has been done by then.

pub mod compaction;
pub mod fence;
pub mod gap_filling;
pub mod history_writer;
pub mod import;
pub mod listening_marks;
pub mod recorder;
pub mod restore;
pub mod spool;
mod status_sweep;
pub mod upkeep;
