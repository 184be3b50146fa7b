//! `{ping_base_url}/ping/{secret}[/fail]` (contract 4.3.11): heartbeats of services. The path is outside of `/v1` and needs
//! no token.
//!
//! The response is sent only after the ping is durable and processed. A ping counts even if the client disconnects.

use std::net::IpAddr;

use actix_web::{HttpRequest, HttpResponse, web};
use serde_json::json;
use tokio::time::Instant;

use crate::http::kit::error::ApiError;
use crate::http::kit::reply::{ApiReply, add_common};
use crate::http::kit::request_id::request_id;
use crate::http::public_paths::front::ServerState;
use crate::http::public_paths::ping_limiter::PingLimiter;
use crate::http::v1::address_secret::read_secret;
use crate::http::v1::state::AppState;
use crate::model::heartbeat::HeartbeatPing;
use crate::model::service::ServiceAddress;
use crate::store::changes::ChangeScope;
use crate::store::heartbeats::{self, PingSecretHash, PingedService};

/// Handles a ping that reports success.
pub(in crate::http) async fn ping(
    front: web::Data<ServerState>,
    request: HttpRequest,
    secret: web::Path<String>,
) -> HttpResponse {
    answer(front, &request, secret.into_inner(), false).await
}

/// Handles a ping that reports a failure.
pub(in crate::http) async fn ping_fail(
    front: web::Data<ServerState>,
    request: HttpRequest,
    secret: web::Path<String>,
) -> HttpResponse {
    answer(front, &request, secret.into_inner(), true).await
}

async fn answer(
    front: web::Data<ServerState>,
    request: &HttpRequest,
    secret: String,
    has_failed: bool,
) -> HttpResponse {
    let started = Instant::now();
    let id = request_id(request.headers());
    let shared = front.clone();
    let address = front.gate.client_address(request);
    let task = actix_web::rt::spawn(async move {
        let hash = read_secret(&secret).ok_or(ApiError::NotFound)?;
        take(&shared.state, &shared.pings, IncomingPing { hash, has_failed, address }).await
    });
    let taken = task.await.unwrap_or_else(|error| Err(ApiError::Internal(error.into())));
    let mut response = match taken {
        Ok(()) => ApiReply::ok(json!({"ok": true})).to_response(),
        Err(error) => error.to_response(&id),
    };
    if response.status().is_server_error() {
        front.state.engine.listening().note_lost();
    }
    add_common(response.headers_mut(), &id);
    front.traffic.record_answer(response.status().as_u16(), started.elapsed());
    response
}

struct IncomingPing {
    hash: PingSecretHash,
    has_failed: bool,
    address: IpAddr,
}

async fn take(state: &AppState, limiter: &PingLimiter, sent: IncomingPing) -> Result<(), ApiError> {
    let PingedService { service, id, is_paused } = find(state, limiter, &sent).await?;
    if is_paused {
        return Ok(());
    }
    let transaction = state.databases.main.begin().await?;
    transaction.concerns(ChangeScope::Service(service));
    let ping = HeartbeatPing { at: state.now(), has_failed: sent.has_failed };
    let stored = heartbeats::ping(&transaction, &sent.hash, ping).await?;
    transaction.commit().await?;
    let stored = stored.ok_or(ApiError::NotFound)?;
    state.router.ping(ServiceAddress { id, key: service }, stored).await;
    Ok(())
}

/// Finds the service with this secret. A request with a known secret is counted for that secret. A request with an unknown
/// secret is counted for the client address, and looked up only while that address is within its limit.
async fn find(
    state: &AppState,
    limiter: &PingLimiter,
    sent: &IncomingPing,
) -> Result<PingedService, ApiError> {
    let now = state.now();
    let main = state.databases.main.reader();
    if limiter.knows(&sent.hash) {
        limiter.count(sent.hash, now)?;
        let found = heartbeats::find_by_hash(main, &sent.hash).await?;
        return found.ok_or_else(|| {
            limiter.forget(&sent.hash);
            ApiError::NotFound
        });
    }
    let look_up = limiter.strangers.begin_look_up(sent.address, now);
    if !look_up.may_ask {
        return Err(ApiError::TooManyRequests(1));
    }
    let found = heartbeats::find_by_hash(main, &sent.hash).await?;
    let found = found.ok_or(ApiError::NotFound)?;
    limiter.strangers.give_back(sent.address, &look_up, now);
    limiter.count(sent.hash, now)?;
    Ok(found)
}
