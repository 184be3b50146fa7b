//! The rate limit of the console: that of the API, in the same windows. A request counts for its user, and for the address of
//! the client until somebody is known to be signed in.
//!
//! Static files and the stream of events are not counted. Scripts of open screens ask for what has changed up to four times a
//! second; these requests have a window of their own, so that a busy organisation does not use up the requests of its users.

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::http::header::RETRY_AFTER;
use actix_web::http::{Method, StatusCode};

use crate::clock::Timestamp;
use crate::console::live::EVENTS;
use crate::console::live::documents::DocumentKey;
use crate::console::screen_error::message_about;
use crate::console::visit::{ConsoleVisit, UserVisit};
use crate::console::wall;
use crate::http::gate::CallerLookup as _;
use crate::http::gate::rate_limit::{LookUp, RateLimiter};
use crate::model::rate_limit::RateLimitDecision;

/// How many times as many requests of open screens a window permits.
const LIVE_FACTOR: u32 = 10;

/// Counts requests of users. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct RequestLimit {
    /// Counts the requests of open screens, by the database key of the user.
    live: Arc<RateLimiter>,
}

/// The refusal of a request beyond the limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestRefusal {
    /// Seconds until the next request is possible, 1 to 60.
    seconds: u64,
}

impl RequestLimit {
    /// Permits this number of requests a minute.
    pub(super) fn new(per_minute: u32) -> Self {
        Self { live: Arc::new(RateLimiter::new(per_minute.saturating_mul(LIVE_FACTOR), 0)) }
    }

    /// Counts a request for the address of the client, before anything is read for it.
    ///
    /// # Errors
    /// 429 if the address has made too many requests for a session to be looked up.
    pub(super) fn begin(visit: &ConsoleVisit) -> Result<LookUp, RequestRefusal> {
        let (state, now) = (visit.state(), visit.state().now());
        let counted = state.limiter.addresses().begin_look_up(visit.client, now);
        if counted.may_ask { Ok(counted) } else { Err(RequestRefusal::of(&counted.allowance, now)) }
    }

    /// Uncounts a request for the address: it is counted for somebody who is known.
    pub(super) fn give_back(visit: &ConsoleVisit, counted: &LookUp) {
        let state = visit.state();
        state.limiter.addresses().give_back(visit.client, counted, state.now());
    }

    /// Checks the count of the address, for somebody who is not signed in.
    ///
    /// # Errors
    /// 429 beyond the limit.
    pub(super) fn check_stranger(visit: &ConsoleVisit, counted: &LookUp) -> Result<(), RequestRefusal> {
        let now = visit.state().now();
        if counted.allowance.passes { Ok(()) } else { Err(RequestRefusal::of(&counted.allowance, now)) }
    }

    /// Counts a request of a user.
    ///
    /// # Errors
    /// 429 beyond the limit.
    pub(super) async fn count_user(&self, visit: &UserVisit) -> Result<(), RequestRefusal> {
        // Only documents that are rendered once for all users: the header alone does not make a screen cheap.
        let is_live =
            visit.visit.method == Method::GET && visit.visit.is_live() && DocumentKey::of(visit).is_some();
        let (visit, user) = (&visit.visit, visit.signed_in.user.key);
        let (state, now) = (visit.state(), visit.state().now());
        if visit.path == EVENTS {
            return Ok(());
        }
        let allowance = if is_live {
            self.live.count_token(user, now)
        } else {
            let counted = state.count_cluster_wide(user).await;
            counted.unwrap_or_else(|| state.limiter.count_token(user, now))
        };
        if allowance.passes { Ok(()) } else { Err(RequestRefusal::of(&allowance, now)) }
    }
}

impl RequestRefusal {
    fn of(allowance: &RateLimitDecision, now: Timestamp) -> Self {
        Self { seconds: allowance.retry_after_seconds(now) }
    }

    /// Returns the document that says when the next request is possible.
    pub(super) fn document(self, visit: &ConsoleVisit) -> HttpResponse {
        let (status, seconds) = (StatusCode::TOO_MANY_REQUESTS, self.seconds.to_string());
        let mut answer = message_about(visit, status, "too-many", &seconds);
        answer.headers_mut().insert(RETRY_AFTER, self.seconds.into());
        wall::refresh(visit, &mut answer);
        answer
    }
}
