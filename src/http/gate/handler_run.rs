//! Runs handlers. A panic is answered with 500. A write is refused only when everything that the refusal is based on is
//! durable.

use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;

use crate::http::gate::call::ApiCall;
use crate::http::gate::route::Handler;
use crate::http::gate::strict::refuse_strictly;
use crate::http::gate::write::retry_given_up;
use crate::http::kit::error::ApiError;
use crate::http::kit::reply::ApiReply;

/// Runs a handler that may write. A refusal is sent only when everything that the handler has read is durable. A transaction
/// that the database aborted in favour of another one is repeated, since it had no effect.
pub(super) async fn run_write<S>(handler: Handler<S>, mut call: ApiCall<S>) -> Result<ApiReply, ApiError> {
    let refused = match call.known_input {
        Some(_) => Some(call.refused_input().await?),
        None => None,
    };
    if let Some(refused) = refused.as_ref().filter(|refused| !refused.is_empty()) {
        call.effect = call.effect.refused_for(refused.clone());
    }
    refuse_strictly(run_until_committed(handler, call).await, refused)
}

async fn run_until_committed<S>(handler: Handler<S>, call: ApiCall<S>) -> Result<ApiReply, ApiError> {
    retry_given_up(|| call.body.can_be_read(), || run_once(&handler, call.clone())).await
}

async fn run_once<S>(handler: &Handler<S>, call: ApiCall<S>) -> Result<ApiReply, ApiError> {
    let unanswered = call.effect.unanswered();
    let outcome = catch_panic(handler(call)).await;
    if outcome.is_err() {
        unanswered.undo().await?;
    }
    outcome
}

/// Returns the response of a handler, or 500 if it panics.
pub(super) async fn catch_panic(
    handler: impl Future<Output = Result<ApiReply, ApiError>>,
) -> Result<ApiReply, ApiError> {
    AssertUnwindSafe(handler).catch_unwind().await.unwrap_or_else(|panic| {
        Err(ApiError::Internal(anyhow::anyhow!("a handler panicked: {}", message(&*panic))))
    })
}

/// Returns the message of a panic.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without words")
}
