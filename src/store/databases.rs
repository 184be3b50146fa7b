//! The two databases of an installation: opening and migrating them.

use sea_orm::DbErr;
use watchkeeper_migration::{HistoryMigrator, MainMigrator};

use crate::config::limits::StoreLimits;
use crate::store::database::Database;
use crate::store::error::MainError;
use crate::store::file_contents::FileContents;
use crate::store::file_copy::FileKind;
use crate::store::history::History;
use crate::store::open_error::OpenError;
use crate::store::{unfinished, upgrade_copy};

/// The two databases of an installation.
#[derive(Clone, Debug)]
pub struct Databases {
    /// The main database: organisations, tokens, services and other configuration, incidents, maintenances.
    pub main: Database<MainError>,
    /// The history database: measurements and status changes.
    pub history: History,
}

impl Databases {
    /// Opens both databases and migrates their schemas.
    ///
    /// # Errors
    ///
    /// [`OpenError`], which names the database that cannot be used.
    pub async fn open(main_url: &str, history_url: &str, limits: &StoreLimits) -> Result<Self, OpenError> {
        let databases = Self::open_main(main_url, history_url, limits).await?;
        databases.prepare_history().await?;
        Ok(databases)
    }

    /// Like `Self::open`, but a history on PostgreSQL may be unavailable; in this case [`Self::prepare_history`] must be
    /// called later.
    ///
    /// # Errors
    ///
    /// [`OpenError`], which names the database that cannot be used.
    pub async fn open_without_waiting(
        main_url: &str,
        history_url: &str,
        limits: &StoreLimits,
    ) -> Result<Self, OpenError> {
        let databases = Self::open_main(main_url, history_url, limits).await?;
        match databases.prepare_history().await {
            Err(error) if error.is_away() => {
                tracing::error!(%error, "history database unavailable; checks continue, and results wait");
            }
            prepared => prepared?,
        }
        Ok(databases)
    }

    /// Checks that no file of a SQLite database has been removed or replaced since it was opened.
    ///
    /// # Errors
    /// An error that names the file.
    pub fn check_not_replaced(&self) -> Result<(), DbErr> {
        self.main.check_not_replaced()?;
        self.history.rows().check_not_replaced()
    }

    async fn open_main(main_url: &str, history_url: &str, limits: &StoreLimits) -> Result<Self, OpenError> {
        refuse_foreign(main_url, FileKind::Main).await?;
        refuse_foreign(history_url, FileKind::History).await?;
        let main = Database::connect(main_url, limits).await?;
        let history = History::connect(history_url, limits).await?;
        let unfinished = unfinished::is_unfinished(main.writer()).await;
        if unfinished.map_err(|problem| main.open_error(problem))? {
            return Err(OpenError::Unfinished(main.shown_url().to_owned()));
        }
        if let Some(file) = upgrade_copy::file_of(main_url) {
            let copied = upgrade_copy::keep_copy(main.unhurried().inner(), &file).await;
            if let Some(copy) = copied.map_err(OpenError::Copy)? {
                tracing::info!(file = %copy.display(), "main database copied before the upgrade");
            }
        }
        main.migrate::<MainMigrator>().await?;
        Ok(Self { main, history })
    }

    /// Migrates the history and admits writes. Until this has succeeded, the history counts as unavailable.
    ///
    /// # Errors
    ///
    /// [`OpenError`] when the history is unavailable or cannot be migrated.
    pub async fn prepare_history(&self) -> Result<(), OpenError> {
        self.migrate_history().await?;
        self.admit_history();
        Ok(())
    }

    /// Migrates the history database without admitting writes: the first half of `Self::prepare_history`. Code that does
    /// not check whether the history is prepared may read it from then on.
    ///
    /// # Errors
    ///
    /// [`OpenError`] when the history is unavailable or cannot be migrated.
    pub async fn migrate_history(&self) -> Result<(), OpenError> {
        self.history.rows().migrate::<HistoryMigrator>().await
    }

    /// Admits writes to the history: the second half of `Self::prepare_history`.
    pub fn admit_history(&self) {
        self.history.rows().admit();
    }
}

/// Refuses the file of another program before anything in it is changed. A file that cannot be read is not refused
/// here: opening it fails with an error that gives the reason.
async fn refuse_foreign(url: &str, kind: FileKind) -> Result<(), OpenError> {
    let Some(file) = upgrade_copy::file_of(url) else { return Ok(()) };
    match FileContents::read(&file, kind).await {
        Ok(FileContents::Foreign { table }) => Err(OpenError::Foreign { url: url.to_owned(), table }),
        _ => Ok(()),
    }
}
