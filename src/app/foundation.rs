//! Foundation shared by commands and the server: the data folder, both databases, the key that opens secrets.

use std::path::{Path, PathBuf};

use anyhow::bail;

use crate::app::database_files::{self, HISTORY_FILE, MAIN_FILE};
use crate::app::first_start;
use crate::clock::Clock;
use crate::config::Config;
use crate::config::sources::ConfigError;
use crate::id::Id;
use crate::model::secret::SecretSealer;
use crate::store::database::sqlite_url;
use crate::store::file_contents::{FileContents, is_filled};
use crate::store::file_copy::{DatabaseFile, FileKind};
use crate::store::{Databases, idempotency_keys, installation, organisations};

/// Everything that is needed by commands that work on the databases alone.
pub struct Foundation {
    /// The settings of the command.
    pub config: Config,
    /// Source of the wall time.
    pub clock: Clock,
    /// Main and history database, both migrated.
    pub databases: Databases,
    /// Seals and opens secrets with the installation's key.
    pub sealer: SecretSealer,
}

/// Presence of an installation at the configured path.
#[derive(Debug, PartialEq, Eq)]
enum InstallationPresence {
    /// An installation exists, or the main database is in PostgreSQL, whose state is seen when it is opened.
    There,
    Missing,
    /// The installation is incomplete; the text says what is missing and what to do.
    Broken(String),
}

/// Checks for the embedded main database, and for files that never exist without it. An empty file counts as missing: a
/// start that is cut off leaves nothing but empty ones.
fn presence(config: &Config) -> InstallationPresence {
    let Ok(main) = database_files::main_file(config) else { return InstallationPresence::There };
    if is_filled(&main) {
        return InstallationPresence::There;
    }
    let history = database_files::history_file(config).unwrap_or_else(|_| config.data_dir.join(HISTORY_FILE));
    let rest = [history, config.data_dir.join(first_start::KEY_FILE)];
    match rest.into_iter().find(|file| is_filled(file)) {
        None => InstallationPresence::Missing,
        Some(file) => InstallationPresence::Broken(format!(
            "{} is {} beside {}: put it back from a backup, or move the rest of that installation away to begin a new one",
            main.display(),
            if main.exists() { "empty" } else { "missing" },
            file.display(),
        )),
    }
}

/// Refuses a main database without tables beside a key or a history, because it would be taken for a new installation. A
/// file that was copied without its write-ahead log looks like this. If a file cannot be read, opening the database
/// reports why.
async fn require_main(config: &Config) -> anyhow::Result<()> {
    let Ok(main) = database_files::main_file(config) else { return Ok(()) };
    if !matches!(FileContents::read(&main, FileKind::Main).await, Ok(FileContents::Blank)) {
        return Ok(());
    }
    let history = database_files::history_file(config).unwrap_or_else(|_| config.data_dir.join(HISTORY_FILE));
    let key = config.data_dir.join(first_start::KEY_FILE);
    let beside = if is_filled(&key) {
        key
    } else if matches!(FileContents::read(&history, FileKind::History).await, Ok(FileContents::Own)) {
        history
    } else {
        return Ok(());
    };
    Err(ConfigError(format!(
        "{} has no tables beside {}: put it back together with its -wal file, or from a backup, or move the rest of that \
         installation away to begin a new one",
        main.display(),
        beside.display()
    ))
    .into())
}

/// Refuses an installation whose embedded history has been lost, so that a new history does not silently take its place.
/// With `--new-history` a new one is accepted if no segments of the old one are left.
async fn require_history(config: &Config) -> anyhow::Result<()> {
    let (Ok(main), Ok(history)) = (database_files::main_file(config), database_files::history_file(config))
    else {
        return Ok(());
    };
    let contents = FileContents::read(&history, FileKind::History).await;
    let is_lost = matches!(contents, Ok(FileContents::Nothing | FileContents::Blank));
    if !is_lost || !is_filled(&main) || !has_started(&main).await {
        return Ok(());
    }
    let (file, segments) = (history.display(), history.with_extension("segments"));
    if std::fs::read_dir(&segments).is_ok_and(|mut inside| inside.next().is_some()) {
        let segments = segments.display();
        return Err(ConfigError(format!(
            "{file} is missing or empty, and {segments} is of it: put both back from a backup, or move {segments} away and \
             start with --new-history"
        ))
        .into());
    }
    if config.new_history {
        tracing::warn!(%file, "history database is missing; creating an empty one");
        return Ok(());
    }
    Err(ConfigError(format!(
        "{file} is missing or empty beside {}: put it back from a backup, or go on without what was measured before by \
         watchkeeper serve --new-history",
        main.display()
    ))
    .into())
}

/// Returns true if the database contains an organisation, so a first start has ended. If it cannot be read, opening the
/// database reports why.
async fn has_started(main: &Path) -> bool {
    let counted = async {
        let mut file = DatabaseFile::open_to_read(main).await?;
        let organisations = file.count_organisations().await;
        file.close().await?;
        organisations
    };
    counted.await.is_ok_and(|organisations| organisations > 0)
}

/// Returns the folder of the main database.
fn main_database_folder(config: &Config) -> PathBuf {
    let main = database_files::main_file(config).ok().and_then(|main| main.parent().map(Path::to_owned));
    main.unwrap_or_else(|| config.data_dir.clone())
}

/// Fails if there is no installation, for commands that must not create one.
///
/// # Errors
/// When there is no installation; the message says what to do.
pub fn require_installation(config: &Config) -> Result<(), ConfigError> {
    match presence(config) {
        InstallationPresence::There => Ok(()),
        InstallationPresence::Missing => Err(ConfigError(format!(
            "there is no installation in {}; name its folder with --data-dir or its settings with --config, or create one with watchkeeper serve",
            main_database_folder(config).display()
        ))),
        InstallationPresence::Broken(reason) => Err(ConfigError(reason)),
    }
}

impl Foundation {
    /// Opens an existing installation.
    ///
    /// # Errors
    /// As [`Self::open_or_create`]; also when there is no installation.
    pub async fn open_existing(config: Config, clock: Clock) -> anyhow::Result<Self> {
        require_installation(&config)?;
        Self::open_or_create(config, clock).await
    }

    /// Creates the data folder, opens the databases and checks the key.
    ///
    /// # Errors
    ///
    /// When the folder, the key or a database cannot be used; the message is one line.
    pub async fn open_or_create(config: Config, clock: Clock) -> anyhow::Result<Self> {
        if let InstallationPresence::Broken(reason) = presence(&config) {
            return Err(ConfigError(reason).into());
        }
        require_main(&config).await?;
        require_history(&config).await?;
        first_start::make_data_dir(&config.data_dir)?;
        let (sealer, new_key) = first_start::sealer(&config)?;
        let embedded = [(MAIN_FILE, &config.database_url), (HISTORY_FILE, &config.history_url)];
        let embedded: Vec<&str> =
            embedded.into_iter().filter(|(_, url)| url.is_none()).map(|(name, _)| name).collect();
        first_start::make_database_files(&config.data_dir, &embedded)?;
        let url = |chosen: &Option<String>, file: &str| {
            chosen.clone().unwrap_or_else(|| embedded_url(&config.data_dir, file))
        };
        let (main, history) = (url(&config.database_url, MAIN_FILE), url(&config.history_url, HISTORY_FILE));
        let databases = Databases::open_without_waiting(&main, &history, &config.database).await?;
        let transaction = databases.main.begin().await?;
        let check = installation::check_key(&transaction, &sealer).await?;
        match (check, &new_key) {
            (installation::KeyCheck::Right, Some(key)) => key.keep()?,
            (installation::KeyCheck::Right, None) => {}
            (installation::KeyCheck::Wrong, None) => {
                bail!("the secret key is not the one that this installation's secrets were sealed with");
            }
            (installation::KeyCheck::Wrong, Some(key)) => {
                bail!(
                    "{} is missing; put the key back that this installation's secrets were sealed with",
                    key.file().display()
                );
            }
        }
        transaction.commit().await?;
        Ok(Self { config, clock, databases, sealer })
    }

    /// Frees the idempotency keys of requests that ran on this node when an earlier process died. All running keys of
    /// an embedded database are freed, because only this node uses it.
    pub(super) async fn free_keys(&self, node: Id) -> anyhow::Result<()> {
        let transaction = self.databases.main.begin().await?;
        if self.config.database_url.is_none() {
            idempotency_keys::free_all_running(&transaction).await?;
        } else {
            idempotency_keys::free_running_on(&transaction, node).await?;
        }
        Ok(transaction.commit().await?)
    }

    /// Fails if there is more than one organisation and the egress policy is not set explicitly.
    ///
    /// # Errors
    /// [`ConfigError`] in that case; also an error if the database fails.
    pub(super) async fn require_egress_choice(&self) -> anyhow::Result<()> {
        let organisations = organisations::count(self.databases.main.reader()).await?;
        if organisations > 1 && self.config.egress.is_none() {
            let problem =
                "there are several organisations, so egress must be set: public-only or private-allowed";
            return Err(ConfigError(problem.into()).into());
        }
        Ok(())
    }
}

fn embedded_url(data_dir: &Path, file: &str) -> String {
    sqlite_url(&data_dir.join(file))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Columns: files in the data folder (`=`: empty), whether the main database is external, the expected error.
    #[rstest]
    #[case::nothing(&[], false, "there is no installation in")]
    #[case::whole(&["main.db", "history.db", "secret.key"], false, "")]
    #[case::without_main(&["history.db", "secret.key"], false, "main.db is missing beside")]
    #[case::history_alone(&["history.db"], false, "main.db is missing beside")]
    #[case::key_alone(&["secret.key"], false, "main.db is missing beside")]
    #[case::empty_main(&["main.db=", "history.db", "secret.key"], false, "main.db is empty beside")]
    #[case::empty_main_beside_a_key(&["main.db=", "history.db=", "secret.key"], false, "main.db is empty beside")]
    #[case::a_log_without_main(&["main.db=", "main.db-wal", "secret.key"], false, "main.db is empty beside")]
    #[case::a_start_that_was_cut_off(&["main.db=", "history.db="], false, "there is no installation in")]
    #[case::a_lock_alone(&["serve.lock"], false, "there is no installation in")]
    #[case::main_external(&["history.db"], true, "")]
    #[case::a_file_with_another_name(&["other.db"], false, "there is no installation in")]
    fn a_missing_or_incomplete_installation_is_an_error(
        #[case] files: &[&str],
        #[case] is_external: bool,
        #[case] expected: &str,
    ) {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let contents = if file.ends_with('=') { "" } else { "contents" };
            std::fs::write(folder.path().join(file.trim_end_matches('=')), contents).unwrap();
        }
        let database_url = is_external.then(|| "postgres://127.0.0.1/none".to_owned());
        let config = Config { data_dir: folder.path().to_owned(), database_url, ..Config::default() };
        let refusal =
            require_installation(&config).map_err(|error| error.to_string()).err().unwrap_or_default();
        assert!(refusal.contains(expected) && refusal.is_empty() == expected.is_empty(), "{refusal}");
    }

    /// A file named by a `sqlite:` URL must exist like one in the data folder.
    #[test]
    fn a_database_file_outside_the_data_folder_must_exist() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("elsewhere").join("main.db");
        let database_url = Some(sqlite_url(&file));
        let data_dir = folder.path().join("data");
        let config = Config { data_dir, database_url, ..Config::default() };
        let complaint = require_installation(&config).unwrap_err().to_string();
        assert!(complaint.contains("elsewhere;"), "{complaint}");
        std::fs::create_dir(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "contents").unwrap();
        assert_eq!(require_installation(&config), Ok(()));
    }

    #[tokio::test]
    async fn an_incomplete_installation_is_not_changed() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(HISTORY_FILE), "kept").unwrap();
        let config = Config { data_dir: folder.path().to_owned(), ..Config::default() };
        let refused = Foundation::open_or_create(config.clone(), Clock::System).await.err().unwrap();
        assert!(refused.is::<ConfigError>(), "{refused}");
        let files: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
        assert_eq!(files, [HISTORY_FILE]);

        let other_folder = Config { data_dir: folder.path().join("new"), ..config };
        assert!(Foundation::open_existing(other_folder, Clock::System).await.is_err());
        assert!(!folder.path().join("new").exists());
    }
}
