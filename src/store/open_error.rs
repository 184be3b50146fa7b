//! Errors of opening a database, in words for the operator, with the way to bring it up to date.

use sea_orm::{DatabaseConnection, DbErr};
use sea_orm_migration::MigratorTrait;

use crate::config::credentials::without_urls;
use crate::store::error::{is_away, is_out_of_time};
use crate::store::file_trouble::FileTrouble;
use crate::store::upgrade_copy;

/// An error while opening a database or bringing it up to date. The text of the driver is part of this text, and not
/// repeated as its source.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The server cannot be reached or refuses the connection.
    #[error("cannot open the database {url}: {}", without_urls(&problem.to_string()))]
    Connect {
        /// Address without credentials.
        url: String,
        /// The error of the driver.
        problem: DbErr,
    },
    /// The linked SQLite has a known corruption bug.
    #[error("SQLite {0} can corrupt its files; at least 3.51.3 is needed")]
    OldSqlite(String),
    /// An installation was being moved there, and that was cut off.
    #[error("the promotion to {0} is not complete; run 'watchkeeper promote' again")]
    Unfinished(String),
    /// The copy before a migration cannot be made.
    #[error("{0}")]
    Copy(String),
    /// A migration failed.
    #[error("cannot bring the database {url} up to date: {problem}")]
    Migrate {
        /// Address without credentials.
        url: String,
        /// The error of the driver.
        problem: DbErr,
    },
    /// A later version has migrated it.
    #[error(
        "the database {url} is of a newer Watchkeeper ({step}): start that version again, or restore a backup from before the upgrade"
    )]
    Newer {
        /// Address without credentials.
        url: String,
        /// The first migration that this version does not know.
        step: String,
    },
    /// Its file is a database of another program.
    #[error(
        "{} is a database of another program (it has the table {table}): name the right file, or move this one away",
        shown_file(url)
    )]
    Foreign {
        /// Address of the file.
        url: String,
        /// Name of a table in it.
        table: String,
    },
    /// Its file cannot be used.
    #[error("{}", trouble.describe(&shown_file(url)))]
    File {
        /// Address of the file.
        url: String,
        /// What is wrong with it.
        trouble: FileTrouble,
    },
}

impl OpenError {
    /// An error of opening the database at `url`, which has no credentials.
    pub(in crate::store) fn connect(url: &str, problem: DbErr) -> Self {
        let url = url.to_owned();
        match FileTrouble::of(&problem).filter(|_| is_file(&url)) {
            Some(trouble) => Self::File { url, trouble },
            None => Self::Connect { url, problem },
        }
    }

    /// Returns true if the server cannot be reached. That may change, a refusal will not.
    #[must_use]
    pub fn is_away(&self) -> bool {
        match self {
            Self::Connect { problem, .. } | Self::Migrate { problem, .. } => {
                is_away(problem) || is_out_of_time(problem)
            }
            Self::File { trouble, .. } => *trouble == FileTrouble::Locked,
            Self::OldSqlite(_)
            | Self::Unfinished(_)
            | Self::Copy(_)
            | Self::Newer { .. }
            | Self::Foreign { .. } => false,
        }
    }
}

fn is_file(url: &str) -> bool {
    url.starts_with("sqlite:")
}

/// The file of an address, as an operator names it.
fn shown_file(url: &str) -> String {
    upgrade_copy::file_of(url).map_or_else(|| url.to_owned(), |file| file.display().to_string())
}

/// Brings the database at `url`, which holds no credentials, up to date.
///
/// # Errors
///
/// [`OpenError`] when the database is unavailable, damaged or newer than this program, or a migration fails.
pub(in crate::store) async fn migrate<M: MigratorTrait>(
    connection: &DatabaseConnection,
    url: &str,
) -> Result<(), OpenError> {
    let Err(problem) = M::up(connection, None).await else { return Ok(()) };
    let url = url.to_owned();
    if let Some(trouble) = FileTrouble::of(&problem).filter(|_| is_file(&url)) {
        return Err(OpenError::File { url, trouble });
    }
    Err(match unknown_step::<M>(connection).await {
        Some(step) => OpenError::Newer { url, step },
        None => OpenError::Migrate { url, problem },
    })
}

/// The first migration applied there that this program does not have.
async fn unknown_step<M: MigratorTrait>(connection: &DatabaseConnection) -> Option<String> {
    let known = M::migrations();
    let is_known = |version: &str| known.iter().any(|step| step.name() == version);
    let made = M::get_migration_models(connection).await.ok()?;
    made.into_iter().map(|step| step.version).filter(|version| !is_known(version)).min()
}
