//! The target of a promotion: both databases of PostgreSQL, from claiming them for an installation to removing the
//! markers.
//!
//! Until a promotion is finished, each database has a marker table, which names the installation and the key up to which
//! each table is copied. Progress is written in the transaction of the rows. A server refuses to start on a main database
//! with a marker (`store::unfinished`).

use sea_orm::sqlx::{self, AssertSqlSafe, Connection as _};

use super::error::PromotionError;
use super::target_database::{PROMOTED, TargetDatabase, TargetState};
use super::unit::{InstallationPart, PromotionUnit};
use crate::store::history::segments::SegmentId;
use crate::store::history::segments::storage::partition_texts;

/// Keys of the advisory locks of a promotion, for main and history.
const LOCKS: [i64; 2] = [0x5741_5443_5052_4d31, 0x5741_5443_5052_4d32];

/// The main and history databases of the target, which may be one and the same.
#[derive(Debug)]
pub struct PromotionTarget {
    pub(super) main: TargetDatabase,
    pub(super) history: TargetDatabase,
}

impl PromotionTarget {
    /// Connects to both databases without changing anything.
    ///
    /// # Errors
    ///
    /// When one of the databases does not answer, or is not suitable as a target.
    pub async fn connect(main: &str, history: &str) -> Result<Self, PromotionError> {
        let main = TargetDatabase::connect(main, "main", LOCKS[0]).await?;
        let history = TargetDatabase::connect(history, "history", LOCKS[1]).await?;
        Ok(Self { main, history })
    }

    /// The state of the target, from the view of the installation in this state.
    ///
    /// # Errors
    ///
    /// When one of the databases contains something else.
    pub(super) async fn state(
        &mut self,
        installation: &str,
        state: &str,
    ) -> Result<TargetState, PromotionError> {
        let main = self.main.state("history", installation, state).await?;
        if main == TargetState::Finished {
            return self.require_history(installation, state).await.map(|()| main);
        }
        let history = self.history.state("main", installation, state).await?;
        if history == TargetState::Finished {
            return Err(PromotionError::refused(format!(
                "{} holds the history of this installation already, but {} is not the main database that it was moved with",
                self.history.shown, self.main.shown
            )));
        }
        // A promotion may have been interrupted after claiming only one of them.
        let is_empty = main == TargetState::Empty && history == TargetState::Empty;
        Ok(if is_empty { TargetState::Empty } else { TargetState::CutOff })
    }

    /// Checks that the history was copied together with the finished main database, or at least has its marker.
    async fn require_history(&mut self, installation: &str, state: &str) -> Result<(), PromotionError> {
        let found = match self.history.marker("history").await? {
            None => self.history.promoted().await?,
            found => found,
        };
        if found.is_some_and(|found| found.installation == installation && found.state == state) {
            return Ok(());
        }
        Err(PromotionError::refused(format!(
            "{} holds this installation already, but {} does not hold its history: name the database that it was moved to with             --history-to",
            self.main.shown, self.history.shown
        )))
    }

    /// Claims both databases for this installation by markers, and creates their tables.
    ///
    /// # Errors
    ///
    /// When another promotion is writing to the databases or has finished there meanwhile, or tables cannot be created.
    pub(super) async fn claim(&mut self, installation: &str, state: &str) -> Result<(), PromotionError> {
        for half in [&mut self.main, &mut self.history] {
            half.lock().await?;
        }
        // The state read before taking the locks may be outdated: another promotion may have finished meanwhile, and a
        // server may already use its target.
        if self.state(installation, state).await? == TargetState::Finished {
            let why = format!("another promotion to {} has completed in the meantime", self.main.shown);
            return Err(PromotionError::refused(why));
        }
        for half in [&mut self.main, &mut self.history] {
            half.claim(installation, state).await?;
        }
        for half in [&self.main, &self.history] {
            half.migrate().await?;
        }
        Ok(())
    }

    /// The database that a unit is copied to.
    pub(super) const fn half(&mut self, part: InstallationPart) -> &mut TargetDatabase {
        match part {
            InstallationPart::Main => &mut self.main,
            InstallationPart::History | InstallationPart::Segment(_) => &mut self.history,
        }
    }

    /// Creates the table partitions of these segments.
    pub(super) async fn make_partitions(&mut self, segments: &[SegmentId]) -> Result<(), PromotionError> {
        for text in segments.iter().flat_map(|id| partition_texts(*id)) {
            self.history.run(&text).await?;
        }
        Ok(())
    }

    /// Lets PostgreSQL analyse the tables, so that it can plan the queries for pages.
    pub(super) async fn analyze(
        &mut self,
        units: impl Iterator<Item = &PromotionUnit>,
    ) -> Result<(), PromotionError> {
        for unit in units {
            let text = format!("ANALYZE {}", unit.target);
            self.half(unit.part).run(&text).await?;
        }
        Ok(())
    }

    /// Removes the markers, first the one of main, or both at once if both are the same database. A server may start
    /// afterwards.
    pub(super) async fn finish(&mut self, installation: &str, state: &str) -> Result<(), PromotionError> {
        // The last commit of each database waits for the disk; all commits before it are then on the disk as well.
        for half in [&mut self.history, &mut self.main] {
            half.run("SET synchronous_commit = on").await?;
            let touched = format!("UPDATE {}_promotion SET state = state", half.prefix);
            half.run(&touched).await?;
        }
        let mut ending = "DROP TABLE main_promotion, main_promotion_progress".to_owned();
        if self.is_one().await? {
            ending = format!("{ending}; {}", history_ending(installation, state));
        }
        let main = &mut self.main;
        let finishing = async {
            let mut transaction = main.connection.begin().await?;
            sqlx::query("INSERT INTO installation (name, value) VALUES ($1, $2)")
                .bind(PROMOTED)
                .bind(format!("{installation} {state}"))
                .execute(&mut *transaction)
                .await?;
            sqlx::raw_sql(AssertSqlSafe(ending)).execute(&mut *transaction).await?;
            transaction.commit().await
        };
        finishing.await.map_err(|problem| PromotionError::Target { url: main.shown.clone(), problem })?;
        self.finish_history(installation, state).await
    }

    /// Returns true if main and history are the same database: each then sees the marker of the other.
    async fn is_one(&mut self) -> Result<bool, PromotionError> {
        let sees_history = self.main.marker("history").await?.is_some();
        Ok(sees_history && self.history.marker("main").await?.is_some())
    }

    /// Removes the marker of the history if it exists: a promotion may have been interrupted after main was finished.
    pub(super) async fn finish_history(
        &mut self,
        installation: &str,
        state: &str,
    ) -> Result<(), PromotionError> {
        let marker = self.history.marker("history").await?;
        if marker.is_some_and(|marker| marker.installation == installation) {
            self.history.run(&history_ending(installation, state)).await?;
        }
        Ok(())
    }

    /// The URLs of main and history, without credentials.
    #[must_use]
    pub fn addresses(&self) -> [&str; 2] {
        [&self.main.shown, &self.history.shown]
    }

    /// Closes the connections to both databases.
    pub async fn close(self) {
        for half in [self.main, self.history] {
            if let Err(error) = half.connection.close().await {
                tracing::warn!(url = half.shown, %error, "cannot close a database");
            }
        }
    }
}

/// The statements that end a promotion in the history. Both arguments are hexadecimal digits, so they need no quoting.
fn history_ending(installation: &str, state: &str) -> String {
    format!(
        "COMMENT ON TABLE history_segment IS '{PROMOTED} {installation} {state}'; \
        DROP TABLE history_promotion, history_promotion_progress"
    )
}
