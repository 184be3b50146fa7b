//! Checks of the data folder: permissions of its secrets, free space, file system; and the age of backups.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use nix::sys::statfs::{self, FsType};
use nix::sys::statvfs::statvfs;

use crate::app::first_start::KEY_FILE;
use crate::backup::newest_backup;
use crate::clock::Clock;
use crate::config::Config;
use crate::doctor::OTHER_USER;
use crate::doctor::finding::{DoctorFinding, counted};

/// Free space in bytes below which there is a warning: results that wait for an unavailable history may take as much.
const ROOM_BYTES: u64 = 1_024 * 1_024 * 1_024;
/// Multiple of the backup interval from which on a backup is too old.
const OLD: u32 = 2;
/// Magic numbers of network file systems, on which the shared memory of SQLite's log does not work.
const OVER_NETWORK: [(i64, &str); 4] =
    [(0x6969, "NFS"), (0xff53_4d42, "SMB"), (0xfe53_4d42, "SMB"), (0x0102_1997, "9p")];

pub(super) fn examine(config: &Config) -> Vec<DoctorFinding> {
    let folder = &config.data_dir;
    if !folder.is_dir() {
        let observation = format!("there is no folder {}", folder.display());
        return vec![DoctorFinding::warning("data folder", observation, "the next start creates it")];
    }
    let mut found = vec![modes(folder), room(folder)];
    if config.database_url.is_none() || config.history_url.is_none() {
        found.push(file_system(folder));
    }
    found
}

/// Checks that only the owner can read the secrets, and that nobody else can create files in the folder.
fn modes(folder: &Path) -> DoctorFinding {
    let check = "data folder";
    let (owner, mode) = match fs::metadata(folder) {
        Ok(found) => (found.uid(), found.permissions().mode()),
        Err(error) => return DoctorFinding::unknown(check, error.to_string(), OTHER_USER),
    };
    if mode & 0o022 != 0 {
        let observation = format!("others can write into {}", folder.display());
        return DoctorFinding::problem(check, observation, format!("chmod 700 {}", folder.display()));
    }
    let (mut open, mut foreign) = (Vec::new(), Vec::new());
    // Nobody else can enter a closed folder, so databases need no check there; the key and the token may be copied
    // together with their modes.
    let databases: &[&str] = if mode & 0o077 == 0 { &[] } else { &["main.db", "history.db"] };
    for name in [KEY_FILE, "token"].iter().chain(databases) {
        let file = folder.join(name);
        match fs::metadata(&file) {
            Ok(found) if found.permissions().mode() & 0o077 != 0 => open.push(file.display().to_string()),
            Ok(found) if found.uid() != owner => foreign.push(file.display().to_string()),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                return DoctorFinding::unknown(check, format!("{}: {error}", file.display()), OTHER_USER);
            }
        }
    }
    if !open.is_empty() {
        let observation = format!("others can read {}", open.join(" and "));
        let advice = format!(
            "chmod 600 {}; anyone who has read the key or the token can use it: consider new ones",
            open.join(" ")
        );
        return DoctorFinding::problem(check, observation, advice);
    }
    if !foreign.is_empty() {
        let observation = format!("not of the folder's user: {}", foreign.join(" and "));
        return DoctorFinding::warning(check, observation, "chown them to the user of the server");
    }
    DoctorFinding::fine(check, format!("{}: only the owner can read its secrets", folder.display()))
}

fn room(folder: &Path) -> DoctorFinding {
    let check = "disk";
    match statvfs(folder) {
        Ok(found) => {
            let free = found.blocks_available() * found.fragment_size();
            judged_room(free, folder)
        }
        Err(error) => {
            DoctorFinding::unknown(check, format!("its free space is unknown: {error}"), "check with: df -h")
        }
    }
}

fn judged_room(free: u64, folder: &Path) -> DoctorFinding {
    let mebibytes = free / (1_024 * 1_024);
    let observation = format!("{mebibytes} MiB free at {}", folder.display());
    if free < ROOM_BYTES {
        return DoctorFinding::warning(
            "disk",
            observation,
            "make room: when it is full nothing can be saved, and results wait in memory",
        );
    }
    DoctorFinding::fine("disk", observation)
}

fn file_system(folder: &Path) -> DoctorFinding {
    match statfs::statfs(folder) {
        Ok(found) => judged_file_system(found.filesystem_type()),
        Err(error) => {
            DoctorFinding::unknown("file system", format!("not known: {error}"), "check with: stat -f")
        }
    }
}

fn judged_file_system(kind: FsType) -> DoctorFinding {
    let number = kind.0 & 0xffff_ffff;
    match OVER_NETWORK.iter().find(|(known, _)| *known == number) {
        Some((_, name)) => DoctorFinding::warning(
            "file system",
            format!("the data folder is on {name}: the databases may be damaged there"),
            "move it to a local disk, or use PostgreSQL (docs/promote.md)",
        ),
        None => DoctorFinding::fine("file system", "it is local"),
    }
}

/// Checks the newest scheduled backup.
pub(super) fn find_backups(config: &Config) -> Vec<DoctorFinding> {
    let check = "backups";
    let Some(folder) = &config.backup.folder else {
        if config.database_url.is_some() {
            let observation = "backups of PostgreSQL are not checked";
            let advice = "run pg_dump regularly, for the main database before the history database";
            return vec![DoctorFinding::unknown(check, observation, advice)];
        }
        return vec![DoctorFinding::warning(
            check,
            "the server creates none",
            "set backup.folder, or run watchkeeper backup regularly (docs/operations.md)",
        )];
    };
    let every = config.backup.every.get();
    let found = match newest_backup(folder) {
        Err(error) => {
            DoctorFinding::problem(check, error.to_string(), "the server must be able to write there")
        }
        Ok(None) => DoctorFinding::warning(
            check,
            format!("there is none in {}", folder.display()),
            "is the server running?",
        ),
        Ok(Some(newest)) => {
            let age_seconds = (Clock::System.now().ms() - newest.ms()).max(0).unsigned_abs() / 1_000;
            let observation = format!("the newest is {} old", counted(age_seconds / 3_600, "hour"));
            if age_seconds > (every * OLD).as_secs() {
                DoctorFinding::problem(check, observation, "see the reason in the log of the server")
            } else {
                DoctorFinding::fine(check, observation)
            }
        }
    };
    vec![found]
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::doctor::finding::FindingVerdict;

    #[rstest]
    #[case(0, FindingVerdict::Warning)]
    #[case(ROOM_BYTES - 1, FindingVerdict::Warning)]
    #[case(ROOM_BYTES, FindingVerdict::Fine)]
    fn low_disk_space_is_a_warning(#[case] free: u64, #[case] expected: FindingVerdict) {
        assert_eq!(judged_room(free, Path::new("data")).verdict, expected);
    }

    #[rstest]
    #[case(0x6969, FindingVerdict::Warning)]
    #[case(0xff53_4d42, FindingVerdict::Warning)]
    #[case(0xef53, FindingVerdict::Fine)]
    fn a_file_system_over_the_network_is_a_warning(#[case] number: i64, #[case] expected: FindingVerdict) {
        assert_eq!(judged_file_system(FsType(number)).verdict, expected);
    }

    #[rstest]
    #[case(0o600, FindingVerdict::Fine)]
    #[case(0o640, FindingVerdict::Problem)]
    #[case(0o604, FindingVerdict::Problem)]
    fn a_key_that_others_can_read_is_a_problem(#[case] mode: u32, #[case] expected: FindingVerdict) {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join(KEY_FILE);
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(&key, "00").unwrap();
        fs::set_permissions(&key, fs::Permissions::from_mode(mode)).unwrap();
        let found = modes(folder.path());
        assert_eq!(found.verdict, expected);
        assert_eq!(found.observation.contains("secret.key"), expected == FindingVerdict::Problem);
    }

    #[test]
    fn a_world_writable_folder_is_a_problem() {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let found = modes(folder.path());
        assert!(found.verdict == FindingVerdict::Problem && found.observation.contains("write"), "{found:?}");
    }
}
