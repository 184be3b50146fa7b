//! The foundation of commands and the server: the data folder, both databases, the key that opens secrets.

use std::path::Path;

use anyhow::bail;

use crate::app::first_start;
use crate::clock::Clock;
use crate::config::Config;
use crate::config::sources::BadConfig;
use crate::id::Id;
use crate::model::secret::Sealer;
use crate::store::database::sqlite_url;
use crate::store::{Databases, idempotency_keys, installation, organisations};

/// The embedded databases in the data folder.
pub(super) const MAIN_FILE: &str = "main.db";
pub(super) const HISTORY_FILE: &str = "history.db";

/// Everything that is needed by commands that work on the databases alone.
pub struct Foundation {
    /// The settings.
    pub config: Config,
    /// Wall time.
    pub clock: Clock,
    /// Both databases, up to date.
    pub databases: Databases,
    /// Seals and opens secrets.
    pub sealer: Sealer,
}

impl Foundation {
    /// Makes the data folder, opens the databases and checks the key.
    ///
    /// # Errors
    /// What is wrong with folder, key or database, in one line.
    pub async fn lay(config: Config, clock: Clock) -> anyhow::Result<Self> {
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

    /// Frees the idempotency keys of requests that ran on this node when an earlier process died. All running keys
    /// of an embedded database are freed, because it is this node's alone.
    pub(super) async fn free_keys(&self, node: Id) -> anyhow::Result<()> {
        let transaction = self.databases.main.begin().await?;
        if self.config.database_url.is_none() {
            idempotency_keys::free_all_running(&transaction).await?;
        } else {
            idempotency_keys::free_running_on(&transaction, node).await?;
        }
        Ok(transaction.commit().await?)
    }

    /// With a second organisation it must have been decided which addresses checks may reach.
    pub(super) async fn demand_egress_choice(&self) -> anyhow::Result<()> {
        let organisations = organisations::count(self.databases.main.reader()).await?;
        if organisations > 1 && self.config.egress.is_none() {
            let problem =
                "there are several organisations, so egress must be set: public-only or private-allowed";
            return Err(BadConfig(problem.into()).into());
        }
        Ok(())
    }
}

fn embedded_url(data_dir: &Path, file: &str) -> String {
    sqlite_url(&data_dir.join(file))
}
