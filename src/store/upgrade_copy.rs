//! Copies of a SQLite main database, made before migrations change its schema: they are the only way back.
//!
//! A copy is stored beside the database as `main.db.before-STEP`, where STEP is the first pending migration. The two
//! newest copies are kept.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use sea_orm::DatabaseConnection;
use sea_orm_migration::MigratorTrait;
use watchkeeper_migration::MainMigrator;

use crate::store::file_copy::DatabaseFile;

/// Maximum number of copies to keep.
const COPIES_MAX: usize = 2;

/// The path of the file in a SQLite URL; `None` for other URLs.
pub(in crate::store) fn file_of(url: &str) -> Option<PathBuf> {
    let rest = url.strip_prefix("sqlite:")?;
    rest.trim_start_matches("//").split('?').next().map(PathBuf::from)
}

/// Copies the database file if migrations are pending and some were applied before. Returns the path of the copy; `None`
/// if no copy is needed.
///
/// # Errors
///
/// When the copy cannot be written; the error is a message for the operator.
pub(in crate::store) async fn keep_copy(
    connection: &DatabaseConnection,
    file: &Path,
) -> Result<Option<PathBuf>, String> {
    // If the applied migrations cannot be read, the migrations themselves report the error.
    let Ok(had) = MainMigrator::get_migration_models(connection).await else { return Ok(None) };
    let steps = MainMigrator::migrations();
    let next = steps.iter().find(|step| had.iter().all(|known| known.version != step.name()));
    let Some(next) = next.filter(|_| !had.is_empty()) else { return Ok(None) };
    let copy = with_ending(file, &format!("before-{}", next.name()));
    if copy.exists() {
        // The copy was made by a start that did not finish, before it changed anything, so it is kept.
        return Ok(Some(copy));
    }
    let unfinished = with_ending(file, "before.unfinished");
    let failed = |problem: String| {
        format!(
            "cannot create the copy {} before the upgrade: {problem}; make room, and start again",
            copy.display()
        )
    };
    write(file, &unfinished, &copy).await.map_err(failed)?;
    forget_older(file).map_err(|problem| failed(problem.to_string()))?;
    Ok(Some(copy))
}

async fn write(file: &Path, unfinished: &Path, copy: &Path) -> Result<(), String> {
    match fs::remove_file(unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.to_string()),
        _ => {}
    }
    let mut source = DatabaseFile::open(file).await.map_err(|error| error.to_string())?;
    let copied = source.copy_to(unfinished).await;
    source.close().await.map_err(|error| error.to_string())?;
    copied.map_err(|error| error.to_string())?;
    let keep = || {
        fs::set_permissions(unfinished, Permissions::from_mode(0o600))?;
        File::open(unfinished)?.sync_all()?;
        fs::rename(unfinished, copy)
    };
    keep().map_err(|error: io::Error| error.to_string())
}

fn with_ending(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.to_owned().into_os_string();
    name.push(format!(".{ending}"));
    name.into()
}

/// Deletes all but the newest copies. Migrations are numbered, so the names of copies sort by age.
fn forget_older(file: &Path) -> io::Result<()> {
    let folder = file.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let start = with_ending(file, "before-m");
    let is_copy = |path: &PathBuf| path.as_os_str().to_string_lossy().starts_with(&*start.to_string_lossy());
    let entries: Result<Vec<_>, _> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.file_name())).collect();
    let mut copies: Vec<_> =
        entries?.into_iter().map(|name| file.with_file_name(name)).filter(is_copy).collect();
    copies.sort_unstable();
    copies.iter().rev().skip(COPIES_MAX).try_for_each(fs::remove_file)
}
