//! The databases of a run, and their sizes in bytes.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use sea_orm::{ConnectionTrait, DbBackend, Statement};

use crate::bench::folder::TemporaryFolder;
use crate::config::Config;
use crate::store::StoreConnection;
use crate::store::database::sqlite_url;
use crate::store::history::{fresh_checks, segments};
use crate::store::{Database, Databases};

/// A main database in its own folder, and the history beside it or at the configured URL.
#[derive(Debug)]
pub(super) struct BenchStorage {
    folder: TemporaryFolder,
    history_url: Option<String>,
}

/// Numbers and sizes of sealed results and blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SealedTotals {
    /// Results in blocks.
    pub(super) results: u64,
    pub(super) blocks: u64,
    /// Bytes of the blocks' bodies.
    pub(super) block_bytes: u64,
    /// Bytes of the rollups' bodies.
    pub(super) rollup_bytes: u64,
    pub(super) segment_bytes: u64,
}

impl BenchStorage {
    pub(super) fn new(config: &Config) -> anyhow::Result<Self> {
        let history_url = config.history_url.clone();
        if history_url.as_ref().is_some_and(|url| url.starts_with("sqlite:")) {
            bail!(
                "SQLite is measured in a folder of its own: leave the history URL out, or name a postgres:// database"
            );
        }
        Ok(Self { folder: TemporaryFolder::new()?, history_url })
    }

    /// Opens the databases. Fails if the history is not empty.
    pub(super) async fn open(&self, config: &Config) -> anyhow::Result<Databases> {
        let main_url = sqlite_url(&self.folder.path().join("main.db"));
        let databases = Databases::open(&main_url, &self.history_url(), &config.database).await?;
        let reader = databases.history.reader();
        if !segments::visible(reader).await?.is_empty() || !fresh_checks::fillings(reader).await?.is_empty() {
            bail!("the history database holds results already; name an empty one");
        }
        Ok(databases)
    }

    /// Opens a database of the same kind for plain rows.
    pub(super) async fn open_plain(&self, config: &Config) -> anyhow::Result<Database> {
        let url =
            self.history_url.clone().unwrap_or_else(|| sqlite_url(&self.plain_folder().join("plain.db")));
        std::fs::create_dir_all(self.plain_folder())?;
        Ok(Database::connect(&url, &config.database).await?)
    }

    fn history_url(&self) -> String {
        let file = self.history_folder().join("history.db");
        self.history_url.clone().unwrap_or_else(|| {
            // An error is reported when the database is opened.
            let _ = std::fs::create_dir_all(self.history_folder());
            sqlite_url(&file)
        })
    }

    fn history_folder(&self) -> PathBuf {
        self.folder.path().join("history")
    }

    fn plain_folder(&self) -> PathBuf {
        self.folder.path().join("plain")
    }

    /// Returns true if the history is in the run's own folder.
    pub(super) const fn is_sqlite(&self) -> bool {
        self.history_url.is_none()
    }

    /// Returns the total size of all files of the history, in bytes.
    pub(super) fn file_bytes(&self) -> anyhow::Result<u64> {
        bytes_below(&self.history_folder())
    }

    /// Returns the size of the history in bytes: all its files, or the whole database of a server.
    pub(super) async fn bytes(&self, connection: &dyn StoreConnection) -> anyhow::Result<u64> {
        match self.history_url {
            Some(_) => server_bytes(connection).await,
            None => self.file_bytes(),
        }
    }

    /// Returns the total size of all files of plain rows, in bytes.
    pub(super) fn plain_file_bytes(&self) -> anyhow::Result<u64> {
        bytes_below(&self.plain_folder())
    }

    /// Returns the size of plain rows in bytes: all their files, or the whole database of a server.
    pub(super) async fn plain_bytes(&self, connection: &dyn StoreConnection) -> anyhow::Result<u64> {
        match self.history_url {
            Some(_) => server_bytes(connection).await,
            None => self.plain_file_bytes(),
        }
    }
}

async fn server_bytes(connection: &dyn StoreConnection) -> anyhow::Result<u64> {
    let text = "SELECT pg_database_size(current_database())";
    let row = connection.query_one_raw(Statement::from_string(DbBackend::Postgres, text)).await?;
    let bytes: i64 = row.context("the server does not say how large it is")?.try_get_by_index(0)?;
    Ok(u64::try_from(bytes)?)
}

/// Returns the total size of all files in a folder, recursively, in bytes.
fn bytes_below(folder: &Path) -> anyhow::Result<u64> {
    let mut sum = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        sum += if metadata.is_dir() { bytes_below(&entry.path())? } else { metadata.len() };
    }
    Ok(sum)
}

/// Returns the sums over the visible segments.
pub(super) async fn sealed(databases: &Databases) -> anyhow::Result<SealedTotals> {
    let history = &databases.history;
    let mut sum = SealedTotals::default();
    for segment in segments::visible(history.reader()).await? {
        let opened = history.storage().connect(segment.id).await?;
        let blocks = format!(
            "SELECT CAST(COALESCE(SUM(up + degraded + down), 0) AS BIGINT), CAST(COUNT(*) AS BIGINT), \
            CAST(COALESCE(SUM(LENGTH(body)), 0) AS BIGINT) FROM {}",
            opened.blocks
        );
        let [results, blocks, block_bytes] = numbers(&opened.connection, blocks).await?;
        let rollups = format!(
            "SELECT CAST(COUNT(*) AS BIGINT), CAST(0 AS BIGINT), CAST(COALESCE(SUM(LENGTH(body)), 0) AS BIGINT) FROM {}",
            opened.rollups
        );
        let [_, _, rollup_bytes] = numbers(&opened.connection, rollups).await?;
        sum.results += results;
        sum.blocks += blocks;
        sum.block_bytes += block_bytes;
        sum.rollup_bytes += rollup_bytes;
        sum.segment_bytes += history.storage().bytes(segment.id).await?;
    }
    Ok(sum)
}

async fn numbers(connection: &dyn StoreConnection, text: String) -> anyhow::Result<[u64; 3]> {
    let statement = Statement::from_string(connection.get_database_backend(), text);
    let row = connection.query_one_raw(statement).await?.context("a sum is always there")?;
    let mut found = [0; 3];
    for (index, number) in found.iter_mut().enumerate() {
        *number = u64::try_from(row.try_get_by_index::<i64>(index)?)?;
    }
    Ok(found)
}
