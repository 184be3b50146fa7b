//! `{ping_base_url}/ping/{secret}[/fail]` (contract 4.3.11): a service reports itself. Outside of `/v1`, without a token.
//!
//! It answers only after the ping is durable and believed. A client that goes away in the middle does not undo it.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use actix_web::{HttpRequest, HttpResponse, web};
use serde_json::json;
use tokio::time::Instant;

use crate::clock::Timestamp;
use crate::http::gate::rate_limit::AddressLimiter;
use crate::http::kit::error::ApiError;
use crate::http::kit::reply::{Reply, add_common};
use crate::http::kit::request_id::request_id;
use crate::http::server::Front;
use crate::http::v1::api::Api;
use crate::http::v1::api::Api;
use crate::http::v1::services::heartbeat::read_secret;
use crate::http::v1::services::heartbeat::read_secret;
use crate::model::heartbeat::Ping;
use crate::store::heartbeats::{self, Pinged, SecretHash};

/// Pings per second and secret.
const MOST_PER_SECOND: u32 = 10;
const SECOND_MS: i64 = 1_000;
/// Secrets whose pings are counted at a time; more are counted from anew.
const COUNTED: usize = 100_000;

/// How many pings came in the present second of each secret, and how many secrets nobody knows came from each address.
#[derive(Debug)]
pub(in crate::http) struct PingLimiter {
    counts: Mutex<HashMap<SecretHash, Second>>,
    strangers: AddressLimiter,
}

/// The pings of one secret in a second.
#[derive(Clone, Copy, Debug)]
struct Second {
    since: Timestamp,
    used: u32,
}

impl Second {
    fn has_ended(&self, now: Timestamp) -> bool {
        !(0..SECOND_MS).contains(&now.ms_since(self.since))
    }
}

impl PingLimiter {
    /// Counts pings; an address may send `limit` unknown secrets in a minute.
    pub(in crate::http) fn new(limit: u32, most_addresses: usize) -> Self {
        Self { counts: Mutex::default(), strangers: AddressLimiter::new(limit, most_addresses) }
    }

    /// Returns true when the secret was valid before.
    fn knows(&self, hash: &SecretHash) -> bool {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).contains_key(hash)
    }

    /// The secret is valid no longer.
    fn forget(&self, hash: &SecretHash) {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).remove(hash);
    }

    /// Counts a ping; passes when it is not one too many. A second begins with the first ping after the one before has ended.
    fn count(&self, hash: SecretHash, now: Timestamp) -> Result<(), ApiError> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= COUNTED {
            counts.retain(|_, second| !second.has_ended(now));
        }
        let second = counts.entry(hash).or_insert(Second { since: now, used: 0 });
        if second.has_ended(now) {
            *second = Second { since: now, used: 0 };
        }
        second.used += 1;
        if second.used <= MOST_PER_SECOND { Ok(()) } else { Err(ApiError::TooManyRequests(1)) }
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
    let address = front.gate.client_address(request);
    let task = actix_web::rt::spawn(async move {
        let hash = read_secret(&secret).ok_or(ApiError::NotFound)?;
        take(&shared.api, &shared.pings, Sent { hash, has_failed, address }).await
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

/// A ping on its way.
struct Sent {
    hash: SecretHash,
    has_failed: bool,
    /// Where it came from.
    address: IpAddr,
}

async fn take(api: &Api, limiter: &PingLimiter, sent: Sent) -> Result<(), ApiError> {
    let Pinged { service: _, id, is_paused } = find(api, limiter, &sent).await?;
    if is_paused {
        return Ok(());
    }
    let transaction = api.parts.databases.main.begin().await.or_unavailable()?;
    let ping = Ping { at: api.now(), has_failed: sent.has_failed };
    let stored = heartbeats::ping(&transaction, &sent.hash, ping).await.or_unavailable()?;
    transaction.commit().await.or_unavailable()?;
    let stored = stored.ok_or(ApiError::NotFound)?;
    if api.parts.engine.ping(id, stored).await.is_err() {
        tracing::warn!(service = %id, "the engine has stopped; the ping is stored");
    }
    Ok(())
}

/// The service that the secret names. A known one is counted first; an unknown one is counted for its address, and looked up
/// only as long as that has not sent too many.
async fn find(api: &Api, limiter: &PingLimiter, sent: &Sent) -> Result<Pinged, ApiError> {
    let now = api.now();
    let main = api.parts.databases.main.reader();
    if limiter.knows(&sent.hash) {
        limiter.count(sent.hash, now)?;
        let found = heartbeats::find_by_hash(main, &sent.hash).await.or_unavailable()?;
        return found.ok_or_else(|| {
            limiter.forget(&sent.hash);
            ApiError::NotFound
        });
    }
    let look_up = limiter.strangers.begin_look_up(sent.address, now);
    if !look_up.may_ask {
        return Err(ApiError::TooManyRequests(1));
    }
    let found = heartbeats::find_by_hash(main, &sent.hash).await.or_unavailable()?;
    let found = found.ok_or(ApiError::NotFound)?;
    limiter.strangers.give_back(sent.address, &look_up, now);
    limiter.count(sent.hash, now)?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract 4.3.11: more than 10 per second and secret are refused.
    #[test]
    fn ten_pings_pass_in_a_second() {
        let limiter = PingLimiter::new(1, 1);
        let passed = |at_ms: i64, secret| limiter.count([secret; 32], Timestamp::from_ms(at_ms)).is_ok();
        assert!((0..10).all(|_| passed(500, 1)));
        assert!(!passed(1_499, 1));
        assert!(passed(1_499, 2));
        assert!((0..10).all(|_| passed(1_500, 1)));
        assert!(!passed(1_500, 1));
        // The clock was set back.
        assert!(passed(0, 1));
    }
}
