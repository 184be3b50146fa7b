//! `{ping_base_url}/ping/{secret}[/fail]` (contract 4.3.11): a service reports itself. Outside of `/v1`, without a token.
//!
//! It answers only after the ping is durable and believed. A client that goes away in the middle does not undo it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use actix_web::{HttpRequest, HttpResponse, web};
use serde_json::json;
use tokio::time::Instant;

use crate::clock::Timestamp;
use crate::http::kit::error::ApiError;
use crate::http::kit::reply::{Reply, add_common};
use crate::http::kit::request_id::request_id;
use crate::http::kit::store_access::StoreResult as _;
use crate::http::server::Front;
use crate::http::v1::api::Api;
use crate::http::v1::services::heartbeat::read_secret;
use crate::model::heartbeat::Ping;
use crate::model::service::ServiceKey;
use crate::store::heartbeats::{self, Pinged, SecretHash};

/// Pings per second and secret.
const MOST_PER_SECOND: u32 = 10;
const SECOND_MS: i64 = 1_000;
/// Services whose pings are counted at a time; more are counted from anew.
const COUNTED: usize = 100_000;

/// How many pings came in the present second of each service.
#[derive(Debug, Default)]
pub(in crate::http) struct PingLimiter(Mutex<HashMap<ServiceKey, (Timestamp, u32)>>);

impl PingLimiter {
    /// Counts a ping; passes when it is not one too many. A second begins with the first ping after the one before has ended.
    fn count(&self, service: ServiceKey, now: Timestamp) -> Result<(), ApiError> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= COUNTED {
            counts.retain(|_, (since, _)| (0..SECOND_MS).contains(&now.ms_since(*since)));
        }
        let (since, count) = counts.entry(service).or_insert((now, 0));
        if !(0..SECOND_MS).contains(&now.ms_since(*since)) {
            (*since, *count) = (now, 0);
        }
        *count += 1;
        if *count <= MOST_PER_SECOND { Ok(()) } else { Err(ApiError::TooManyRequests(1)) }
    }
}

/// The service is well.
pub(in crate::http) async fn ping(
    front: web::Data<Front>,
    request: HttpRequest,
    secret: web::Path<String>,
) -> HttpResponse {
    answer(front, &request, (secret.into_inner(), false)).await
}

/// The service reports a failure.
pub(in crate::http) async fn ping_fail(
    front: web::Data<Front>,
    request: HttpRequest,
    secret: web::Path<String>,
) -> HttpResponse {
    answer(front, &request, (secret.into_inner(), true)).await
}

async fn answer(
    front: web::Data<Front>,
    request: &HttpRequest,
    (secret, has_failed): (String, bool),
) -> HttpResponse {
    let started = Instant::now();
    let id = request_id(request.headers());
    let shared = front.clone();
    let task = actix_web::rt::spawn(async move {
        let hash = read_secret(&secret).ok_or(ApiError::NotFound)?;
        take(&shared.api, &shared.pings, (hash, has_failed)).await
    });
    let taken = task.await.unwrap_or_else(|error| Err(ApiError::Internal(error.into())));
    let mut response = match taken {
        Ok(()) => Reply::ok(json!({"ok": true})).to_response(),
        Err(error) => error.to_response(&id),
    };
    add_common(response.headers_mut(), &id);
    front.traffic.note(response.status().as_u16(), started.elapsed());
    response
}

async fn take(
    api: &Api,
    limiter: &PingLimiter,
    (hash, has_failed): (SecretHash, bool),
) -> Result<(), ApiError> {
    let main = &api.parts.databases.main;
    let found = heartbeats::find_by_hash(main.reader(), &hash).await.or_unavailable()?;
    let Pinged { service, id, is_paused } = found.ok_or(ApiError::NotFound)?;
    limiter.count(service, api.now())?;
    if is_paused {
        return Ok(());
    }
    let transaction = main.begin().await.or_unavailable()?;
    let ping = Ping { at: api.now(), has_failed };
    let stored = heartbeats::ping(&transaction, &hash, ping).await.or_unavailable()?;
    transaction.commit().await.or_unavailable()?;
    let stored = stored.ok_or(ApiError::NotFound)?;
    if api.parts.engine.ping(id, stored).await.is_err() {
        tracing::warn!(service = %id, "the engine has stopped; the ping is stored");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract 4.3.11: more than 10 per second and secret are refused.
    #[test]
    fn ten_pings_pass_in_a_second() {
        let limiter = PingLimiter::default();
        let passed = |at_ms: i64, service| limiter.count(service, Timestamp::from_ms(at_ms)).is_ok();
        assert!((0..10).all(|_| passed(500, 1)));
        assert!(!passed(1_499, 1));
        assert!(passed(1_499, 2));
        assert!((0..10).all(|_| passed(1_500, 1)));
        assert!(!passed(1_500, 1));
        // The clock was set back.
        assert!(passed(0, 1));
    }
}
