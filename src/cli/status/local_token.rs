//! A token for an operator on the machine of the server: a person who can write its database needs no other one.

use crate::app::Foundation;
use crate::clock::Clock;
use crate::config::Config;
use crate::id::Id;
use crate::model::access::{ApiToken, Permission, TokenHolder};
use crate::model::token::TokenText;
use crate::store::{organisations, tokens};

/// Milliseconds after which the token expires, if the command was killed: a day.
const LIFETIME_MS: i64 = 24 * 60 * 60 * 1_000;
/// What the picture shows.
const PERMISSIONS: [Permission; 2] = [Permission::ServicesView, Permission::EngineView];

/// A token that exists while the command runs.
pub(super) struct LocalToken {
    foundation: Foundation,
    id: Id,
    /// The text of the token.
    pub(super) text: String,
}

impl LocalToken {
    /// Makes a token in the installation of these settings; `None` if there is none that can be opened.
    pub(super) async fn make(config: &Config) -> Option<Self> {
        let foundation = Foundation::open_existing(config.clone(), Clock::System).await.ok()?;
        match Self::insert(&foundation).await {
            Ok(made) => made.map(|(id, text)| Self { foundation, id, text }),
            Err(error) => {
                tracing::debug!(%error, "no token of its own");
                None
            }
        }
    }

    async fn insert(foundation: &Foundation) -> anyhow::Result<Option<(Id, String)>> {
        let transaction = foundation.databases.main.begin().await?;
        let all = organisations::list(&transaction).await?;
        let own = all.iter().find(|organisation| organisation.self_hosted).or_else(|| all.first());
        let Some(own) = own else { return Ok(None) };
        let now = foundation.clock.now();
        let text = TokenText::random(&foundation.config.compat.token_prefix);
        let token = ApiToken {
            key: 0,
            id: Id::random(),
            organisation: own.key,
            name: "watchkeeper status".into(),
            permissions: PERMISSIONS.into_iter().collect(),
            expires_at: Some(now.plus_ms(LIFETIME_MS)),
            access_scope: None,
            created_at: now,
            holder: TokenHolder::Program,
        };
        let token = tokens::insert(&transaction, token, &text.hash()).await?;
        transaction.commit().await?;
        Ok(Some((token.id, text.expose().to_owned())))
    }

    /// Deletes the token.
    pub(super) async fn delete(self) -> anyhow::Result<()> {
        let transaction = self.foundation.databases.main.begin().await?;
        tokens::delete(&transaction, self.id).await?;
        Ok(transaction.commit().await?)
    }
}
