//! Errors of opening a database, with messages for the operator, and the migration of a database.

use sea_orm::{DatabaseConnection, DbErr};
use sea_orm_migration::MigratorTrait;

use crate::config::credentials::without_urls;
use crate::store::error::{is_away, is_out_of_time};
use crate::store::file_trouble::FileTrouble;
use crate::store::upgrade_copy;

/// An error while opening or migrating a database. The message of the driver is part of this error's text, so it is not
/// repeated as its source.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The database cannot be reached or refuses the connection.
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
    /// An installation was being moved to this database, and the move was interrupted.
    #[error("the promotion to {0} is not complete; run 'watchkeeper promote' again")]
    Unfinished(String),
    /// The copy of the database before a migration cannot be made.
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
    /// A later version of the program has migrated the database.
    #[error(
        "the database {url} is of a newer Watchkeeper ({step}): start that version again, or restore a backup from before the upgrade"
    )]
    Newer {
        /// Address without credentials.
        url: String,
        /// The first migration that this version does not know.
        step: String,
    },
    /// The file belongs to another program.
    #[error(
        "{} is a database of another program (it has the table {table}): name the right file, or move this one away",
        shown_file(url)
    )]
    Foreign {
        /// Address of the file.
        url: String,
        /// Name of a table in the file.
        table: String,
    },
    /// The file of the database cannot be used.
    #[error("{}", trouble.describe(&shown_file(url)))]
    File {
        /// Address of the file.
        url: String,
        /// The reason why the file cannot be used.
        trouble: FileTrouble,
    },
}

impl OpenError {
    /// The error for a problem with opening the database at `url`, which must not contain credentials.
    pub(in crate::store) fn connect(url: &str, problem: DbErr) -> Self {
        let url = url.to_owned();
        match FileTrouble::of(&problem).filter(|_| is_file(&url)) {
            Some(trouble) => Self::File { url, trouble },
            None => Self::Connect { url, problem },
        }
    }

    /// Returns true if a later attempt may succeed: the database is unreachable, too slow or locked. A refusal is
    /// permanent.
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

/// The path of the file in a SQLite URL, as it is shown to an operator.
fn shown_file(url: &str) -> String {
    upgrade_copy::file_of(url).map_or_else(|| url.to_owned(), |file| file.display().to_string())
}

/// Migrates the schema of the database at `url`, which must not contain credentials, to the current version.
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

/// The first migration of the database that this program does not know.
async fn unknown_step<M: MigratorTrait>(connection: &DatabaseConnection) -> Option<String> {
    let known = M::migrations();
    let is_known = |version: &str| known.iter().any(|step| step.name() == version);
    let made = M::get_migration_models(connection).await.ok()?;
    made.into_iter().map(|step| step.version).filter(|version| !is_known(version)).min()
}
