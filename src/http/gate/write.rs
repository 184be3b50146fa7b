//! A write on its way: one transaction for the effect and for the answer that an `Idempotency-Key` keeps.
//!
//! A handler begins, stores, renders its answer and commits with it; only after that may anybody be told. So a kill at
//! any moment leaves the effect with its answer, or neither.

use std::ops::Deref;
use std::sync::Arc;

use crate::http::gate::idempotency::Claim;
use crate::http::kit::error::ApiError;
use crate::http::kit::reply::Reply;
use crate::http::kit::store_access::StoreResult as _;
use crate::http::v1::api::Api;
use crate::model::secret::Sealer;
use crate::store::{Transaction, idempotency_keys};

/// What a request may change, and the key that it was sent under, if any.
#[derive(Debug, Default)]
pub struct Effect {
    claim: Option<Arc<Claim>>,
}

impl Effect {
    /// The effect of a request with a key.
    #[must_use]
    pub const fn under(claim: Arc<Claim>) -> Self {
        Self { claim: Some(claim) }
    }

    /// Begins the transaction of the effect.
    ///
    /// # Errors
    /// 503 or 500.
    pub async fn begin(self, api: &Api) -> Result<Write, ApiError> {
        let transaction = api.parts.databases.main.begin().await.or_unavailable()?;
        let claim = self.claim.map(|claim| (claim, api.parts.definer.sealer.clone()));
        Ok(Write { transaction, claim })
    }
}

/// A transaction that ends with an answer; dropping it undoes everything.
pub struct Write {
    transaction: Transaction,
    claim: Option<(Arc<Claim>, Sealer)>,
}

impl Deref for Write {
    type Target = Transaction;

    fn deref(&self) -> &Transaction {
        &self.transaction
    }
}

impl Write {
    /// Commits effect and answer, and hands the answer back.
    ///
    /// # Errors
    /// 503 or 500; then nothing has changed. 409 when the key was lost to another run, because this one took too long.
    pub async fn commit(self, reply: Reply) -> Result<Reply, ApiError> {
        if let Some((claim, sealer)) = &self.claim {
            let body = claim.seal(sealer, &reply.text());
            let settled = idempotency_keys::settle(&self.transaction, &claim.run, reply.head(), body);
            if !settled.await.or_unavailable()? {
                return Err(ApiError::KeyRunning);
            }
        }
        self.transaction.commit().await.or_unavailable()?;
        if let Some((claim, _)) = &self.claim {
            claim.mark_settled();
        }
        Ok(reply)
    }
}
