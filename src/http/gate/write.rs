//! A write on its way: one transaction for the effect and for the answer that an `Idempotency-Key` keeps.
//!
//! A handler begins, stores, renders its answer and commits with it; only after that may anybody be told. So a kill
//! at any moment leaves the effect with its answer, or neither. Writers share commits, so a transaction may read what
//! another one has not committed yet: whoever has read in it answers only when that is durable. A write handler can
//! return nothing but a [`Committed`] answer, and its refusals wait in [`Unanswered::undo`].

use std::future::Future;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::LocalBoxFuture;

use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::reply::Reply;
use crate::store::changes::Scope;
use crate::store::{Database, Transaction, organisations};

/// Attempts at a write that the database gives up in favour of others.
const ATTEMPTS: u32 = 5;
/// The pause before the second attempt; each further one waits as long again.
const PAUSE: Duration = Duration::from_millis(20);

/// Keeps the answer of a write, so that the same request can be answered again.
pub trait AnswerKeeper {
    /// Stores the answer in the transaction of the effect.
    ///
    /// # Errors
    /// 503 or 500. 409 when another run has taken over meanwhile.
    fn keep<'a>(
        &'a self,
        transaction: &'a Transaction,
        reply: &'a Reply,
    ) -> LocalBoxFuture<'a, Result<(), ApiError>>;
}

/// The right of a request to change something, and the keeper of its answer, if it was sent under a key.
#[derive(Clone)]
pub struct Effect {
    /// Database key of the organisation that owns whatever it changes.
    organisation: i64,
    keeper: Option<Arc<dyn AnswerKeeper>>,
    unanswered: Unanswered,
    /// The reason why it must not come to be.
    refusal: Option<FieldErrors>,
}

impl Effect {
    /// The effect of a request on behalf of an organisation.
    #[must_use]
    pub fn of(organisation: i64) -> Self {
        Self { organisation, keeper: None, unanswered: Unanswered::default(), refusal: None }
    }

    /// The same, with a keeper of its answer.
    #[must_use]
    pub fn kept_by(self, keeper: Arc<dyn AnswerKeeper>) -> Self {
        Self { keeper: Some(keeper), ..self }
    }

    /// The same, which cannot be committed for this reason.
    #[must_use]
    pub fn refused_for(self, refusal: FieldErrors) -> Self {
        Self { refusal: Some(refusal), ..self }
    }

    /// Passes when it may be committed: to be asked before anything is done that cannot be undone.
    ///
    /// # Errors
    /// 422 with the reason why not.
    pub fn check(&self) -> Result<(), ApiError> {
        self.refusal.clone().map_or(Ok(()), |refusal| Err(refusal.into()))
    }

    /// Returns the place to which the transaction goes if the handler gives it up.
    #[must_use]
    pub fn unanswered(&self) -> Unanswered {
        self.unanswered.clone()
    }

    /// Begins the transaction of the effect in the main database.
    ///
    /// # Errors
    /// 503 or 500.
    pub async fn begin(self, main: &Database) -> Result<Write, ApiError> {
        let transaction = main.begin().await?;
        Ok(Write { transaction: Some(transaction), effect: self })
    }

    /// Begins it as the only one of its organisation: until it ends, whoever else begins so waits. What is read and counted
    /// meanwhile (names, links, how many there are) holds when it is committed.
    ///
    /// # Errors
    /// 503 or 500.
    pub async fn begin_locked(self, main: &Database) -> Result<Write, ApiError> {
        let write = self.begin(main).await?;
        organisations::lock(&*write, write.effect.organisation).await?;
        Ok(write)
    }

    /// Commits the answer to what was done outside of the database and cannot be undone, such as a message that was sent. When
    /// the database gives that up, it alone is made again, and never the request.
    ///
    /// # Errors
    /// As [`Write::commit`].
    pub async fn commit_outcome(self, main: &Database, reply: Reply) -> Result<Committed, ApiError> {
        match until_kept(|| true, || self.clone().commit_once(main, reply.clone())).await {
            // The gate would make the request again.
            Err(ApiError::GivenUp) => Err(ApiError::Unavailable),
            outcome => outcome,
        }
    }

    async fn commit_once(self, main: &Database, reply: Reply) -> Result<Committed, ApiError> {
        let unanswered = self.unanswered();
        let committing = async { self.begin(main).await?.commit(reply).await };
        let committed = committing.await;
        if committed.is_err() {
            unanswered.undo().await?;
        }
        committed
    }
}

/// Makes a write, and makes it again if the database gives it up in favour of another one: nothing of it has happened then.
pub(super) async fn until_kept<T, F: Future<Output = Result<T, ApiError>>>(
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

/// A transaction that ends with an answer; dropping it leaves it to whoever tells the refusal.
pub struct Write {
    /// `None` only while it ends.
    transaction: Option<Transaction>,
    effect: Effect,
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
            self.effect.unanswered.leave(transaction);
        }
    }
}

impl Write {
    /// Commits effect and answer, and hands the answer back. Also an answer without effect is committed: what it was
    /// made from is durable then.
    ///
    /// # Errors
    /// 503 or 500; then nothing has changed, unless the database gave no answer to the commit. 409 when the key was lost to
    /// another run, because this one took too long. 422 when the effect is refused.
    pub async fn commit(mut self, reply: Reply) -> Result<Committed, ApiError> {
        self.effect.check()?;
        if let Some(keeper) = &self.effect.keeper {
            keeper.keep(&self, &reply).await?;
        }
        if let Some(transaction) = self.transaction.take() {
            // A request changes nothing that services of another organisation are shown from.
            transaction.concerns_at_most(Scope::Organisation(self.effect.organisation));
            transaction.commit().await?;
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

    /// Answers whose transaction the database gives up so many times.
    struct GivenUp(AtomicU32);

    impl AnswerKeeper for GivenUp {
        fn keep<'a>(&'a self, _: &'a Transaction, _: &'a Reply) -> LocalBoxFuture<'a, Result<(), ApiError>> {
            Box::pin(async {
                let left =
                    self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
                if left.is_ok() { Err(ApiError::GivenUp) } else { Ok(()) }
            })
        }
    }

    /// The gate makes a request again that ends with [`ApiError::GivenUp`]: what was sent would be sent twice.
    #[rstest]
    #[case(0, true, 0)]
    #[case(4, true, 0)]
    #[case(9, false, 4)]
    #[tokio::test]
    async fn what_was_done_outside_is_not_done_again(
        #[case] given_up: u32,
        #[case] committed: bool,
        #[case] left: u32,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let url = sqlite_url(&folder.path().join("main.db"));
        let main = Database::connect(&url, &StoreLimits::default()).await.unwrap();
        let keeper = Arc::new(GivenUp(AtomicU32::new(given_up)));
        let kept: Arc<dyn AnswerKeeper> = Arc::<GivenUp>::clone(&keeper);
        let effect = Effect::of(1).kept_by(kept);
        let sent = Cell::new(0);
        let request = || async {
            sent.set(sent.get() + 1);
            effect.clone().commit_outcome(&main, Reply::data(serde_json::Value::Null)).await
        };
        let outcome = until_kept(|| true, request).await;
        assert_eq!((sent.get(), outcome.is_ok(), keeper.0.load(Ordering::Relaxed)), (1, committed, left));
    }
}
