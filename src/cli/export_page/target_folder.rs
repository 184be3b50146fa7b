//! The folder of an export. An export is written beside it and takes its place when it is complete, so that a web server never
//! sees half an export, and a failed export leaves the earlier one. A list in the folder names the files of the export; other
//! files stay.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::config::sources::ConfigError;

/// Name of the list of the files of an export.
pub(super) const LIST_FILE: &str = ".watchkeeper-export";
const LIST_TITLE: &str =
    "# The files of an export of watchkeeper export-page; the next export replaces them.";

/// Access rights for the owner of a folder only.
const OWNER_ONLY: u32 = 0o700;

/// A folder for an export, and the folder beside it in which the export is written.
#[derive(Debug)]
pub(super) struct TargetFolder {
    target: PathBuf,
    /// Locked by its list as long as this process writes.
    staging: PathBuf,
    list: File,
    /// Access rights of the published folder, unless it has an earlier one, whose rights stay.
    mode: u32,
    is_published: bool,
}

impl TargetFolder {
    /// Checks that the folder is missing, empty, or of an earlier export, and creates the one beside it. The folder of a
    /// protected page is open to its owner only.
    ///
    /// # Errors
    /// [`ConfigError`] if the folder is not for exports; other errors if something cannot be written.
    pub(super) fn prepare(folder: &Path, is_protected: bool) -> anyhow::Result<Self> {
        let target = absolute(folder)?;
        foreign_files(&target)?;
        if std::env::current_dir().is_ok_and(|current| current == target) {
            return Err(ConfigError(
                "the present folder cannot be replaced while this command is in it; name it from elsewhere"
                    .to_owned(),
            )
            .into());
        }
        let (Some(parent), Some(name)) = (target.parent(), target.file_name()) else {
            return Err(
                ConfigError(format!("{} cannot be replaced; name a folder in it", folder.display())).into()
            );
        };
        fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
        let staging = parent.join(format!(".{}.watchkeeper-new", name.to_string_lossy()));
        let cannot = || {
            format!(
                "cannot write beside {}, where an export is made before it takes its place",
                target.display()
            )
        };
        remove_abandoned(&staging, &target)?;
        fs::create_dir(&staging).with_context(cannot)?;
        let usual = fs::metadata(&staging).with_context(cannot)?.permissions().mode();
        fs::set_permissions(&staging, Permissions::from_mode(OWNER_ONLY)).with_context(cannot)?;
        let mode = if is_protected { OWNER_ONLY } else { usual };
        let list = OpenOptions::new().write(true).create_new(true).open(staging.join(LIST_FILE));
        let list = list.with_context(cannot)?;
        list.try_lock().with_context(cannot)?;
        Ok(Self { target, staging, list, mode, is_published: false })
    }

    /// Returns the folder in which the export is written.
    pub(super) fn staging(&self) -> &Path {
        &self.staging
    }

    /// Lets the export, which consists of these files, take its place.
    ///
    /// # Errors
    /// When that is not possible; then the earlier export is unchanged.
    pub(super) fn publish(mut self, files: &[String]) -> anyhow::Result<()> {
        for file in foreign_files(&self.target)? {
            self.carry(&file)?;
        }
        let lines = files.iter().map(|file| format!("{file}\n")).collect::<String>();
        let written = self.list.write_all(format!("{LIST_TITLE}\n{lines}").as_bytes());
        written.and_then(|()| self.list.sync_all()).context("cannot write the list of the files")?;
        match fs::metadata(&self.target) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let mode = Permissions::from_mode(self.mode);
                fs::set_permissions(&self.staging, mode).context("cannot set permissions")?;
                fs::rename(&self.staging, &self.target)
                    .with_context(|| format!("cannot create {}", self.target.display()))?;
            }
            found => {
                let found = found.with_context(|| format!("cannot read {}", self.target.display()))?;
                fs::set_permissions(&self.staging, found.permissions()).context("cannot set permissions")?;
                exchange(&self.staging, &self.target)?;
                self.is_published = true;
                remove_replaced(&self.staging, &self.target);
            }
        }
        self.is_published = true;
        Ok(())
    }

    /// Gives the new folder a file of the old one that no export has written.
    fn carry(&self, file: &Path) -> anyhow::Result<()> {
        let (from, to) = (self.target.join(file), self.staging.join(file));
        let in_the_way = || {
            format!(
                "{} is of no export, and the new export has something in its place: move it away",
                from.display()
            )
        };
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent).with_context(in_the_way)?;
        }
        if fs::symlink_metadata(&to).is_ok() {
            bail!(in_the_way());
        }
        let kind = match fs::symlink_metadata(&from) {
            // Its owner has removed it meanwhile.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            found => found.with_context(|| format!("cannot read {}", from.display()))?.file_type(),
        };
        let carried = if kind.is_symlink() {
            fs::read_link(&from).and_then(|leads_to| symlink(leads_to, &to))
        } else {
            fs::hard_link(&from, &to).or_else(|_| fs::copy(&from, &to).map(|_| ()))
        };
        carried.with_context(|| format!("cannot keep {}, which is of no export", from.display()))
    }
}

impl Drop for TargetFolder {
    fn drop(&mut self) {
        if !self.is_published {
            // Everything in it was written by this process, or is a second name of a file in the target.
            let _ = fs::remove_dir_all(&self.staging);
        }
    }
}

/// Returns the real path of a folder that may not exist yet.
fn absolute(folder: &Path) -> anyhow::Result<PathBuf> {
    match fs::canonicalize(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(std::path::absolute(folder)?),
        found => found.with_context(|| format!("cannot read {}", folder.display())),
    }
}

/// Returns the files in a folder that no export has written.
fn foreign_files(target: &Path) -> anyhow::Result<BTreeSet<PathBuf>> {
    if !target.exists() {
        return Ok(BTreeSet::new());
    }
    if !target.is_dir() {
        return Err(ConfigError(format!("{} is no folder", target.display())).into());
    }
    let Some(own) = listed_files(target)? else {
        let is_empty = fs::read_dir(target)?.next().is_none();
        return if is_empty {
            Ok(BTreeSet::new())
        } else {
            Err(ConfigError(format!(
                "{} is not empty, and holds no earlier export: name a new folder, or empty this one yourself",
                target.display()
            ))
            .into())
        };
    };
    let all = files_in(target).with_context(|| format!("cannot read {}", target.display()))?;
    Ok(all.difference(&own).cloned().collect())
}

/// Returns the files of the export in a folder, with its list; `None` if there is no list. Names that lead out of the folder are
/// ignored.
fn listed_files(folder: &Path) -> anyhow::Result<Option<BTreeSet<PathBuf>>> {
    let list = match fs::read_to_string(folder.join(LIST_FILE)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        list => list.with_context(|| format!("cannot read {}", folder.join(LIST_FILE).display()))?,
    };
    let names = list.lines().filter(|line| !line.starts_with('#')).map(PathBuf::from);
    let is_inside = |path: &PathBuf| path.components().all(|part| matches!(part, Component::Normal(_)));
    let own = names.filter(|path| !path.as_os_str().is_empty()).filter(is_inside);
    Ok(Some(own.chain([PathBuf::from(LIST_FILE)]).collect()))
}

/// Returns the paths of all files below a folder, relative to it; symbolic links are not followed.
fn files_in(folder: &Path) -> std::io::Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(&at)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else if let Ok(path) = entry.path().strip_prefix(folder) {
                found.insert(path.to_owned());
            }
        }
    }
    Ok(found)
}

/// Lets two folders take each other's place.
fn exchange(new: &Path, old: &Path) -> anyhow::Result<()> {
    let cannot = || {
        format!(
            "{} cannot be replaced (a folder that is mounted cannot be: name a folder in it)",
            old.display()
        )
    };
    if exchange_at_once(new, old) {
        return Ok(());
    }
    // This file system cannot exchange folders: for a moment there is none.
    let aside = new.with_extension("watchkeeper-old");
    fs::rename(old, &aside).with_context(cannot)?;
    if let Err(error) = fs::rename(new, old) {
        let _ = fs::rename(&aside, old);
        return Err(error).with_context(cannot);
    }
    fs::rename(&aside, new).with_context(|| format!("the earlier export is left in {}", aside.display()))
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn exchange_at_once(new: &Path, old: &Path) -> bool {
    use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
    renameat2(AT_FDCWD, new, AT_FDCWD, old, RenameFlags::RENAME_EXCHANGE).is_ok()
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
const fn exchange_at_once(_new: &Path, _old: &Path) -> bool {
    false
}

/// Removes what an earlier export that was killed has left beside the target.
fn remove_abandoned(staging: &Path, target: &Path) -> anyhow::Result<()> {
    let list = match File::open(staging.join(LIST_FILE)) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return set_aside(staging);
        }
        list => list.with_context(|| format!("cannot read {}", staging.display()))?,
    };
    match list.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => bail!("another export into {} is under way", target.display()),
        Err(TryLockError::Error(error)) => {
            return Err(error).context("cannot lock the list of an earlier export");
        }
    }
    if fs::metadata(staging.join(LIST_FILE))?.len() == 0 {
        // It never took its place: everything in it was written by an export, or is a second name.
        fs::remove_dir_all(staging).with_context(|| format!("cannot remove {}", staging.display()))?;
    } else {
        remove_replaced(staging, target);
    }
    Ok(())
}

/// Gives a folder without a list, in which only files of others can be left, another name; removes an empty one.
fn set_aside(staging: &Path) -> anyhow::Result<()> {
    if fs::remove_dir(staging).is_ok() || fs::symlink_metadata(staging).is_err() {
        return Ok(());
    }
    let names = (1..1_000).map(|number| staging.with_extension(format!("watchkeeper-left-{number}")));
    for name in names.filter(|name| fs::symlink_metadata(name).is_err()) {
        if fs::rename(staging, &name).is_ok() {
            tracing::warn!(folder = %name.display(), "files that no export has written are left in this folder");
            return Ok(());
        }
    }
    bail!("{} is in the way: move it away", staging.display())
}

/// Removes a replaced export: its own files, and those that the new folder has as well. Other files move into the new folder,
/// where their names are free.
fn remove_replaced(old: &Path, new: &Path) {
    let own = listed_files(old).ok().flatten().unwrap_or_default();
    let all = files_in(old).unwrap_or_default();
    let (list, files): (Vec<_>, Vec<_>) = all.into_iter().partition(|file| file == Path::new(LIST_FILE));
    // The list is the last one, so that a removal that is cut off can go on.
    for file in files.iter().chain(&list) {
        let (left, kept) = (old.join(file), new.join(file));
        if own.contains(file) || is_same_file(&left, &kept) {
            let _ = fs::remove_file(left);
        } else if fs::symlink_metadata(&kept).is_err() {
            // It was written while the export was made.
            let _ = kept.parent().map(fs::create_dir_all);
            let _ = fs::rename(left, kept);
        }
    }
    remove_empty_folders(old);
    if old.exists() {
        tracing::warn!(folder = %old.display(), "files of the replaced folder that no export has written are left there");
    }
}

/// Returns true if both are the same file, or have the same content.
fn is_same_file(one: &Path, other: &Path) -> bool {
    let (Ok(found), Ok(known)) = (fs::symlink_metadata(one), fs::symlink_metadata(other)) else {
        return false;
    };
    if found.file_type().is_symlink() {
        return fs::read_link(one).ok() == fs::read_link(other).ok();
    }
    let is_one = found.dev() == known.dev() && found.ino() == known.ino();
    is_one || (found.len() == known.len() && fs::read(one).ok() == fs::read(other).ok())
}

fn remove_empty_folders(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_empty_folders(&entry.path());
        }
    }
    // A folder that is not empty stays.
    let _ = fs::remove_dir(folder);
}

#[cfg(test)]
mod tests;
