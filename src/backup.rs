//! Backups of an embedded installation: made while it runs or not, checked, and put back.
//!
//! - **What belongs together**: the main database, the spool, the rows of the history and its segment files, the secret key. In
//!   this order they are copied, so that nothing that was acknowledged is missing and nothing counts twice: a history that is
//!   later than the main database shows changes of status whose consequences are drawn once more; a result that is both in the
//!   spool and in the history is stored once.
//! - **Segment files stay as they are** while they are copied: the compaction and a backup wait for the same lock.
//! - **Keys are not given twice.** What was made after the main database was copied may have results in the history; the copy gives
//!   no key that was given by then.
//! - **The manifest** comes last: a folder without one is no backup. It names every file with its size and SHA-256, the steps of
//!   the schemas, and the rows of each table.
//! - **No notification leaves a restored installation** before an operator allows it: the original may be alive ([`message_hold`](crate::notify::message_hold)).

mod archive;
mod error;
mod files;
mod folder_name;
mod making;
mod manifest;
mod progress;
mod restoring;
mod schedule;
mod state;
mod verification;

pub use error::BackupError;
pub use files::BackupFile;
pub use making::{BackupOrder, KeyChoice, make};
pub use manifest::BackupManifest;
pub use progress::Watcher;
pub use restoring::restore;
pub use schedule::{BackupSchedule, FinishedBackup, finished_backups, newest_backup};
pub use state::{BackupProgress, BackupState, FailedBackup, RequestError};
pub use verification::verify;
