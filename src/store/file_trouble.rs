//! Reasons why a SQLite file cannot be used, with texts and advice for the operator.
//!
//! SQLite's own messages say neither which file is meant nor what to do. Errors of PostgreSQL concern no file.

use std::borrow::Cow;
use std::fmt::Display;

use sea_orm::{DbErr, RuntimeErr, sqlx};

/// The reason why a file of SQLite cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileTrouble {
    /// There is no space for writes.
    DiskFull,
    /// The contents of the file are inconsistent.
    Damaged,
    /// The file is not a SQLite database.
    NoDatabase,
    /// Another program holds a lock on the file.
    Locked,
    /// The file can only be read.
    ReadOnly,
    /// The file cannot be opened, or not by this user.
    Closed,
    /// The disk fails to read or write.
    DiskFails,
}

impl FileTrouble {
    /// The trouble that an error reports; `None` if the error is about no file. A connection that is not obtained in time
    /// counts as locked.
    #[must_use]
    pub fn of(error: &DbErr) -> Option<Self> {
        match (database_code(error), error) {
            (Some(code), _) => Self::of_code(&code),
            (None, DbErr::ConnectionAcquire(_)) => Some(Self::Locked),
            (None, _) => Self::of_text(error),
        }
    }

    /// The trouble that an error of the driver reports.
    pub(in crate::store) fn of_driver(error: &sqlx::Error) -> Option<Self> {
        match error.as_database_error().and_then(|refusal| refusal.code()) {
            Some(code) => Self::of_code(&code),
            None => Self::of_text(error),
        }
    }

    /// Classifies a result code of SQLite, <https://sqlite.org/rescode.html>: its lowest byte is the primary code. Codes of
    /// PostgreSQL, which have five characters, give `None`.
    fn of_code(code: &str) -> Option<Self> {
        const SHARED_MEMORY_CANNOT_GROW: u32 = 10 | 19 << 8;
        if code.len() >= 5 {
            return None;
        }
        let code: u32 = code.parse().ok()?;
        match (code, code & 0xff) {
            (SHARED_MEMORY_CANNOT_GROW, _) | (_, 13) => Some(Self::DiskFull),
            (_, 11) => Some(Self::Damaged),
            (_, 26) => Some(Self::NoDatabase),
            (_, 5 | 6 | 15) => Some(Self::Locked),
            (_, 8) => Some(Self::ReadOnly),
            (_, 3 | 14 | 23) => Some(Self::Closed),
            (_, 10) => Some(Self::DiskFails),
            _ => None,
        }
    }

    /// Classifies an error by its text: transactions that share a commit receive only the text of its error.
    fn of_text(error: &impl Display) -> Option<Self> {
        const TEXTS: [(&str, FileTrouble); 8] = [
            ("database or disk is full", FileTrouble::DiskFull),
            ("database disk image is malformed", FileTrouble::Damaged),
            ("file is not a database", FileTrouble::NoDatabase),
            ("database is locked", FileTrouble::Locked),
            ("pool timed out", FileTrouble::Locked),
            ("attempt to write a readonly database", FileTrouble::ReadOnly),
            ("unable to open database file", FileTrouble::Closed),
            ("disk I/O error", FileTrouble::DiskFails),
        ];
        let text = error.to_string();
        TEXTS.iter().find(|(known, _)| text.contains(known)).map(|(_, trouble)| *trouble)
    }

    /// Returns a phrase about what is wrong with this file.
    #[must_use]
    pub fn summary(self, file: &dyn Display) -> String {
        match self {
            Self::DiskFull => format!("the disk of {file} is full"),
            Self::Damaged => format!("{file} is damaged"),
            Self::NoDatabase => format!("{file} is not a database, or its beginning is damaged"),
            Self::Locked => format!("{file} is locked by another program"),
            Self::ReadOnly => format!("{file} cannot be written"),
            Self::Closed => format!("{file} cannot be opened"),
            Self::DiskFails => format!("the disk of {file} fails"),
        }
    }

    /// Returns advice on what to do.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        match self {
            Self::DiskFull => "make room, then try again",
            Self::Damaged => "restore a backup, or repair a copy of the file with 'sqlite3 FILE .recover'",
            Self::NoDatabase => "restore a backup, or put the right file there",
            Self::Locked => "stop the program that uses it ('fuser -v FILE' shows it), then try again",
            Self::ReadOnly => "run this as the user of the server, and check whether the disk is read-only",
            Self::Closed => {
                "run this as the user of the server, and check whether the file and its folder exist"
            }
            Self::DiskFails => "look at the log of the kernel (dmesg), and restore a backup on a sound disk",
        }
    }

    /// Returns the summary and the advice in one line.
    #[must_use]
    pub fn describe(self, file: &dyn Display) -> String {
        format!("{}: {}", self.summary(file), self.advice())
    }
}

/// The error code that the database reported; `None` if it reported none.
pub(in crate::store) fn database_code(error: &DbErr) -> Option<Cow<'_, str>> {
    let (DbErr::Conn(RuntimeErr::SqlxError(error))
    | DbErr::Exec(RuntimeErr::SqlxError(error))
    | DbErr::Query(RuntimeErr::SqlxError(error))) = error
    else {
        return None;
    };
    error.as_database_error()?.code()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("13", Some(FileTrouble::DiskFull))]
    #[case("4874", Some(FileTrouble::DiskFull))]
    #[case("11", Some(FileTrouble::Damaged))]
    #[case("267", Some(FileTrouble::Damaged))]
    #[case("26", Some(FileTrouble::NoDatabase))]
    #[case("5", Some(FileTrouble::Locked))]
    #[case("517", Some(FileTrouble::Locked))]
    #[case("8", Some(FileTrouble::ReadOnly))]
    #[case("1032", Some(FileTrouble::ReadOnly))]
    #[case("14", Some(FileTrouble::Closed))]
    #[case("266", Some(FileTrouble::DiskFails))]
    #[case("19", None)]
    #[case("53100", None)]
    #[case("25006", None)]
    fn sqlite_error_codes_are_classified(#[case] code: &str, #[case] trouble: Option<FileTrouble>) {
        assert_eq!(FileTrouble::of_code(code), trouble);
    }

    #[test]
    fn the_text_of_a_shared_commit_is_understood() {
        let full = DbErr::Custom("(code: 13) database or disk is full".into());
        assert_eq!(FileTrouble::of(&full), Some(FileTrouble::DiskFull));
        assert_eq!(FileTrouble::of(&DbErr::Conn(RuntimeErr::Internal("away".into()))), None);
    }
}
