//! Idempotency keys and responses in the main database, for every application state that has one (contract 1.10).
//!
//! The key of a running request is a lease. Bodies of responses are stored sealed, bound to the organisation, the token and
//! the key.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use futures_util::future::LocalBoxFuture;

use crate::clock::Timestamp;
use crate::clock::guard::ClockGuard;
use crate::http::gate::cached_bytes::CachedBytes;
use crate::http::gate::idempotency::{IdempotencyStore, KeyClaim, KeyState, LEASE_MS};
use crate::http::gate::replay::{AnswerReplay, ReplayBody};
use crate::http::gate::write::AnswerKeeper;
use crate::http::kit::error::ApiError;
use crate::http::kit::languages::language_headers;
use crate::http::kit::reply::ApiReply;
use crate::id::Id;
use crate::model::secret::{SecretPlace, SecretSealer};
use crate::store::idempotency_keys::{
    self as keys, AnswerHead, CachedAnswer, ClaimOutcome, Fingerprint, NewRun,
};
use crate::store::{Database, Transaction};

/// Longest body that is stored, in bytes; a longer one is rebuilt when its response is replayed.
const WHOLE_BYTES: usize = 64 * 1_024;
const IDEMPOTENT_REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// An application state with a main database for keys and responses.
pub trait KeyStore {
    /// The main database.
    fn main(&self) -> &Database;
    /// Seals the bodies of responses.
    fn sealer(&self) -> &SecretSealer;
    /// Base URL of the API, the prefix of all resource URLs.
    fn base_url(&self) -> &str;
    /// Id of this node, which holds the leases.
    fn node(&self) -> Id;
    /// Guard of the wall clock, for leases.
    fn guard(&self) -> &ClockGuard;
    /// The bytes stored for each token.
    fn cached_bytes(&self) -> &Arc<CachedBytes>;
    /// Returns the present wall time.
    fn now(&self) -> Timestamp;
}

/// Seals a response and stores it under its key.
struct SealedAnswers {
    claim: Arc<KeyClaim>,
    sealer: SecretSealer,
    base_url: String,
    cached_bytes: Arc<CachedBytes>,
}

impl AnswerKeeper for SealedAnswers {
    fn keep<'a>(
        &'a self,
        transaction: &'a Transaction,
        reply: &'a ApiReply,
    ) -> LocalBoxFuture<'a, Result<(), ApiError>> {
        Box::pin(async move {
            let (text, resource) = (reply.text(), self.claim.origin.resource(reply, &self.base_url));
            let is_whole = text.len() <= WHOLE_BYTES || resource.is_none();
            let body = is_whole.then(|| seal(&self.sealer, &self.claim, &text));
            let bytes = body.as_ref().map_or(0, |body| i64::try_from(body.len()).unwrap_or(i64::MAX));
            let answer = CachedAnswer { head: reply.head(), body, resource };
            if !keys::settle(transaction, &self.claim.run, answer).await? {
                return Err(ApiError::KeyRunning);
            }
            Ok(self.cached_bytes.add(transaction, self.claim.run.token, bytes).await?)
        })
    }
}

impl<S: KeyStore> IdempotencyStore for S {
    async fn claim(&self, claim: &KeyClaim, print: &Fingerprint) -> Result<KeyState, ApiError> {
        let write = self.main().begin().await?;
        let new = NewRun {
            run: &claim.run,
            fingerprint: print,
            node: self.node(),
            now: self.guard().judged_now(),
            lease_ms: LEASE_MS,
        };
        let claimed = keys::claim(&write, new).await?;
        if claimed == ClaimOutcome::TokenDeleted {
            write.undo().await?;
        } else {
            // Commits even if nothing was claimed: the response that was found may not be durable yet.
            write.commit().await?;
        }
        Ok(match claimed {
            ClaimOutcome::Mine => KeyState::Mine,
            ClaimOutcome::Running => KeyState::Running,
            ClaimOutcome::Answered(answer) if answer.fingerprint != *print => KeyState::Mismatch,
            ClaimOutcome::Answered(answer) => KeyState::Answered(open(self.sealer(), claim, answer.answer)?),
            ClaimOutcome::TokenDeleted => return Err(ApiError::Unauthorised),
        })
    }

    async fn renew(&self, claim: &KeyClaim) -> Result<(), ApiError> {
        let write = self.main().begin().await?;
        keys::renew(&write, &claim.run, self.now().plus_ms(LEASE_MS)).await?;
        Ok(write.commit().await?)
    }

    async fn free(&self, claim: &KeyClaim) -> Result<(), ApiError> {
        let write = self.main().begin().await?;
        keys::free(&write, &claim.run).await?;
        Ok(write.commit().await?)
    }

    fn keeper(&self, claim: Arc<KeyClaim>) -> Arc<dyn AnswerKeeper> {
        let cached_bytes = Arc::clone(self.cached_bytes());
        let base_url = self.base_url().to_owned();
        Arc::new(SealedAnswers { claim, sealer: self.sealer().clone(), base_url, cached_bytes })
    }
}

/// Seals the body of a response for storage.
fn seal(sealer: &SecretSealer, claim: &KeyClaim, body: &str) -> String {
    sealer.seal(body_place(claim, &claim.run.token.to_string()), body)
}

/// Returns the response as it was sent, or what is needed to rebuild it.
fn open(sealer: &SecretSealer, claim: &KeyClaim, answer: CachedAnswer) -> Result<AnswerReplay, ApiError> {
    let AnswerHead { status, location, language } = answer.head;
    let status = StatusCode::from_u16(status).map_err(|error| ApiError::Internal(error.into()))?;
    let location = location.and_then(|location| HeaderValue::from_str(&location).ok());
    let mut headers = vec![(IDEMPOTENT_REPLAYED, HeaderValue::from_static("true"))];
    headers.extend(location.map(|location| (header::LOCATION, location)));
    headers.extend(language.iter().flat_map(|language| language_headers(language)));
    let body = match (answer.body, answer.resource) {
        (Some(body), _) => {
            let body = sealer.open(body_place(claim, &claim.run.token.to_string()), &body);
            ReplayBody::Cached(body.map_err(|error| ApiError::Internal(error.into()))?)
        }
        (None, Some(resource)) => ReplayBody::MadeAgain { resource, language },
        (None, None) => {
            return Err(ApiError::Internal(anyhow::anyhow!("a kept answer has neither body nor resource")));
        }
    };
    Ok(AnswerReplay { status, headers, body })
}

fn body_place<'a>(claim: &'a KeyClaim, token: &'a str) -> SecretPlace<'a> {
    SecretPlace {
        organisation: claim.organisation.as_str(),
        table: "idempotency_key",
        row: token,
        field: &claim.run.key,
    }
}
