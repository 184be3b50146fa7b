//! Contents of a SQLite file before it is opened for work: nothing, a database of Watchkeeper, or a database of another
//! program, which must not be changed.

use std::fs;
use std::path::Path;

use crate::store::file_copy::{DatabaseFile, FileError, FileKind};

/// Contents of a file that is configured as a database of an installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileContents {
    /// There is no file, or it is empty. SQLite removes a write-ahead log beside such a file.
    Nothing,
    /// A database without tables, because its first start was interrupted or its write-ahead log is lost.
    Blank,
    /// A database of Watchkeeper of the expected kind.
    Own,
    /// A database of another program, or of another kind.
    Foreign {
        /// Name of one of the tables in the file.
        table: String,
    },
}

impl FileContents {
    /// Reads the kind of contents; changes nothing, and creates no file.
    ///
    /// # Errors
    /// When the file cannot be read, is locked, or is not a database.
    pub async fn read(file: &Path, kind: FileKind) -> Result<Self, FileError> {
        if !is_filled(file) {
            return Ok(Self::Nothing);
        }
        let mut opened = DatabaseFile::open_to_read(file).await?;
        let tables = opened.table_names().await?;
        opened.close().await?;
        let is_own = tables.iter().any(|table| table == kind.steps_table());
        Ok(match tables.into_iter().next() {
            None => Self::Blank,
            Some(table) if !is_own => Self::Foreign { table },
            Some(_) => Self::Own,
        })
    }
}

/// Returns true if the file exists and is not empty.
#[must_use]
pub fn is_filled(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|found| found.len() > 0)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use sea_orm::ConnectionTrait as _;

    use super::*;
    use crate::store::database::sqlite_url;

    /// Columns: the statements that fill the file, and the contents that are detected.
    #[rstest]
    #[case::empty(&[], FileContents::Nothing)]
    #[case::no_table(&["CREATE TABLE t (x)", "DROP TABLE t"], FileContents::Blank)]
    #[case::own(&["CREATE TABLE main_migration (x)", "CREATE TABLE a (x)"], FileContents::Own)]
    #[case::of_the_history(
        &["CREATE TABLE history_migration (x)"],
        FileContents::Foreign { table: "history_migration".into() }
    )]
    #[case::foreign(&["CREATE TABLE orders (x)"], FileContents::Foreign { table: "orders".into() })]
    #[tokio::test]
    async fn a_file_of_another_program_is_recognised(
        #[case] statements: &[&str],
        #[case] expected: FileContents,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("main.db");
        fs::write(&file, "").unwrap();
        if !statements.is_empty() {
            let connection = sea_orm::Database::connect(sqlite_url(&file)).await.unwrap();
            for statement in statements {
                connection.execute_unprepared(statement).await.unwrap();
            }
            connection.close().await.unwrap();
        }
        let before = fs::read(&file).unwrap();
        assert_eq!(FileContents::read(&file, FileKind::Main).await.unwrap(), expected);
        assert_eq!(fs::read(&file).unwrap(), before);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
