//! One database of a target with one connection: its marker, progress, contents and schema.
//!
//! The marker is a table that exists until the promotion is finished. After that, a record of the promoted installation
//! and its state remains: in main a row of `installation`, in the history a comment on the catalogue of segments.

use std::time::Duration;

use sea_orm::sqlx;
use sea_orm::sqlx::postgres::{PgConnectOptions, PgConnection};
use sea_orm::sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};
use tokio::time::Instant;
use watchkeeper_migration::{HistoryMigrator, MainMigrator};

use super::error::PromotionError;
use super::page::KeyPosition;
use super::unit::PromotionUnit;
use crate::config::credentials::without_credentials;
use crate::store::open_error::{OpenError, migrate};

/// Name of the row of `installation` that records which installation was promoted to this target.
pub(super) const PROMOTED: &str = "promoted";
/// Maximum wait for a lock: PostgreSQL keeps the lock of a killed promotion until it detects the closed connection.
const LOCK_WAIT: Duration = Duration::from_secs(10);
/// Pause between two attempts to take a lock.
const LOCK_PAUSE: Duration = Duration::from_millis(100);
/// The state of a target, from the view of an installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetState {
    /// The target contains nothing of an installation.
    Empty,
    /// The target contains part of this installation: a promotion was interrupted.
    CutOff,
    /// The target contains this installation completely.
    Finished,
}

/// One database of a target, with one connection.
#[derive(Debug)]
pub(super) struct TargetDatabase {
    pub(super) connection: PgConnection,
    url: String,
    pub(super) shown: String,
    /// `main` or `history`, the prefix of the marker tables.
    pub(super) prefix: &'static str,
    lock: i64,
}

/// The progress of a unit: how many rows have been copied, and up to which position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UnitProgress {
    pub(super) position: Option<KeyPosition>,
    pub(super) rows: u64,
    pub(super) is_done: bool,
}

/// A marker: the installation that is being promoted, and its state at the start of the promotion.
pub(super) struct PromotionMarker {
    pub(super) installation: String,
    pub(super) state: String,
}

impl TargetDatabase {
    pub(super) async fn connect(url: &str, prefix: &'static str, lock: i64) -> Result<Self, PromotionError> {
        let shown = without_credentials(url);
        let failed = |problem| PromotionError::Target { url: shown.clone(), problem };
        let options: PgConnectOptions = url.parse().map_err(failed)?;
        let options = options.disable_statement_logging();
        let mut connection = PgConnection::connect_with(&options).await.map_err(failed)?;
        let encoding: String =
            sqlx::query_scalar("SHOW server_encoding").fetch_one(&mut connection).await.map_err(failed)?;
        let may_create: Option<bool> =
            sqlx::query_scalar("SELECT has_schema_privilege(current_schema(), 'CREATE')")
                .fetch_one(&mut connection)
                .await
                .map_err(failed)?;
        if encoding != "UTF8" {
            return Err(PromotionError::refused(format!(
                "{shown} stores texts as {encoding}; it must be UTF8"
            )));
        }
        if may_create != Some(true) {
            return Err(PromotionError::refused(format!("{shown} does not let this user create tables")));
        }
        Ok(Self { connection, url: url.to_owned(), shown, prefix, lock })
    }

    /// The error for a problem with this database.
    pub(super) fn failed(&self, problem: sqlx::Error) -> PromotionError {
        PromotionError::Target { url: self.shown.clone(), problem }
    }

    pub(super) async fn run(&mut self, text: &str) -> Result<(), PromotionError> {
        let run = sqlx::raw_sql(AssertSqlSafe(text.to_owned())).execute(&mut self.connection).await;
        run.map(drop).map_err(|error| self.failed(error))
    }

    pub(super) async fn state(
        &mut self,
        other: &str,
        installation: &str,
        state: &str,
    ) -> Result<TargetState, PromotionError> {
        if let Some(marker) = self.marker(self.prefix).await? {
            return self.judge(&marker, installation, state).map(|()| TargetState::CutOff);
        }
        // Checked before the tables, because a target in use must never be taken for an unfinished one.
        if let Some(promoted) = self.promoted().await? {
            return self.judge_promoted(&promoted, installation, state).map(|()| TargetState::Finished);
        }
        let tables = self.tables().await?;
        // If both databases are the same, the tables may belong to the other one, created by the same promotion.
        let is_shared = self.marker(other).await?.is_some_and(|marker| marker.installation == installation);
        if tables.is_empty() || is_shared {
            return Ok(TargetState::Empty);
        }
        let shown: Vec<&str> = tables.iter().take(3).map(String::as_str).collect();
        Err(PromotionError::refused(format!(
            "{} is not empty: it holds {} tables ({}, …); promote to an empty database",
            self.shown,
            tables.len(),
            shown.join(", ")
        )))
    }

    fn judge(&self, marker: &PromotionMarker, installation: &str, state: &str) -> Result<(), PromotionError> {
        if marker.installation != installation {
            let why = format!("{} holds a part of another installation; promote to an empty one", self.shown);
            return Err(PromotionError::refused(why));
        }
        if marker.state != state {
            return Err(PromotionError::refused(format!(
                "{} holds a part of this installation, which has run or was changed since; empty it and promote again",
                self.shown
            )));
        }
        Ok(())
    }

    fn judge_promoted(
        &self,
        promoted: &PromotionMarker,
        installation: &str,
        state: &str,
    ) -> Result<(), PromotionError> {
        if promoted.installation != installation {
            let why = format!("{} holds another installation; promote to an empty database", self.shown);
            return Err(PromotionError::refused(why));
        }
        if promoted.state != state {
            return Err(PromotionError::refused(format!(
                "this installation was promoted to {} before, and the embedded one has run or was changed since: serve the                 target and leave the embedded one, or empty the target and promote again",
                self.shown
            )));
        }
        Ok(())
    }

    /// The installation that was promoted to this database, and its state at that time; `None` if there was none.
    pub(super) async fn promoted(&mut self) -> Result<Option<PromotionMarker>, PromotionError> {
        let is_main = self.prefix == "main";
        if is_main && !self.holds_installation().await? {
            return Ok(None);
        }
        let text = if is_main {
            "SELECT $1::text || ' ' || value FROM installation WHERE name = $1::text"
        } else {
            "SELECT obj_description(to_regclass('history_segment'), 'pg_class') WHERE $1::text <> ''"
        };
        let found: Option<Option<String>> = sqlx::query_scalar(text)
            .bind(PROMOTED)
            .fetch_optional(&mut self.connection)
            .await
            .map_err(|error| self.failed(error))?;
        let text = found.flatten().unwrap_or_default();
        let mut words = text.split(' ');
        if words.next() != Some(PROMOTED) {
            return Ok(None);
        }
        let mut word = || words.next().unwrap_or_default().to_owned();
        Ok(Some(PromotionMarker { installation: word(), state: word() }))
    }

    async fn holds_installation(&mut self) -> Result<bool, PromotionError> {
        let there = sqlx::query_scalar("SELECT to_regclass('installation') IS NOT NULL");
        there.fetch_one(&mut self.connection).await.map_err(|error| self.failed(error))
    }

    /// Names of the tables and views in the schema in which new tables are created.
    async fn tables(&mut self) -> Result<Vec<String>, PromotionError> {
        let text = "SELECT relname::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace \
            AND relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY relname";
        let tables = sqlx::query_scalar(text).fetch_all(&mut self.connection).await;
        tables.map_err(|error| self.failed(error))
    }

    pub(super) async fn marker(&mut self, prefix: &str) -> Result<Option<PromotionMarker>, PromotionError> {
        let there = format!("SELECT to_regclass('{prefix}_promotion') IS NOT NULL");
        let is_there: bool = sqlx::query_scalar(AssertSqlSafe(there))
            .fetch_one(&mut self.connection)
            .await
            .map_err(|error| self.failed(error))?;
        if !is_there {
            return Ok(None);
        }
        let text = format!("SELECT installation, state FROM {prefix}_promotion");
        let row: Option<(String, String)> = sqlx::query_as(AssertSqlSafe(text))
            .fetch_optional(&mut self.connection)
            .await
            .map_err(|error| self.failed(error))?;
        Ok(row.map(|(installation, state)| PromotionMarker { installation, state }))
    }

    /// Takes the promotion lock, which is held until the connection is closed.
    ///
    /// # Errors
    ///
    /// Also when another process holds the lock for ten seconds.
    pub(super) async fn lock(&mut self) -> Result<(), PromotionError> {
        let deadline = Instant::now() + LOCK_WAIT;
        loop {
            let locked = sqlx::query_scalar("SELECT pg_try_advisory_lock($1)").bind(self.lock);
            if locked.fetch_one(&mut self.connection).await.map_err(|error| self.failed(error))? {
                return Ok(());
            }
            if Instant::now() >= deadline {
                let why = format!("another promotion writes to {}", self.shown);
                return Err(PromotionError::refused(why));
            }
            tokio::time::sleep(LOCK_PAUSE).await;
        }
    }

    /// Creates the marker if it does not exist. Both of its tables are created in one commit, before any other table. The
    /// caller holds the promotion lock.
    ///
    /// # Errors
    ///
    /// Also when there is a marker of another installation or state.
    pub(super) async fn claim(&mut self, installation: &str, state: &str) -> Result<(), PromotionError> {
        // If the server loses a commit in a power failure, it loses the progress of this commit as well.
        self.run("SET synchronous_commit = off").await?;
        // A page is a small part of a table, which a generic plan would ignore.
        self.run("SET plan_cache_mode = force_custom_plan").await?;
        if let Some(marker) = self.marker(self.prefix).await? {
            return self.judge(&marker, installation, state);
        }
        let tables = format!(
            "CREATE TABLE {0}_promotion (installation TEXT NOT NULL, state TEXT NOT NULL); \
            CREATE TABLE {0}_promotion_progress \
            (name TEXT PRIMARY KEY, position TEXT, rows BIGINT NOT NULL, is_done BOOLEAN NOT NULL)",
            self.prefix
        );
        let mark = format!("INSERT INTO {}_promotion VALUES ($1, $2)", self.prefix);
        let claiming = async {
            let mut transaction = self.connection.begin().await?;
            sqlx::raw_sql(AssertSqlSafe(tables)).execute(&mut *transaction).await?;
            let marked = sqlx::query(AssertSqlSafe(mark)).bind(installation).bind(state);
            marked.execute(&mut *transaction).await?;
            transaction.commit().await
        };
        claiming.await.map_err(|problem| PromotionError::Target { url: self.shown.clone(), problem })
    }

    pub(super) async fn migrate(&self) -> Result<(), PromotionError> {
        let refused = |problem| OpenError::connect(&self.shown, problem);
        let mut options = sea_orm::ConnectOptions::new(&self.url);
        options.max_connections(1).sqlx_logging(false);
        let connection = sea_orm::Database::connect(options).await.map_err(refused)?;
        match self.prefix {
            "main" => migrate::<MainMigrator>(&connection, &self.shown).await?,
            _ => migrate::<HistoryMigrator>(&connection, &self.shown).await?,
        }
        connection.close().await.map_err(refused)?;
        Ok(())
    }

    /// The progress of a unit in this database.
    ///
    /// # Errors
    ///
    /// Also when the stored progress cannot be read.
    pub(super) async fn progress(&mut self, unit: &PromotionUnit) -> Result<UnitProgress, PromotionError> {
        let text =
            format!("SELECT position, rows, is_done FROM {}_promotion_progress WHERE name = $1", self.prefix);
        let row: Option<(Option<String>, i64, bool)> = sqlx::query_as(AssertSqlSafe(text))
            .bind(unit.name())
            .fetch_optional(&mut self.connection)
            .await
            .map_err(|error| self.failed(error))?;
        let Some((position, rows, is_done)) = row else { return Ok(UnitProgress::default()) };
        let unknown = || PromotionError::refused(format!("the progress of {} cannot be read", unit.name()));
        let position = position.map(|text| KeyPosition::from_json(&text).ok_or_else(unknown)).transpose()?;
        Ok(UnitProgress { position, rows: rows.unsigned_abs(), is_done })
    }

    /// The statement that stores the progress of a unit. Parameters: name, position, number of rows, whether it is done.
    pub(super) fn progress_text(&self) -> String {
        format!(
            "INSERT INTO {}_promotion_progress (name, position, rows, is_done) VALUES ($1, $2, $3, $4) \
            ON CONFLICT (name) DO UPDATE SET position = $2, rows = $3, is_done = $4",
            self.prefix
        )
    }
}
