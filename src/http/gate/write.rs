//! Writes: one transaction for the effect, for its entry in the audit log, and for the response stored under an
//! `Idempotency-Key`.
//!
//! A handler begins, stores, renders its response and commits with it; only then may the response be sent. So a kill at any
//! moment leaves both the effect and its response, or neither. Writers share commits, so a transaction may read uncommitted
//! data of another one: its response is sent only when that data is durable. A write handler can only return a
//! [`CommittedReply`]; the transaction of a refused write is kept for [`AbandonedTransaction::undo`].

use std::cell::Cell;
use std::future::Future;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use serde_json::Value;

use crate::http::gate::audit_trail::AuditTrail;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::reply::ApiReply;
use crate::store::changes::ChangeScope;
use crate::store::{Database, Transaction, audit_entries, organisations};

/// Maximum number of attempts at a write that the database aborts in favour of others.
const ATTEMPTS: u32 = 5;
/// Pause before the second attempt; each further pause is longer by this time.
const PAUSE: Duration = Duration::from_millis(20);

/// Stores the response of a write, so that a repeated request gets the same response.
pub trait AnswerKeeper {
    /// Stores the response in the transaction of the effect.
    ///
    /// # Errors
    ///
    /// 409 if another run has taken over the key meanwhile.
    fn keep<'a>(
        &'a self,
        transaction: &'a Transaction,
        reply: &'a ApiReply,
    ) -> LocalBoxFuture<'a, Result<(), ApiError>>;
}

/// The permission of a request to write, with the keeper of its response if the request has an `Idempotency-Key`.
#[derive(Clone)]
pub struct WriteGrant {
    /// Database key of the organisation that owns everything that the request changes.
    organisation: i64,
    keeper: Option<Arc<dyn AnswerKeeper>>,
    unanswered: AbandonedTransaction,
    /// Errors because of which the effect must not be committed.
    refusal: Option<FieldErrors>,
    /// What the audit log says about the request; `None` if it changes nothing.
    trail: Option<Rc<AuditTrail>>,
}

impl WriteGrant {
    /// Creates the permission for a request on behalf of an organisation.
    #[must_use]
    pub fn of(organisation: i64) -> Self {
        Self {
            organisation,
            keeper: None,
            unanswered: AbandonedTransaction::default(),
            refusal: None,
            trail: None,
        }
    }

    /// Adds a keeper of the response.
    #[must_use]
    pub fn kept_by(self, keeper: Arc<dyn AnswerKeeper>) -> Self {
        Self { keeper: Some(keeper), ..self }
    }

    /// Adds what the audit log says about the request.
    #[must_use]
    pub fn audited(self, trail: AuditTrail) -> Self {
        Self { trail: Some(Rc::new(trail)), ..self }
    }

    /// Forbids the commit because of these errors.
    #[must_use]
    pub fn refused_for(self, refusal: FieldErrors) -> Self {
        Self { refusal: Some(refusal), ..self }
    }

    /// Checks that the effect may be committed. To be called before any action that cannot be undone.
    ///
    /// # Errors
    /// 422 with the errors.
    pub fn check(&self) -> Result<(), ApiError> {
        self.refusal.clone().map_or(Ok(()), |refusal| Err(refusal.into()))
    }

    /// Returns the slot to which the transaction moves if the handler drops it.
    #[must_use]
    pub fn unanswered(&self) -> AbandonedTransaction {
        self.unanswered.clone()
    }

    /// Begins the transaction of the effect in the main database.
    pub async fn begin(self, main: &Database) -> Result<WriteTransaction, ApiError> {
        let transaction = main.begin().await?;
        Ok(WriteTransaction { transaction: Some(transaction), effect: self, replaced: Cell::default() })
    }

    /// Begins the transaction with the organisation locked: other locked transactions wait until this one ends. So names,
    /// links and quotas that are read in the transaction still hold at the commit.
    pub async fn begin_locked(self, main: &Database) -> Result<WriteTransaction, ApiError> {
        let write = self.begin(main).await?;
        organisations::lock(&*write, write.effect.organisation).await?;
        Ok(write)
    }

    /// Commits the response to an action outside of the database that cannot be undone, such as a message that was sent. If
    /// the database aborts this transaction, only the transaction is repeated, never the action.
    ///
    /// # Errors
    /// As [`WriteTransaction::commit`].
    pub async fn commit_outcome(self, main: &Database, reply: ApiReply) -> Result<CommittedReply, ApiError> {
        match retry_given_up(|| true, || self.clone().commit_once(main, reply.clone())).await {
            // With `GivenUp` the gate would repeat the request.
            Err(ApiError::GivenUp) => Err(ApiError::Unavailable),
            outcome => outcome,
        }
    }

    async fn commit_once(self, main: &Database, reply: ApiReply) -> Result<CommittedReply, ApiError> {
        let unanswered = self.unanswered();
        let committing = async { self.begin(main).await?.commit(reply).await };
        let committed = committing.await;
        if committed.is_err() {
            unanswered.undo().await?;
        }
        committed
    }
}

/// Repeats a write while the database aborts it in favour of another one. An aborted attempt has no effect.
pub(super) async fn retry_given_up<T, F: Future<Output = Result<T, ApiError>>>(
    may_be_made_again: impl Fn() -> bool,
    mut make: impl FnMut() -> F,
) -> Result<T, ApiError> {
    for attempt in 1..ATTEMPTS {
        match make().await {
            Err(ApiError::GivenUp) if may_be_made_again() => tokio::time::sleep(PAUSE * attempt).await,
            outcome => return outcome,
        }
    }
    make().await
}

/// A transaction that ends with a response. If dropped, it moves to [`AbandonedTransaction`].
pub struct WriteTransaction {
    /// `None` only during the commit or after the transaction has moved.
    transaction: Option<Transaction>,
    effect: WriteGrant,
    /// The object before the change, as clients see it; null if it did not exist or was not read.
    replaced: Cell<Value>,
}

impl Deref for WriteTransaction {
    type Target = Transaction;

    fn deref(&self) -> &Transaction {
        match &self.transaction {
            Some(transaction) => transaction,
            None => unreachable!("a write that ends is not used any more"),
        }
    }
}

impl Drop for WriteTransaction {
    fn drop(&mut self) {
        if let Some(transaction) = self.transaction.take() {
            self.effect.unanswered.leave(transaction);
        }
    }
}

impl WriteTransaction {
    /// Names the object before the change, as clients see it, for the audit log.
    pub fn replaces(&self, view: Value) {
        self.replaced.set(view);
    }

    /// Commits the effect and the response, and returns the response. A response without an effect is committed as well, so
    /// that the data that it is based on is durable.
    ///
    /// # Errors
    ///
    /// 503 or 500 when the database fails; then nothing has changed, unless it failed during the commit, whose outcome is
    /// unknown. 409 if another run has taken over the key, because this run took too long. 422 if the effect is refused.
    pub async fn commit(mut self, reply: ApiReply) -> Result<CommittedReply, ApiError> {
        self.effect.check()?;
        if let Some(keeper) = &self.effect.keeper {
            keeper.keep(&self, &reply).await?;
        }
        if let Some(trail) = &self.effect.trail {
            let entry = trail.entry(self.effect.organisation, &self.replaced.take(), &reply);
            audit_entries::insert(&*self, &entry).await?;
        }
        if let Some(transaction) = self.transaction.take() {
            // A request changes nothing that services of another organisation show.
            transaction.concerns_at_most(ChangeScope::Organisation(self.effect.organisation));
            transaction.commit().await?;
        }
        Ok(CommittedReply(reply))
    }
}

/// A response whose effect, and the data that it is based on, are durable. Only [`WriteTransaction::commit`] creates it.
#[derive(Debug)]
pub struct CommittedReply(ApiReply);

impl CommittedReply {
    /// Returns the response, which may be sent now.
    #[must_use]
    pub fn into_reply(self) -> ApiReply {
        self.0
    }

    /// Creates a response for tests without a database.
    #[cfg(test)]
    pub(in crate::http) const fn without_database(reply: ApiReply) -> Self {
        Self(reply)
    }
}

/// The transaction of a write that was dropped because it was refused or has panicked.
#[derive(Clone, Debug, Default)]
pub struct AbandonedTransaction(Arc<Mutex<Option<Transaction>>>);

impl AbandonedTransaction {
    fn leave(&self, transaction: Transaction) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(transaction);
    }

    /// Rolls the transaction back. Returns when everything that it has read is durable, so that the refusal may be sent.
    ///
    /// # Errors
    ///
    /// 503 or 500, to be sent instead of the refusal, because data that the refusal is based on was not committed.
    pub async fn undo(&self) -> Result<(), ApiError> {
        let left = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        match left {
            Some(transaction) => Ok(transaction.undo().await?),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::atomic::{AtomicU32, Ordering};

    use rstest::rstest;

    use super::*;
    use crate::config::limits::StoreLimits;
    use crate::store::database::sqlite_url;

    /// Number of transactions that the database aborts before one succeeds.
    struct GivenUp(AtomicU32);

    impl AnswerKeeper for GivenUp {
        fn keep<'a>(
            &'a self,
            _: &'a Transaction,
            _: &'a ApiReply,
        ) -> LocalBoxFuture<'a, Result<(), ApiError>> {
            Box::pin(async {
                let left =
                    self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
                if left.is_ok() { Err(ApiError::GivenUp) } else { Ok(()) }
            })
        }
    }

    /// The gate repeats a request that ends with [`ApiError::GivenUp`], so a message would be sent twice.
    #[rstest]
    #[case(0, true, 0)]
    #[case(4, true, 0)]
    #[case(9, false, 4)]
    #[tokio::test]
    async fn an_external_effect_is_not_repeated_with_the_transaction(
        #[case] given_up: u32,
        #[case] committed: bool,
        #[case] left: u32,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let url = sqlite_url(&folder.path().join("main.db"));
        let main = Database::connect(&url, &StoreLimits::default()).await.unwrap();
        let keeper = Arc::new(GivenUp(AtomicU32::new(given_up)));
        let answer_keeper: Arc<dyn AnswerKeeper> = Arc::<GivenUp>::clone(&keeper);
        let effect = WriteGrant::of(1).kept_by(answer_keeper);
        let sent = Cell::new(0);
        let request = || async {
            sent.set(sent.get() + 1);
            effect.clone().commit_outcome(&main, ApiReply::data(serde_json::Value::Null)).await
        };
        let outcome = retry_given_up(|| true, request).await;
        assert_eq!((sent.get(), outcome.is_ok(), keeper.0.load(Ordering::Relaxed)), (1, committed, left));
    }
}
