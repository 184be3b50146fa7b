//! `Idempotency-Key` (contract 1.10): a repeated POST gets the same response without a second effect.
//!
//! A key is claimed before anything is looked up (step 7 of contract 1.8). Its response is stored in the transaction of
//! the effect ([`WriteTransaction`](crate::http::gate::write::WriteTransaction)); a refused request frees the key.
//! Bodies are stored sealed.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use actix_web::http::header::{HeaderMap, HeaderName};
use futures_util::future::{Either, select};

use crate::http::gate::auth::Caller;
use crate::http::gate::call::ApiCall;
use crate::http::gate::fingerprint::fingerprint;
use crate::http::gate::handler_run::run_write;
use crate::http::gate::replay::{AnswerReplay, OriginalRequest};
use crate::http::gate::route::{Handler, RouteTable};
use crate::http::gate::write::AnswerKeeper;
use crate::http::kit::bad_request::BadRequest;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::rule::FieldRule;
use crate::id::Id;
use crate::store::idempotency_keys::{Fingerprint, IdempotentRun};

/// The header `Idempotency-Key`.
pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Longest key, in characters.
const KEY_CHARACTERS: usize = 255;
/// Milliseconds for which the key stays claimed when the process of a run dies.
pub(super) const LEASE_MS: i64 = 60_000;
/// Interval at which a running request renews its lease.
const RENEW_EVERY: Duration = Duration::from_secs(20);

/// A key claimed by this request.
#[derive(Debug)]
pub struct KeyClaim {
    /// Token, idempotency key, and id of this claim.
    pub run: IdempotentRun,
    /// Organisation of the token; bodies are sealed for it.
    pub organisation: Id,
    /// The request that claims the key.
    pub origin: OriginalRequest,
}

/// State of a key after a request has tried to claim it.
pub enum KeyState {
    /// Claimed by this request.
    Mine,
    /// Claimed by a request that is still running.
    Running,
    /// Used for a different request.
    Mismatch,
    /// Used before for the same request, with the response to replay.
    Answered(AnswerReplay),
}

/// Storage of keys and responses.
pub trait IdempotencyStore {
    /// Claims the key for this request.
    fn claim(
        &self,
        claim: &KeyClaim,
        print: &Fingerprint,
    ) -> impl Future<Output = Result<KeyState, ApiError>>;
    /// Renews the lease of the key.
    fn renew(&self, claim: &KeyClaim) -> impl Future<Output = Result<(), ApiError>>;
    /// Frees the key for another run.
    fn free(&self, claim: &KeyClaim) -> impl Future<Output = Result<(), ApiError>>;
    /// Returns the keeper that stores the response of the claim's run.
    fn keeper(&self, claim: Arc<KeyClaim>) -> Arc<dyn AnswerKeeper>;
}

/// Runs a handler of a `POST`, under an idempotency key if the request has one.
///
/// # Errors
///
/// 400, 409 or 422 for the key; 401 if the token has just been deleted; otherwise those of the handler.
pub async fn run<S: IdempotencyStore + 'static>(
    routes: Arc<RouteTable<S>>,
    handler: Handler<S>,
    may_run_again: bool,
    mut call: ApiCall<S>,
) -> Result<ApiReply, ApiError> {
    let Some(key) = read_key(&call.headers)? else {
        return run_write(handler, call).await;
    };
    let state = Arc::clone(&call.state);
    let bytes = call.body.buffer(&call.headers).await?;
    let print = fingerprint("POST", &call.canonical_path, &call.query.encoded_without(""), &bytes);
    let origin = OriginalRequest { path: call.canonical_path.clone(), may_run_again };
    let claim = Arc::new(claim_of(&call.caller, key, origin));
    match state.claim(&claim, &print).await? {
        KeyState::Mine => {}
        KeyState::Running => return Err(ApiError::KeyRunning),
        KeyState::Mismatch => {
            return Err(FieldErrors::of("Idempotency-Key", FieldRule::IdempotencyMismatch).into());
        }
        KeyState::Answered(replay) => return replay.answer(&routes, handler, call).await,
    }
    call.effect = call.effect.kept_by(state.keeper(Arc::clone(&claim)));
    let outcome = with_renewed_lease(&*state, &claim, run_write(handler, call)).await;
    // A success was stored together with its effect; only a failure frees the key.
    if outcome.is_err()
        && let Err(error) = state.free(&claim).await
    {
        tracing::warn!(%error, "cannot release an idempotency key; it stays locked until its lease expires");
    }
    outcome
}

fn claim_of(caller: &Caller, key: String, origin: OriginalRequest) -> KeyClaim {
    KeyClaim {
        run: IdempotentRun { token: caller.token.key, key, claim: Id::random() },
        organisation: caller.organisation.id,
        origin,
    }
}

/// Completes `work` while renewing the lease.
async fn with_renewed_lease<S: IdempotencyStore, T>(
    state: &S,
    claim: &KeyClaim,
    work: impl Future<Output = T>,
) -> T {
    let renewals = async {
        loop {
            tokio::time::sleep(RENEW_EVERY).await;
            if let Err(error) = state.renew(claim).await {
                tracing::warn!(%error, "cannot renew the lease of an idempotency key");
            }
        }
    };
    match select(std::pin::pin!(work), std::pin::pin!(renewals)).await {
        Either::Left((outcome, _)) => outcome,
        Either::Right((never, _)) => never,
    }
}

/// Reads the header, which may occur once, with 1 to 255 visible ASCII characters.
fn read_key(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY);
    let (first, second) = (values.next(), values.next());
    let Some(value) = first else { return Ok(None) };
    let bytes = value.as_bytes();
    let is_sound = second.is_none()
        && (1..=KEY_CHARACTERS).contains(&bytes.len())
        && bytes.iter().all(u8::is_ascii_graphic);
    if !is_sound {
        return Err(BadRequest::IdempotencyKey.into());
    }
    Ok(Some(String::from_utf8_lossy(bytes).into_owned()))
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;
    use rstest::rstest;

    use super::*;

    /// A store that counts renewals.
    #[derive(Default)]
    struct Leases(std::cell::Cell<u32>);

    impl IdempotencyStore for Leases {
        async fn claim(&self, _: &KeyClaim, _: &Fingerprint) -> Result<KeyState, ApiError> {
            Ok(KeyState::Mine)
        }

        async fn renew(&self, _: &KeyClaim) -> Result<(), ApiError> {
            self.0.set(self.0.get() + 1);
            // A failed renewal does not stop the request.
            if self.0.get() == 1 { Err(ApiError::Unavailable) } else { Ok(()) }
        }

        async fn free(&self, _: &KeyClaim) -> Result<(), ApiError> {
            Ok(())
        }

        fn keeper(&self, _: Arc<KeyClaim>) -> Arc<dyn AnswerKeeper> {
            unreachable!("nothing is written here")
        }
    }

    /// Contract 1.10: a request renews its lease of 60 seconds for as long as it runs, and may miss a renewal.
    #[rstest]
    #[case(19, 0)]
    #[case(61, 3)]
    #[case(601, 30)]
    #[tokio::test(start_paused = true)]
    async fn a_running_request_keeps_its_lease(#[case] seconds: u64, #[case] renewals: u32) {
        let leases = Leases::default();
        let run = IdempotentRun { token: 1, key: "a".into(), claim: Id::random() };
        let origin = OriginalRequest { path: "/v1/tags".into(), may_run_again: false };
        let claim = KeyClaim { run, organisation: Id::random(), origin };
        with_renewed_lease(&leases, &claim, tokio::time::sleep(Duration::from_secs(seconds))).await;
        assert_eq!(leases.0.get(), renewals);
        assert!(RENEW_EVERY.as_millis() * 2 < u128::try_from(LEASE_MS).unwrap());
    }

    /// Contract 1.10: the form of a key.
    #[rstest]
    #[case(&[], Ok(None))]
    #[case(&["a"], Ok(Some("a")))]
    #[case(&["!~0f8b-é"], Err(()))]
    #[case(&[""], Err(()))]
    #[case(&["a b"], Err(()))]
    #[case(&["a\tb"], Err(()))]
    #[case(&["a", "a"], Err(()))]
    fn a_key_is_one_header_of_visible_ascii(
        #[case] lines: &[&str],
        #[case] expected: Result<Option<&str>, ()>,
    ) {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(IDEMPOTENCY_KEY, HeaderValue::from_bytes(line.as_bytes()).unwrap());
        }
        let read = read_key(&headers).map_err(|_| ());
        assert_eq!(read, expected.map(|key| key.map(str::to_owned)));
    }

    #[rstest]
    #[case(255, true)]
    #[case(256, false)]
    fn a_key_has_at_most_255_characters(#[case] length: usize, #[case] sound: bool) {
        let mut headers = HeaderMap::new();
        headers.append(IDEMPOTENCY_KEY, HeaderValue::from_str(&"k".repeat(length)).unwrap());
        assert_eq!(read_key(&headers).is_ok(), sound);
    }
}
