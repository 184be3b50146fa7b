//! The embedded installation in a data folder, for a command that moves it: nothing else runs on it meanwhile, and
//! nothing in it is changed.

use anyhow::bail;

use crate::app::first_start::{self, FolderLock};
use crate::app::history_restore;
use crate::config::Config;
use crate::store::installation::{KeyCheck, compare_key};

/// Takes the data folder, so that neither a server nor an import works on it.
///
/// # Errors
/// When there is no data folder, or another process holds its lock.
pub fn take(config: &Config) -> anyhow::Result<FolderLock> {
    if !config.data_dir.is_dir() {
        bail!("there is no data folder {}", config.data_dir.display());
    }
    first_start::lock(&config.data_dir)
}

/// Returns the obstacles to a move of the data folder: a missing or wrong key, and results in the spool. `check_value` is
/// the stored check value of the installation's key.
pub fn obstacles(config: &Config, check_value: &str) -> anyhow::Result<Vec<String>> {
    let mut found = Vec::new();
    let (sealer, new_key) = first_start::sealer(config)?;
    match (compare_key(check_value, &sealer), new_key) {
        (KeyCheck::Right, _) => {}
        (KeyCheck::Wrong, Some(key)) => {
            found.push(format!("{} is missing; the target needs the same key", key.file().display()));
        }
        (KeyCheck::Wrong, None) => {
            found.push(
                "the secret key is not the one that this installation's secrets were sealed with".into(),
            );
        }
    }
    let waiting = history_restore::spooled_bytes(config)?;
    if waiting > 0 {
        found.push(format!(
            "the spool holds {waiting} bytes of results that are not in the history yet; run 'watchkeeper serve' on the \
            embedded databases until they are written"
        ));
    }
    Ok(found)
}
