//! A write on its way: one transaction for the effect and for the answer that an `Idempotency-Key` keeps.
//!
//! A handler begins, stores, renders its answer and commits with it; only after that may anybody be told. So a kill at
//! any moment leaves the effect with its answer, or neither.

use std::ops::Deref;

use crate::http::api::Api;
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::http::store_access::StoreResult as _;
use crate::store::Transaction;

/// What a request may change: it says under which key, if any.
#[derive(Debug, Default)]
pub struct Effect {}

impl Effect {
    /// Begins the transaction of the effect.
    ///
    /// # Errors
    /// 503 or 500.
    pub async fn begin(self, api: &Api) -> Result<Write, ApiError> {
        let transaction = api.parts.databases.main.begin().await.or_unavailable()?;
        Ok(Write { transaction })
    }
}

/// A transaction that ends with an answer; dropping it undoes everything.
pub struct Write {
    transaction: Transaction,
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
    /// 503 or 500; then nothing has changed.
    pub async fn commit(self, reply: Reply) -> Result<Reply, ApiError> {
        self.transaction.commit().await.or_unavailable()?;
        Ok(reply)
    }
}
