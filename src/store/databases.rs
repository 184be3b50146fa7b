//! The two databases of an installation: opening them, and bringing them up to date.

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
    /// Organisations, tokens, services.
    pub main: Database<MainError>,
    /// Measurements.
    pub history: History,
}

impl Databases {
    /// Opens both databases and brings them up to date.
    ///
    /// # Errors
    ///
    /// [`OpenError`], which names the database that cannot be used.
    pub async fn open(main_url: &str, history_url: &str, limits: &StoreLimits) -> Result<Self, OpenError> {
        let databases = Self::open_main(main_url, history_url, limits).await?;
        databases.prepare_history().await?;
        Ok(databases)
    }

    /// The same, but the history on PostgreSQL may be unavailable: then [`Self::prepare_history`] must be called later.
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

    /// Checks that no file of an embedded database has been removed or replaced since it was opened.
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

    /// Brings the history up to date. Until then nothing can be written to it, and it counts as unavailable.
    ///
    /// # Errors
    ///
    /// [`OpenError`] when it is unavailable or cannot be migrated.
    pub async fn prepare_history(&self) -> Result<(), OpenError> {
        self.migrate_history().await?;
        self.admit_history();
        Ok(())
    }

    /// Migrates the history database only, the first half of its preparation: it may then be read by code that does
    /// not check whether it is prepared.
    ///
    /// # Errors
    ///
    /// [`OpenError`] when it is unavailable or cannot be migrated.
    pub async fn migrate_history(&self) -> Result<(), OpenError> {
        self.history.rows().migrate::<HistoryMigrator>().await
    }

    /// The second half: from now on it can be written to.
    pub fn admit_history(&self) {
        self.history.rows().admit();
    }
}

/// Refuses a file of another program before anything in it is changed. A file that cannot be read is left to the connection,
/// whose error says why.
async fn refuse_foreign(url: &str, kind: FileKind) -> Result<(), OpenError> {
    let Some(file) = upgrade_copy::file_of(url) else { return Ok(()) };
    match FileContents::read(&file, kind).await {
        Ok(FileContents::Foreign { table }) => Err(OpenError::Foreign { url: url.to_owned(), table }),
        _ => Ok(()),
    }
}
