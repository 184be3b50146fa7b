//! Checks of the databases: integrity, schema version, and whether the key opens the stored secrets.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use nix::unistd::Uid;

use crate::app::{database_files, first_start};
use crate::clock::Clock;
use crate::config::Config;
use crate::config::credentials::without_urls;
use crate::doctor::finding::DoctorFinding;
use crate::doctor::{OTHER_USER, is_closed, is_read_only};
use crate::store::file_contents::{FileContents, is_filled};
use crate::store::file_copy::{DatabaseFile, FileError, FileKind};
use crate::store::file_trouble::FileTrouble;
use crate::store::installation::{KeyCheck, compare_key};
use crate::store::server_facts;

/// Tolerated difference between the clocks of this machine and of PostgreSQL, in seconds.
const APART_SECONDS: i64 = 2;

pub(super) async fn examine_main(config: Arc<Config>) -> Vec<DoctorFinding> {
    let url = config.database_url.as_deref().unwrap_or_default();
    vec![
        examine_database("main database", FileKind::Main, database_files::main_file(&config).ok(), url).await,
    ]
}

pub(super) async fn examine_history(config: Arc<Config>) -> Vec<DoctorFinding> {
    let url = config.history_url.as_deref().unwrap_or_default();
    vec![
        examine_database(
            "history database",
            FileKind::History,
            database_files::history_file(&config).ok(),
            url,
        )
        .await,
    ]
}

/// Checks one database: a file, or the server behind the URL.
async fn examine_database(
    check: &'static str,
    kind: FileKind,
    file: Option<PathBuf>,
    url: &str,
) -> DoctorFinding {
    let Some(file) = file else { return examine_postgres(check, url).await };
    let advice = "put it back from a backup: watchkeeper restore (docs/operations.md)";
    if is_closed(&file) {
        return DoctorFinding::unknown(
            check,
            format!("this user may not read {}", file.display()),
            OTHER_USER,
        );
    }
    if !is_filled(&file) {
        let state = if file.exists() { "empty" } else { "missing" };
        return DoctorFinding::problem(check, format!("{} is {state}", file.display()), advice);
    }
    let found = examine_file(check, kind, &file).await;
    found.unwrap_or_else(|error| {
        DoctorFinding::problem(check, error.describe(), error.trouble().map_or(advice, FileTrouble::advice))
    })
}

async fn examine_file(check: &'static str, kind: FileKind, file: &Path) -> Result<DoctorFinding, FileError> {
    if let FileContents::Foreign { table } = FileContents::read(file, kind).await? {
        let observation = format!(
            "{} is a database of another program: it has the table {table}, and none of Watchkeeper",
            file.display()
        );
        return Ok(DoctorFinding::problem(check, observation, "name the right file, or move this one away"));
    }
    let mut opened = DatabaseFile::open_to_read(file).await?;
    if let Some(step) = opened.unknown_step(kind).await? {
        let observation = format!("it belongs to a newer version than this program: {step}");
        return Ok(DoctorFinding::problem(
            check,
            observation,
            "use the newer version, or restore the backup from before the upgrade",
        ));
    }
    let complaints = opened.quick_check().await?;
    if !complaints.is_empty() {
        let observation = format!("it is damaged: {}", complaints.join("; "));
        return Ok(DoctorFinding::problem(
            check,
            observation,
            "stop the server and put it back from a backup",
        ));
    }
    if is_read_only(file) {
        return Ok(read_only(check, file));
    }
    DatabaseFile::require_write_lock(file).await?;
    if opened.lacks_steps(kind).await? {
        let observation = "sound, from an earlier version";
        return Ok(DoctorFinding::warning(check, observation, "the next start updates it; back it up first"));
    }
    Ok(DoctorFinding::fine(check, "sound, and of this version"))
}

/// Returns the finding about a file that this user may not write: a problem if this user owns the file; otherwise unknown,
/// because the server may run as its owner.
fn read_only(check: &'static str, file: &Path) -> DoctorFinding {
    let observation = format!("this user may not write {}", file.display());
    match fs::metadata(file) {
        Ok(found) if found.uid() == Uid::effective().as_raw() => DoctorFinding::problem(
            check,
            observation,
            format!("chmod 600 {}, and check whether the disk is read-only", file.display()),
        ),
        _ => DoctorFinding::unknown(check, observation, OTHER_USER),
    }
}

/// Checks that egress is set if several organisations share the installation; otherwise no server starts.
pub(super) async fn check_egress(config: Arc<Config>) -> Vec<DoctorFinding> {
    let (Ok(main), None) = (database_files::main_file(&config), config.egress) else { return Vec::new() };
    let counted = async { DatabaseFile::open_to_read(&main).await?.count_organisations().await };
    match counted.await {
        Ok(2..) => vec![DoctorFinding::problem(
            "egress",
            "there are several organisations and egress is not set: a server does not start",
            "set egress to public-only or private-allowed (docs/configuration.md)",
        )],
        // The main database is reported separately.
        _ => Vec::new(),
    }
}

/// Checks the key against the stored check value.
pub(super) async fn examine_key(config: Arc<Config>) -> Vec<DoctorFinding> {
    vec![judged_key(&config).await]
}

async fn judged_key(config: &Config) -> DoctorFinding {
    let check = "secret key";
    let Ok(main) = database_files::main_file(config) else {
        let observation = "not compared: the main database is a PostgreSQL";
        return DoctorFinding::unknown(check, observation, "a start compares it, and refuses a wrong one");
    };
    let key = config.data_dir.join(first_start::KEY_FILE);
    for file in [&main, &key] {
        if is_closed(file) {
            return DoctorFinding::unknown(
                check,
                format!("this user may not read {}", file.display()),
                OTHER_USER,
            );
        }
    }
    let stored = async { DatabaseFile::open_to_read(&main).await?.key_check().await };
    let stored = match stored.await {
        Ok(Some(stored)) => stored,
        Ok(None) => return DoctorFinding::fine(check, "no secret is stored yet"),
        Err(error) => {
            return DoctorFinding::unknown(check, error.describe(), "check the main database first");
        }
    };
    match first_start::sealer(config) {
        Err(error) => {
            DoctorFinding::problem(check, error.to_string(), "put the key back from where it is kept")
        }
        Ok((_, Some(missing))) => DoctorFinding::problem(
            check,
            format!("{} is missing", missing.file().display()),
            "put the key back from where it is kept: without it no secret can be read",
        ),
        Ok((sealer, None)) => match compare_key(&stored, &sealer) {
            KeyCheck::Right => DoctorFinding::fine(check, "it opens the stored secrets"),
            KeyCheck::Wrong => DoctorFinding::problem(
                check,
                "it is not the one that secrets were sealed with",
                "put the right key back: it is that of the backup, or of WATCHKEEPER_SECRET_KEY at the first start",
            ),
        },
    }
}

async fn examine_postgres(check: &'static str, url: &str) -> DoctorFinding {
    match server_facts::read(url).await {
        Err(error) => DoctorFinding::problem(
            check,
            format!("PostgreSQL does not answer: {}", without_urls(&error.to_string())),
            "check the server, the network to it, and user and password in the URL",
        ),
        Ok(facts) => judged_server(check, &facts.version, facts.now, Clock::System.now().ms()),
    }
}

fn judged_server(check: &'static str, version: &str, now: DateTime<Utc>, here_ms: i64) -> DoctorFinding {
    let apart = (now.timestamp_millis() - here_ms) / 1_000;
    if apart.abs() > APART_SECONDS {
        let observation = format!("PostgreSQL {version}: its clock is {apart} s ahead of this machine's");
        return DoctorFinding::warning(check, observation, "let both machines set their clocks by NTP");
    }
    DoctorFinding::fine(check, format!("PostgreSQL {version} answers"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::doctor::finding::FindingVerdict;

    #[tokio::test]
    async fn no_password_is_shown() {
        for url in ["postgres://u:SECRETPW@127.0.0.1:99999/db", "postgres://u:SECRETPW/x@127.0.0.1/db"] {
            let found = examine_postgres("main database", url).await;
            assert!(
                found.verdict == FindingVerdict::Problem && !found.observation.contains("SECRETPW"),
                "{found:?}"
            );
        }
    }

    #[rstest]
    #[case(0, FindingVerdict::Fine)]
    #[case(2_999, FindingVerdict::Fine)]
    #[case(3_000, FindingVerdict::Warning)]
    #[case(-60_000, FindingVerdict::Warning)]
    fn clocks_that_are_apart_are_a_warning(#[case] apart_ms: i64, #[case] expected: FindingVerdict) {
        let now = DateTime::from_timestamp_millis(1_000_000_000_000 + apart_ms).unwrap();
        assert_eq!(judged_server("main database", "17.2", now, 1_000_000_000_000).verdict, expected);
    }
}
