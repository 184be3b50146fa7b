//! Backups of an embedded installation: created from a running or stopped one, verified, and restored.
//!
//! - **Content**: the main database, the spool, the rows of the history and its segment files, the secret key. They are copied
//!   in this order, so that no acknowledged result is missing or counted twice: if the history is later than the main database,
//!   the consequences of its status changes are derived again; a result in both the spool and the history is stored once.
//! - **Segment files do not change** during the copy: the compaction and a backup use the same lock.
//! - **Keys are not reused.** Objects created after the copy of the main database may have results in the history, so the
//!   copy never assigns a key that was assigned in the original until then.
//! - **The manifest** is written last: a folder without a manifest is not a backup. It lists every file with its size and
//!   SHA-256, the schema versions, and the number of rows of each table.
//! - **A restored installation sends no notification** before an operator permits it: the original may still run
//!   ([`message_hold`](crate::notify::message_hold)).

mod archive;
mod creation;
mod error;
mod files;
mod folder_name;
mod manifest;
mod progress;
mod restoration;
mod schedule;
mod state;
mod verification;

pub use creation::{BackupOrder, KeyChoice, make, require_target_name};
pub use error::BackupError;
pub use files::BackupFile;
pub use manifest::BackupManifest;
pub use progress::FileProgress;
pub use restoration::restore;
pub use schedule::{BackupSchedule, FinishedBackup, finished_backups, newest_backup};
pub use state::{BackupProgress, BackupState, FailedBackup, RequestError};
pub use verification::verify;
