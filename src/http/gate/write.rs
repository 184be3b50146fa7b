//! A write on its way: one transaction for the effect and for the answer that an `Idempotency-Key` keeps.
//!
//! A handler begins, stores, renders its answer and commits with it; only after that may anybody be told. So a kill at
//! any moment leaves the effect with its answer, or neither. Writers share commits, so a transaction may read what another one
//! has not committed yet: whoever has read in it answers only when that is durable. A write handler can return nothing but a
//! [`Committed`] answer, and its refusals wait in [`Unanswered::undo`].

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

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
    unanswered: Unanswered,
}

impl Effect {
    /// The effect of a request with a key.
    #[must_use]
    pub fn under(claim: Arc<Claim>) -> Self {
        Self { claim: Some(claim), unanswered: Unanswered::default() }
    }

    /// Where the transaction goes if the handler gives it up.
    #[must_use]
    pub fn unanswered(&self) -> Unanswered {
        self.unanswered.clone()
    }

    /// Begins the transaction of the effect.
    ///
    /// # Errors
    /// 503 or 500.
    pub async fn begin(self, api: &Api) -> Result<Write, ApiError> {
        let transaction = api.parts.databases.main.begin().await.or_unavailable()?;
        let claim = self.claim.map(|claim| (claim, api.parts.definer.sealer.clone()));
        Ok(Write { transaction: Some(transaction), claim, unanswered: self.unanswered })
    }
}

/// A transaction that ends with an answer; dropping it leaves it to whoever tells the refusal.
pub struct Write {
    /// `None` only while it ends.
    transaction: Option<Transaction>,
    claim: Option<(Arc<Claim>, Sealer)>,
    unanswered: Unanswered,
}

impl Deref for Write {
    type Target = Transaction;

    fn deref(&self) -> &Transaction {
        match &self.transaction {
            Some(transaction) => transaction,
            None => unreachable!("a write that ends is not used any more"),
        }
    }
}

impl Drop for Write {
    fn drop(&mut self) {
        if let Some(transaction) = self.transaction.take() {
            self.unanswered.leave(transaction);
        }
    }
}

impl Write {
    /// Commits effect and answer, and hands the answer back. Also an answer without effect is committed: what it was
    /// made from is durable then.
    ///
    /// # Errors
    /// 503 or 500; then nothing has changed. 409 when the key was lost to another run, because this one took too long.
    pub async fn commit(mut self, reply: Reply) -> Result<Committed, ApiError> {
        if let Some((claim, sealer)) = &self.claim {
            let body = claim.seal(sealer, &reply.text());
            let settled = idempotency_keys::settle(&*self, &claim.run, reply.head(), body);
            if !settled.await.or_unavailable()? {
                return Err(ApiError::KeyRunning);
            }
        }
        if let Some(transaction) = self.transaction.take() {
            transaction.commit().await.or_unavailable()?;
        }
        Ok(Committed(reply))
    }
}

/// An answer of which the effect, and everything that it was made from, is durable. Only [`Write::commit`] makes one.
#[derive(Debug)]
pub struct Committed(Reply);

impl Committed {
    /// The answer, which may be told now.
    #[must_use]
    pub fn into_reply(self) -> Reply {
        self.0
    }

    /// An answer of a test without database.
    #[cfg(test)]
    pub(in crate::http) const fn without_database(reply: Reply) -> Self {
        Self(reply)
    }
}

/// The transaction of a write that was given up, because it is refused or has panicked.
#[derive(Clone, Debug, Default)]
pub struct Unanswered(Arc<Mutex<Option<Transaction>>>);

impl Unanswered {
    fn leave(&self, transaction: Transaction) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(transaction);
    }

    /// Undoes the transaction. Returns when everything that it has read is durable, so that the refusal may be told.
    ///
    /// # Errors
    /// 503 or 500, instead of the refusal: what it was made from has not come to be.
    pub async fn undo(&self) -> Result<(), ApiError> {
        let left = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        match left {
            Some(transaction) => transaction.undo().await.or_unavailable(),
            None => Ok(()),
        }
    }
}
