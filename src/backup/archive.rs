//! A backup as one file: the folder in a tar file, compressed where its name ends in `.zst`.

use std::error::Error;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::backup::error::BackupError;
use crate::backup::files;
use crate::backup::manifest;
use crate::id::Id;

/// The compression level; low, because the history is already compressed.
const LEVEL: i32 = 3;

/// The form of a backup, derived from its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BackupForm {
    Folder,
    File(FileCoding),
}

/// The coding of a backup that is one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileCoding {
    Plain,
    /// Compressed by zstd.
    Compressed,
}

/// Endings of archives and compressed files of other programs, which a folder must not have, because that would be a
/// surprise.
const OTHER_ENDINGS: [&str; 29] = [
    "7z", "ar", "arj", "br", "bz2", "cab", "cpio", "deb", "gz", "iso", "jar", "lz", "lz4", "lzma", "lzo",
    "rar", "rpm", "sz", "tbz", "tbz2", "tgz", "tlz", "txz", "tzst", "xz", "z", "zip", "zst", "zstd",
];

impl BackupForm {
    /// Returns the form of a new backup with this name. Upper and lower case are the same.
    ///
    /// # Errors
    /// When the name ends like an archive of a format that cannot be written.
    pub(super) fn of_new(path: &Path) -> Result<Self, BackupError> {
        let form = Self::of(path);
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let is_other = OTHER_ENDINGS.contains(&ending) || name.contains(".tar.");
        if form == Self::Folder && is_other {
            let problem = format!(
                "{} cannot be written: name a file that ends in .tar or .tar.zst, or a folder without such an ending",
                path.display()
            );
            return Err(BackupError::Refused(problem));
        }
        Ok(form)
    }

    /// Returns the form of an existing backup.
    ///
    /// # Errors
    /// When it is neither a folder nor a file of a known form.
    pub(super) fn of_existing(path: &Path) -> Result<Self, BackupError> {
        if path.is_dir() {
            return Ok(Self::Folder);
        }
        match Self::of(path) {
            Self::Folder => Err(BackupError::Refused(format!(
                "{} is not a backup: a backup is a folder, or a file whose name ends in .tar or .tar.zst",
                path.display()
            ))),
            form => Ok(form),
        }
    }

    fn of(path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        if name.ends_with(".tar") {
            Self::File(FileCoding::Plain)
        } else if name.ends_with(".tar.zst") {
            Self::File(FileCoding::Compressed)
        } else {
            Self::Folder
        }
    }
}

/// Returns a temporary name in the same folder.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{ending}-{}", std::process::id()));
    path.with_file_name(name)
}

pub(super) fn require_new(target: &Path) -> Result<(), BackupError> {
    if target.exists() {
        let problem = format!("{} exists already: name a new file", target.display());
        return Err(BackupError::Refused(problem));
    }
    match target.parent() {
        Some(folder) if folder != Path::new("") => {
            fs::create_dir_all(folder).map_err(BackupError::at(folder))
        }
        _ => Ok(()),
    }
}

/// Packs a folder into a file, which exists only once it is complete.
pub(super) fn pack(folder: &Path, target: &Path, coding: FileCoding) -> Result<(), BackupError> {
    let unfinished = beside(target, "file");
    let failed = BackupError::at(&unfinished);
    let packed = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&unfinished)
        .and_then(|file| write(folder, file, coding))
        .and_then(|file| file.sync_all())
        .and_then(|()| fs::rename(&unfinished, target));
    if packed.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    packed.map_err(failed)?;
    match target.parent() {
        Some(parent) if parent != Path::new("") => files::sync_folder(parent),
        _ => Ok(()),
    }
}

fn write(folder: &Path, file: File, coding: FileCoding) -> std::io::Result<File> {
    let whole = |error: std::io::IntoInnerError<BufWriter<File>>| error.into_error();
    match coding {
        FileCoding::Plain => write_entries(folder, BufWriter::new(file))?.into_inner().map_err(whole),
        FileCoding::Compressed => {
            let encoder = zstd::Encoder::new(BufWriter::new(file), LEVEL)?;
            write_entries(folder, encoder)?.finish()?.into_inner().map_err(whole)
        }
    }
}

/// Writes the entries, manifest first, so that it can be read without the rest.
fn write_entries<W: Write>(folder: &Path, writer: W) -> std::io::Result<W> {
    let mut archive = tar::Builder::new(writer);
    archive.append_path_with_name(folder.join(manifest::FILE), manifest::FILE)?;
    for entry in sorted(folder)? {
        let name = entry.file_name().unwrap_or_default().to_owned();
        if name == manifest::FILE {
            continue;
        }
        if entry.is_dir() {
            archive.append_dir_all(&name, &entry)?;
        } else {
            archive.append_path_with_name(&entry, &name)?;
        }
    }
    archive.into_inner()
}

fn sorted(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries: Result<Vec<_>, _> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut entries = entries?;
    entries.sort_unstable();
    Ok(entries)
}

/// A folder for the contents of a backup that is one file. It does not exist until it is filled.
pub(super) struct UnpackFolder {
    pub(super) path: PathBuf,
    /// Advice for the operator if the folder cannot be written.
    advice: &'static str,
}

impl UnpackFolder {
    /// Returns a temporary folder of the system (`TMPDIR`), because the backup may be on a medium that cannot be written.
    pub(super) fn temporary() -> Self {
        let path = std::env::temp_dir().join(format!("watchkeeper-{}", Id::random()));
        Self { path, advice: "make room there, or let the variable TMPDIR name another folder" }
    }

    /// Returns a folder on the disk of a data folder.
    pub(super) fn beside(data_dir: &Path) -> Self {
        Self { path: beside(data_dir, "backup"), advice: "make room there, or choose another --data-dir" }
    }

    fn refuse(&self, what: &str, problem: &io::Error) -> BackupError {
        let parent = self.path.parent().unwrap_or(&self.path).display();
        let advice = self.advice;
        BackupError::Refused(format!(
            "{what} cannot be unpacked into {parent}: {}; {advice}",
            root_cause(problem)
        ))
    }

    /// Creates the folder, for its owner only, and unpacks a file into it.
    pub(super) fn fill(&self, file: &Path, coding: FileCoding) -> Result<(), BackupError> {
        let made = DirBuilder::new().mode(0o700).create(&self.path);
        made.map_err(|problem| self.refuse(&file.display().to_string(), &problem))?;
        let failed = BackupError::at(file);
        let opened = BufReader::new(File::open(file).map_err(&failed)?);
        let reader: Box<dyn Read> = match coding {
            FileCoding::Plain => Box::new(opened),
            FileCoding::Compressed => Box::new(zstd::Decoder::new(opened).map_err(&failed)?),
        };
        let mut archive = tar::Archive::new(reader);
        let damaged = |problem: io::Error| {
            BackupError::Damaged(format!("{}: {}", file.display(), root_cause(&problem)))
        };
        for entry in archive.entries().map_err(damaged)? {
            let mut entry = entry.map_err(damaged)?;
            entry.set_preserve_permissions(false);
            let name = format!("{}: {}", file.display(), entry.path().map_err(damaged)?.display());
            // `unpack_in` leaves out names that lead out of the folder.
            entry.unpack_in(&self.path).map_err(|problem| match problem.kind() {
                ErrorKind::StorageFull
                | ErrorKind::QuotaExceeded
                | ErrorKind::PermissionDenied
                | ErrorKind::ReadOnlyFilesystem => self.refuse(&name, &problem),
                _ => BackupError::Damaged(format!("{name}: {}", root_cause(&problem))),
            })?;
        }
        Ok(())
    }
}

/// Returns the text of the innermost error, because the outer ones name paths of the unpacked copy.
fn root_cause(error: &io::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("monday", BackupForm::Folder)]
    #[case("watchkeeper-2026.11.27", BackupForm::Folder)]
    #[case("a.zip/monday", BackupForm::Folder)]
    #[case("monday.tar", BackupForm::File(FileCoding::Plain))]
    #[case("Monday.TAR", BackupForm::File(FileCoding::Plain))]
    #[case("monday.tar.zst", BackupForm::File(FileCoding::Compressed))]
    #[case("monday.Tar.ZST", BackupForm::File(FileCoding::Compressed))]
    fn the_name_selects_the_format(#[case] name: &str, #[case] form: BackupForm) {
        assert_eq!(BackupForm::of_new(Path::new(name)).unwrap(), form);
    }

    #[rstest]
    fn archives_that_are_not_written_are_refused(
        #[values(
            "x.tar.gz",
            "x.tgz",
            "X.TGZ",
            "x.zip",
            "x.tar.xz",
            "x.txz",
            "x.tar.bz2",
            "x.7z",
            "x.gz",
            "x.zst",
            "x.tar.zst.gpg",
            "x.tar.age"
        )]
        name: &str,
    ) {
        let refused = BackupForm::of_new(Path::new(name)).unwrap_err().to_string();
        assert!(refused.contains(".tar or .tar.zst") && refused.starts_with(name), "{refused}");
    }
}
