//! Measurements: written in batches, later sealed into blocks, and read by service and time.
//!
//! New results are rows of the history database. Older ones are stored in segments, compressed, together with rollups
//! ([`segments`]). Readers see both as one ([`HistorySnapshot`]). The meaning of figures is decided by `stats`.
//!
//! Functions fail with [`HistoryError`](crate::store::HistoryError) when the database fails, or when a row or block cannot
//! be read.

pub mod append;
pub mod blocks;
pub mod changes;
pub mod checks;
pub mod days;
pub mod erase;
pub mod feed;
pub mod figure_parts;
pub mod fresh_checks;
pub mod holds;
mod insert;
mod key_parameters;
mod late_results;
pub mod locations;
pub mod many_changes;
pub mod newest;
pub mod progress;
pub mod recent;
pub mod samples;
pub mod sealed;
pub mod segments;
mod view;
pub mod votes;

pub use segments::folder_lock::lock_segments;
pub use view::{CompactionLock, History, HistorySnapshot};
