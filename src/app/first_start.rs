//! Creates what a first start needs: the data folder, the secret key, an organisation and a token with every permission
//! of the API. Operator permissions are only granted by name.
//!
//! Files with secrets are readable by their owner only.

use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{ErrorKind, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use secrecy::ExposeSecret as _;

use crate::clock::Clock;
use crate::config::Config;
use crate::id::Id;
use crate::model::access::{ApiToken, Organisation, PermissionSet as TokenPermissions, Plan, TokenHolder};
use crate::model::secret::{KEY_LENGTH, SecretSealer};
use crate::model::token::TokenText;
use crate::store::{Databases, installation, organisations, tokens};

/// File of the key that seals secrets, in the data folder.
pub const KEY_FILE: &str = "secret.key";
/// Name of the file that the server of a data folder locks; it contains the id of the node.
const LOCK_FILE: &str = "serve.lock";

/// The token that the first start created, and its file.
#[derive(Clone, Debug)]
pub struct FirstStart {
    /// The token with every permission of the API.
    pub token: String,
    /// The file that holds the token.
    pub token_file: PathBuf,
}

/// Creates the data folder, accessible to its owner only.
pub fn make_data_dir(folder: &Path) -> anyhow::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(folder).map_err(refused("make the data folder", folder))?;
    fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    Ok(())
}

/// The lock on a data folder, held as long as the file is open.
#[derive(Debug)]
pub struct FolderLock {
    /// The locked file; closing it releases the lock.
    pub file: File,
    /// Id of the node that works on this folder: generated once and stored in the file.
    pub node: Id,
}

/// Returns true if a server runs on the data folder.
///
/// # Errors
/// When the lock cannot be read. A folder without a lock has never been served.
pub fn is_served(folder: &Path) -> std::io::Result<bool> {
    match File::open(folder.join(LOCK_FILE)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
        Ok(file) => match file.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(error),
        },
    }
}

/// Returns the id of the node that works on the data folder, or has last worked on it; `None` if there is none.
///
/// # Errors
/// When the lock cannot be read.
pub fn node_of(folder: &Path) -> std::io::Result<Option<Id>> {
    match fs::read_to_string(folder.join(LOCK_FILE)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        read => Ok(read?.trim().parse().ok()),
    }
}

/// Locks the data folder: two servers on one folder would check and record everything twice.
///
/// # Errors
/// When another server holds it, or the folder cannot be written.
pub fn lock(folder: &Path) -> anyhow::Result<FolderLock> {
    let path = folder.join(LOCK_FILE);
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
    let mut file = file.map_err(refused("write", &path))?;
    match file.try_lock() {
        Ok(()) => {
            let node = node(&mut file).map_err(refused("write", &path))?;
            Ok(FolderLock { file, node })
        }
        Err(TryLockError::WouldBlock) => {
            bail!("another Watchkeeper serves the data folder {}", folder.display())
        }
        Err(TryLockError::Error(error)) => Err(refused("lock", &path)(error)),
    }
}

/// Reads the id of the node from the locked file, or generates and writes it.
fn node(file: &mut File) -> std::io::Result<Id> {
    let mut written = String::new();
    // Content that is not text counts as no id.
    let _ = file.read_to_string(&mut written);
    if let Ok(node) = written.trim().parse() {
        return Ok(node);
    }
    let node = Id::random();
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{node}")?;
    file.sync_all()?;
    Ok(node)
}

/// Creates the files of the embedded databases, accessible to their owner only; SQLite gives its other files the same
/// mode.
pub fn make_database_files(folder: &Path, names: &[&str]) -> anyhow::Result<()> {
    for name in names {
        let path = folder.join(name);
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(&path);
        file.map_err(refused("write", &path))?;
    }
    Ok(())
}

/// A key generated for a new installation and not stored yet.
pub struct NewKey {
    file: PathBuf,
    text: String,
}

impl NewKey {
    /// Writes the key to its file. Must be called only when it is certain that nothing was sealed with another key.
    pub fn keep(&self) -> anyhow::Result<()> {
        write_secret(&self.file, &self.text)
    }

    /// Returns the path of the file that the key is written to.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }
}

/// Returns the sealer with the configured key, or with the key in the data folder. If there is neither, a new key is
/// generated and returned as well; it is not stored yet.
///
/// # Errors
/// When the key cannot be read or is malformed.
pub fn sealer(config: &Config) -> anyhow::Result<(SecretSealer, Option<NewKey>)> {
    let file = config.data_dir.join(KEY_FILE);
    let text = match &config.secret_key {
        Some(text) => text.expose_secret().to_owned(),
        None if file.exists() => fs::read_to_string(&file).map_err(refused("read", &file))?,
        None => {
            let text = draw_key()?;
            let key = key_from_hex(&text).context("a drawn key has the form of one")?;
            return Ok((SecretSealer::new(&key), Some(NewKey { file, text })));
        }
    };
    match key_from_hex(text.trim()) {
        Some(key) => Ok((SecretSealer::new(&key), None)),
        None => bail!("{} holds no key; it must be 64 hexadecimal digits", file.display()),
    }
}

fn draw_key() -> anyhow::Result<String> {
    let mut key = [0; KEY_LENGTH];
    getrandom::fill(&mut key).context("the operating system has no randomness")?;
    Ok(key.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn key_from_hex(text: &str) -> Option<[u8; KEY_LENGTH]> {
    let mut key = [0; KEY_LENGTH];
    if !text.is_ascii() || text.len() != 2 * KEY_LENGTH {
        return None;
    }
    for (index, byte) in key.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).ok()?;
    }
    Some(key)
}

fn write_secret(file: &Path, text: &str) -> anyhow::Result<()> {
    let opened = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(file);
    let written = opened.and_then(|mut opened| {
        writeln!(opened, "{text}")?;
        opened.sync_all()
    });
    written.map_err(refused("write", file))
}

/// Converts an I/O error to a message that names the action and the file, with advice for the operator if there is any.
fn refused(verb: &str, path: &Path) -> impl FnOnce(std::io::Error) -> anyhow::Error {
    let what = format!("cannot {verb} {}", path.display());
    move |error| {
        let advice = match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "; make room, then try again",
            ErrorKind::PermissionDenied => "; run this as the user of the server",
            ErrorKind::ReadOnlyFilesystem => "; let its disk be written to, or choose another --data-dir",
            _ => "",
        };
        anyhow::anyhow!("{what}: {error}{advice}")
    }
}

/// Creates an organisation and a token; returns `None` if an organisation exists.
///
/// # Errors
/// When the database or the token file cannot be written.
pub async fn once(
    config: &Config,
    clock: &Clock,
    databases: &Databases,
) -> anyhow::Result<Option<FirstStart>> {
    if organisations::count(databases.main.reader()).await? > 0 {
        return Ok(None);
    }
    let now = clock.now();
    let transaction = databases.main.begin().await?;
    installation::lock(&transaction).await?;
    if organisations::count(&transaction).await? > 0 {
        return Ok(None);
    }
    let organisation = Organisation {
        key: 0,
        id: Id::random(),
        name: "Default".into(),
        plan: Plan::Business,
        self_hosted: true,
        locales: vec!["en".into()],
        default_locale: "en".into(),
        created_at: now,
    };
    let organisation = organisations::insert(&transaction, organisation).await?;
    let text = TokenText::random(&config.compat.token_prefix);
    let token = ApiToken {
        key: 0,
        id: Id::random(),
        organisation: organisation.key,
        name: "First token".into(),
        permissions: TokenPermissions::all(),
        expires_at: None,
        access_scope: None,
        created_at: now,
        holder: TokenHolder::Program,
    };
    tokens::insert(&transaction, token, &text.hash()).await?;
    let token_file = config.data_dir.join("token");
    write_secret(&token_file, text.expose())?;
    transaction.commit().await?;
    Ok(Some(FirstStart { token: text.expose().to_owned(), token_file }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_created_once_and_readable_only_by_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config { data_dir: folder.path().join("data"), ..Config::default() };
        make_data_dir(&config.data_dir).unwrap();
        let (_, new_key) = sealer(&config).unwrap();
        let file = config.data_dir.join(KEY_FILE);
        assert!(!file.exists(), "it is written down only when it is sure to be the right one");
        new_key.unwrap().keep().unwrap();
        let first = fs::read_to_string(&file).unwrap();
        assert!(sealer(&config).unwrap().1.is_none());
        assert_eq!(fs::read_to_string(&file).unwrap(), first);
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_data_folder_is_served_by_one_process() {
        let folder = tempfile::tempdir().unwrap();
        let first = lock(folder.path()).unwrap();
        assert!(lock(folder.path()).unwrap_err().to_string().starts_with("another Watchkeeper serves"));
        drop(first);
        lock(folder.path()).unwrap();
    }

    #[test]
    fn a_malformed_key_is_refused() {
        assert_eq!(key_from_hex("00"), None);
        assert_eq!(key_from_hex(&"zz".repeat(KEY_LENGTH)), None);
        assert_eq!(key_from_hex(&"0f".repeat(KEY_LENGTH)), Some([15; KEY_LENGTH]));
    }
}
