//! The PostgreSQL that an installation is moved to: what it holds already, how far a promotion has come, and its schema.
//!
//! Each database has a marker table while a promotion to it is not finished: whose it is, and up to which key each table
//! is there. Progress is written in the transaction of the rows. A server refuses a main database with a marker
//! (`store::unfinished`).

use sea_orm::sqlx;
use sea_orm::sqlx::postgres::{PgConnectOptions, PgConnection};
use sea_orm::sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};
use sea_orm_migration::MigratorTrait as _;
use watchkeeper_migration::{HistoryMigrator, MainMigrator};

use super::error::PromotionError;
use super::page::Position;
use super::unit::{Place, Unit};
use crate::store::database::{OpenError, without_credentials};
use crate::store::history::segments::SegmentId;
use crate::store::history::segments::storage::partition_texts;

/// The name in `installation` under which a target says whose promotion has ended in it.
const PROMOTED: &str = "promoted";
/// The advisory locks of whoever promotes: main and history.
const LOCKS: [i64; 2] = [0x5741_5443_5052_4d31, 0x5741_5443_5052_4d32];

/// Both databases of the target, which may be one.
#[derive(Debug)]
pub struct Target {
    pub(super) main: Half,
    pub(super) history: Half,
}

/// One of them, with one connection.
#[derive(Debug)]
pub(super) struct Half {
    pub(super) connection: PgConnection,
    url: String,
    shown: String,
    /// What its own tables begin with.
    prefix: &'static str,
    lock: i64,
}

/// What a target holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetState {
    /// Nothing.
    Empty,
    /// A promotion of this installation that was cut off.
    CutOff,
    /// This installation, whole.
    Finished,
}

/// Up to where a unit has been moved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    pub(super) position: Option<Position>,
    pub(super) rows: u64,
    pub(super) is_done: bool,
}

/// What a marker says.
struct Marker {
    installation: String,
    state: String,
}

impl Target {
    /// Connects, and changes nothing.
    ///
    /// # Errors
    /// When one of them does not answer, or cannot hold an installation.
    pub async fn connect(main: &str, history: &str) -> Result<Self, PromotionError> {
        let main = Half::connect(main, "main", LOCKS[0]).await?;
        let history = Half::connect(history, "history", LOCKS[1]).await?;
        Ok(Self { main, history })
    }

    /// What both hold, as seen by this installation in this state.
    ///
    /// # Errors
    /// When one of them holds something else.
    pub(super) async fn state(
        &mut self,
        installation: &str,
        state: &str,
    ) -> Result<TargetState, PromotionError> {
        let main = self.main.state("history", installation, state).await?;
        if main == TargetState::Finished {
            return Ok(main);
        }
        let history = self.history.state("main", installation, state).await?;
        // Either of them may have been claimed before the cut.
        let is_empty = main == TargetState::Empty && history == TargetState::Empty;
        Ok(if is_empty { TargetState::Empty } else { TargetState::CutOff })
    }

    /// Marks both as this installation's and makes their tables.
    ///
    /// # Errors
    /// When another promotion writes to them, or the tables cannot be made.
    pub(super) async fn claim(&mut self, installation: &str, state: &str) -> Result<(), PromotionError> {
        for half in [&mut self.main, &mut self.history] {
            half.claim(installation, state).await?;
        }
        for half in [&self.main, &self.history] {
            half.migrate().await?;
        }
        Ok(())
    }

    /// The database of a unit.
    pub(super) const fn half(&mut self, place: Place) -> &mut Half {
        match place {
            Place::Main => &mut self.main,
            Place::History | Place::Segment(_) => &mut self.history,
        }
    }

    /// Makes the partitions of these segments.
    ///
    /// # Errors
    /// When the database fails.
    pub(super) async fn make_partitions(&mut self, segments: &[SegmentId]) -> Result<(), PromotionError> {
        for text in segments.iter().flat_map(|id| partition_texts(*id)) {
            self.history.run(&text).await?;
        }
        Ok(())
    }

    /// Tells PostgreSQL how its tables are filled, before anybody asks for a part of one.
    ///
    /// # Errors
    /// When the database fails.
    pub(super) async fn analyze(&mut self, units: impl Iterator<Item = &Unit>) -> Result<(), PromotionError> {
        for unit in units {
            let text = format!("ANALYZE {}", unit.target);
            self.half(unit.place).run(&text).await?;
        }
        Ok(())
    }

    /// Takes the markers away, that of main first: from then on a server may start.
    ///
    /// # Errors
    /// When the database fails.
    pub(super) async fn finish(&mut self, installation: &str) -> Result<(), PromotionError> {
        // The last commit of each waits for the disk, and all before it are on the disk then too.
        for half in [&mut self.history, &mut self.main] {
            half.run("SET synchronous_commit = on").await?;
            let touched = format!("UPDATE {}_promotion SET state = state", half.prefix);
            half.run(&touched).await?;
        }
        let main = &mut self.main;
        let finishing = async {
            let mut transaction = main.connection.begin().await?;
            sqlx::query("INSERT INTO installation (name, value) VALUES ($1, $2)")
                .bind(PROMOTED)
                .bind(installation)
                .execute(&mut *transaction)
                .await?;
            sqlx::raw_sql("DROP TABLE main_promotion, main_promotion_progress")
                .execute(&mut *transaction)
                .await?;
            transaction.commit().await
        };
        finishing.await.map_err(|source| PromotionError::Target { url: main.shown.clone(), source })?;
        self.forget_history_marker(installation).await
    }

    /// Takes away what is left when a promotion of this installation ended between both databases.
    ///
    /// # Errors
    /// When the database fails.
    pub(super) async fn forget_history_marker(&mut self, installation: &str) -> Result<(), PromotionError> {
        let marker = self.history.marker("history").await?;
        if marker.is_some_and(|marker| marker.installation == installation) {
            self.history.run("DROP TABLE history_promotion, history_promotion_progress").await?;
        }
        Ok(())
    }

    /// The addresses of main and history, without credentials.
    #[must_use]
    pub fn addresses(&self) -> [&str; 2] {
        [&self.main.shown, &self.history.shown]
    }

    /// Closes both connections.
    pub async fn close(self) {
        for half in [self.main, self.history] {
            if let Err(error) = half.connection.close().await {
                tracing::warn!(%error, "closing a database failed");
            }
        }
    }
}

impl Half {
    async fn connect(url: &str, prefix: &'static str, lock: i64) -> Result<Self, PromotionError> {
        let shown = without_credentials(url);
        let failed = |source| PromotionError::Target { url: shown.clone(), source };
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
            return Err(PromotionError::refused(format!("{shown} does not let this user make tables")));
        }
        Ok(Self { connection, url: url.to_owned(), shown, prefix, lock })
    }

    /// An error of this database.
    pub(super) fn failed(&self, source: sqlx::Error) -> PromotionError {
        PromotionError::Target { url: self.shown.clone(), source }
    }

    async fn run(&mut self, text: &str) -> Result<(), PromotionError> {
        let run = sqlx::raw_sql(AssertSqlSafe(text.to_owned())).execute(&mut self.connection).await;
        run.map(drop).map_err(|error| self.failed(error))
    }

    async fn state(
        &mut self,
        other: &str,
        installation: &str,
        state: &str,
    ) -> Result<TargetState, PromotionError> {
        if let Some(marker) = self.marker(self.prefix).await? {
            return self.judge(&marker, installation, state).map(|()| TargetState::CutOff);
        }
        let tables = self.tables().await?;
        // What the same promotion has made of the other database, where both are one.
        let is_shared = self.marker(other).await?.is_some_and(|marker| marker.installation == installation);
        if tables.is_empty() || is_shared {
            return Ok(TargetState::Empty);
        }
        if tables.iter().any(|table| table == "installation") {
            let text = "SELECT value FROM installation WHERE name = $1";
            let promoted = sqlx::query_scalar(text).bind(PROMOTED).fetch_optional(&mut self.connection).await;
            let promoted: Option<String> = promoted.map_err(|error| self.failed(error))?;
            if promoted.as_deref() == Some(installation) {
                return Ok(TargetState::Finished);
            }
        }
        let shown: Vec<&str> = tables.iter().take(3).map(String::as_str).collect();
        Err(PromotionError::refused(format!(
            "{} is not empty: it holds {} tables ({}, …); promote to an empty database",
            self.shown,
            tables.len(),
            shown.join(", ")
        )))
    }

    fn judge(&self, marker: &Marker, installation: &str, state: &str) -> Result<(), PromotionError> {
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

    /// Tables and views of the schema that new tables are made in.
    async fn tables(&mut self) -> Result<Vec<String>, PromotionError> {
        let text = "SELECT relname::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace \
            AND relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY relname";
        let tables = sqlx::query_scalar(text).fetch_all(&mut self.connection).await;
        tables.map_err(|error| self.failed(error))
    }

    async fn marker(&mut self, prefix: &str) -> Result<Option<Marker>, PromotionError> {
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
        Ok(row.map(|(installation, state)| Marker { installation, state }))
    }

    /// Both tables of the marker come with one commit, before any other table.
    async fn claim(&mut self, installation: &str, state: &str) -> Result<(), PromotionError> {
        let locked = sqlx::query_scalar("SELECT pg_try_advisory_lock($1)").bind(self.lock);
        let is_locked: bool =
            locked.fetch_one(&mut self.connection).await.map_err(|error| self.failed(error))?;
        if !is_locked {
            return Err(PromotionError::refused(format!("another promotion writes to {}", self.shown)));
        }
        // A commit that the server forgets in a power cut takes its progress along.
        self.run("SET synchronous_commit = off").await?;
        // A page is a small part of a table, which a plan for any page does not know.
        self.run("SET plan_cache_mode = force_custom_plan").await?;
        if self.marker(self.prefix).await?.is_some() {
            return Ok(());
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
        claiming.await.map_err(|source| PromotionError::Target { url: self.shown.clone(), source })
    }

    async fn migrate(&self) -> Result<(), PromotionError> {
        let failed = |source| OpenError::Migrate { url: self.shown.clone(), source };
        let mut options = sea_orm::ConnectOptions::new(&self.url);
        options.max_connections(1).sqlx_logging(false);
        let connection = sea_orm::Database::connect(options).await.map_err(failed)?;
        let migrated = match self.prefix {
            "main" => MainMigrator::up(&connection, None).await,
            _ => HistoryMigrator::up(&connection, None).await,
        };
        migrated.map_err(failed)?;
        connection.close().await.map_err(failed)?;
        Ok(())
    }

    /// Up to where a unit is there.
    ///
    /// # Errors
    /// When the database fails or holds something else.
    pub(super) async fn progress(&mut self, unit: &Unit) -> Result<Progress, PromotionError> {
        let text =
            format!("SELECT position, rows, is_done FROM {}_promotion_progress WHERE name = $1", self.prefix);
        let row: Option<(Option<String>, i64, bool)> = sqlx::query_as(AssertSqlSafe(text))
            .bind(unit.name())
            .fetch_optional(&mut self.connection)
            .await
            .map_err(|error| self.failed(error))?;
        let Some((position, rows, is_done)) = row else { return Ok(Progress::default()) };
        let unknown = || PromotionError::refused(format!("the progress of {} cannot be read", unit.name()));
        let position = position.map(|text| Position::from_json(&text).ok_or_else(unknown)).transpose()?;
        Ok(Progress { position, rows: rows.unsigned_abs(), is_done })
    }

    /// The statement that keeps the progress of a unit: name, position, rows, whether it is done.
    pub(super) fn progress_text(&self) -> String {
        format!(
            "INSERT INTO {}_promotion_progress (name, position, rows, is_done) VALUES ($1, $2, $3, $4) \
            ON CONFLICT (name) DO UPDATE SET position = $2, rows = $3, is_done = $4",
            self.prefix
        )
    }
}
