//! The gate that requests to the API pass: the checks in the order of contract 1.8, and the headers of every response
//! (1.12).
//!
//! Authentication, plan, rate limit, route and permissions are checked before a handler runs. Writes run in their own
//! task, so that a disconnecting client does not stop them half-way. The gate is generic over the application state.

pub mod audit_trail;
pub mod auth;
pub mod cached_bytes;
pub mod call;
mod caller_cache;
pub mod client_address;
pub mod cors;
mod fair_turns;
pub mod fingerprint;
mod handler_run;
pub mod http_verb;
pub mod idempotency;
pub mod key_store;
pub mod rate_limit;
pub mod replay;
pub mod request_body;
pub mod route;
pub mod strict;
pub mod traffic;
pub mod write;

use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;

use actix_web::dev::Payload;
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse};
use futures_util::future::TryFutureExt as _;
use serde_json::json;

use crate::clock::guard::ClockGuard;
use crate::clock::{Clock, Timestamp};
use crate::http::gate::audit_trail::{AuditAction, AuditTrail};
use crate::http::gate::auth::{Caller, bearer};
use crate::http::gate::call::{ApiCall, RequestBody};
use crate::http::gate::caller_cache::CallerCache;
use crate::http::gate::client_address::client_address;
use crate::http::gate::cors::CorsPolicy;
use crate::http::gate::fair_turns::{FairTurns, WorkPermit};
use crate::http::gate::handler_run::{catch_panic, run_write};
use crate::http::gate::idempotency::IdempotencyStore;
use crate::http::gate::rate_limit::RateLimiter;
use crate::http::gate::route::{ApiRoute, HttpVerb, PathRoutes, RouteTable};
use crate::http::gate::strict::{HANDLED_STRICTLY, PREFERENCE_APPLIED, is_strict, refuse_strictly};
use crate::http::gate::write::WriteGrant;
use crate::http::kit::body::BodyLimits;
use crate::http::kit::error::ApiError;
use crate::http::kit::known_input::KnownInput;
use crate::http::kit::path::{PathValues, RequestPath};
use crate::http::kit::query::QueryString;
use crate::http::kit::reply::{ApiReply, add_common};
use crate::http::kit::request_id::request_id;
use crate::model::audit::AuditActor;
use crate::model::rate_limit::RateLimitDecision;
use crate::model::token::{TokenHash, TokenText};

const X_RATELIMIT_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const X_RATELIMIT_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const X_RATELIMIT_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// Lookup of callers by the application.
pub trait CallerLookup {
    /// Returns the caller whose token has this hash, even if the token is expired.
    fn find_caller(&self, hash: TokenHash) -> impl Future<Output = Result<Option<Caller>, ApiError>>;

    /// Counts a request of a token if it is counted for all nodes together; `None` = this process has to count it.
    fn count_cluster_wide(&self, token: i64) -> impl Future<Output = Option<RateLimitDecision>>;
}

/// Returns the parameters and members that the operation at a path pattern knows.
pub type FindKnownInput = Box<dyn Fn(HttpVerb, &str) -> KnownInput + Send + Sync>;

/// Settings and limits of the gate.
pub struct GateRules {
    /// Source of the wall time.
    pub clock: Clock,
    /// The guard of the clock that decides on the expiry of tokens.
    pub guard: Arc<ClockGuard>,
    /// Prefix of API tokens: `compat.token_prefix`.
    pub token_prefix: String,
    /// Counts requests of tokens and addresses.
    pub limiter: Arc<RateLimiter>,
    /// Returns true if an address is a trusted proxy.
    pub is_trusted_proxy: Box<dyn Fn(IpAddr) -> bool + Send + Sync>,
    /// The origins from which browsers may call the API.
    pub cors: CorsPolicy,
    /// Size limit and time limit of a request body.
    pub body_limits: BodyLimits,
    /// Finds the parameters and members that an operation knows; a strict request with any other is refused.
    pub known_input: FindKnownInput,
}

/// The gate, with the routes and the application state. All threads share one instance.
pub struct ApiGate<S> {
    rules: GateRules,
    routes: Arc<RouteTable<S>>,
    callers: CallerCache,
    turns: FairTurns,
    state: Arc<S>,
}

struct IncomingRequest<'a, S> {
    request: &'a HttpRequest,
    payload: Payload,
    request_id: &'a str,
    path: RequestPath,
    resource: Option<(&'a PathRoutes<S>, PathValues)>,
}

/// A request that this process makes on behalf of a caller who is known otherwise than by a bearer token.
#[derive(Clone, Debug)]
pub struct InnerRequest {
    /// Method of the request.
    pub verb: HttpVerb,
    /// Path and query, such as `/v1/services?per_page=10`.
    pub target: String,
    /// Headers of the request, such as `Idempotency-Key`.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// Address of the client.
    pub client: IpAddr,
    /// Request id for the log.
    pub request_id: String,
}

/// The parts of a request that a route is chosen by, and that its handler gets.
struct RoutedRequest<'a, S> {
    verb: Option<HttpVerb>,
    path: RequestPath,
    resource: Option<(&'a PathRoutes<S>, PathValues)>,
    query: QueryString,
    headers: &'a HeaderMap,
    body: RequestBody,
    client: IpAddr,
    request_id: &'a str,
}

/// The refusal of a request without a valid token, with the rate limit of its address.
struct AuthenticationFailure {
    allowance: RateLimitDecision,
    error: ApiError,
}

impl AuthenticationFailure {
    /// 401, or 429 if the address has exceeded its rate limit.
    fn refused(allowance: RateLimitDecision, now: Timestamp) -> Self {
        let error = check_allowance(allowance, now).err().unwrap_or(ApiError::Unauthorised);
        Self { allowance, error }
    }
}

impl<S: CallerLookup + IdempotencyStore + 'static> ApiGate<S> {
    /// Creates a gate in front of these routes.
    #[must_use]
    pub fn new(rules: GateRules, routes: RouteTable<S>, state: Arc<S>) -> Self {
        Self {
            rules,
            routes: Arc::new(routes),
            callers: CallerCache::default(),
            turns: FairTurns::default(),
            state,
        }
    }

    /// Answers a request, admitted or refused.
    pub async fn answer(&self, request: &HttpRequest, payload: Payload) -> HttpResponse {
        let id = request_id(request.headers());
        let path = RequestPath::parse(request.uri().path());
        let resource = self.routes.find(&path);
        let allow = resource.as_ref().map(|(resource, _)| resource.allow()).unwrap_or_default();
        let mut response = if path.is_api() {
            let request_id = id.as_str();
            let asked = IncomingRequest { request, payload, request_id, path, resource };
            let (allowance, answer) = self.authenticate_and_answer(asked).await;
            let is_head = *request.method() == Method::HEAD;
            let answer = answer.map(|reply| if is_head { reply.for_head() } else { reply });
            let mut response = render(answer, &id);
            add_allowance(response.headers_mut(), allowance);
            if is_strict(request.headers()) {
                response.headers_mut().insert(PREFERENCE_APPLIED, HANDLED_STRICTLY);
            }
            response
        } else {
            ApiError::NotFound.to_response(&id)
        };
        self.add_common(&mut response, request.headers(), &id, &allow);
        response
    }

    /// Steps 2 to 4: authentication and rate limit. A request without a valid token is counted for its address.
    async fn authenticate_and_answer(
        &self,
        asked: IncomingRequest<'_, S>,
    ) -> (RateLimitDecision, Result<ApiReply, ApiError>) {
        let now = self.rules.clock.now();
        if *asked.request.method() == Method::OPTIONS {
            let allowance = self.count_address(asked.request, now);
            let answer = check_allowance(allowance, now).and_then(|()| options(asked.resource));
            return (allowance, answer);
        }
        match self.authenticate(asked.request, now).await {
            Ok(caller) => {
                let token = caller.token.key;
                let counted = self.state.count_cluster_wide(token).await;
                let allowance = counted.unwrap_or_else(|| self.rules.limiter.count_token(token, now));
                (allowance, self.dispatch(asked, caller, check_allowance(allowance, now)).await)
            }
            Err(AuthenticationFailure { allowance, error }) => (allowance, Err(error)),
        }
    }

    /// Step 2: authentication. Every invalid token gets the same response. A wrong checksum costs no query, and an unknown
    /// token is counted for its address before it is looked up.
    async fn authenticate(
        &self,
        request: &HttpRequest,
        now: Timestamp,
    ) -> Result<Caller, AuthenticationFailure> {
        let text =
            bearer(request.headers()).and_then(|text| TokenText::parse(&self.rules.token_prefix, text));
        let Some(hash) = text.map(|text| text.hash()) else {
            return Err(AuthenticationFailure::refused(self.count_address(request, now), now));
        };
        if let Some(caller) = self.callers.get(&hash, now) {
            let is_valid = caller.is_valid(self.rules.guard.judged_now().best);
            return if is_valid {
                Ok(caller)
            } else {
                Err(AuthenticationFailure::refused(self.count_address(request, now), now))
            };
        }
        let address = self.client_address(request);
        let strangers = self.rules.limiter.addresses();
        let look_up = strangers.begin_look_up(address, now);
        let refused = AuthenticationFailure::refused(look_up.allowance, now);
        if !look_up.may_ask {
            return Err(refused);
        }
        match self.state.find_caller(hash).await {
            Ok(Some(caller)) if caller.is_valid(self.rules.guard.judged_now().best) => {
                self.callers.keep(hash, &caller, now);
                strangers.give_back(address, &look_up, now);
                Ok(caller)
            }
            Ok(_) => Err(refused),
            Err(error) => Err(AuthenticationFailure { error, ..refused }),
        }
    }

    /// Steps 5 and 6 for a request of this process, then the handler.
    ///
    /// # Errors
    /// As a request to the API with a token of this caller.
    pub async fn answer_inner(&self, caller: Caller, request: InnerRequest) -> Result<ApiReply, ApiError> {
        let InnerRequest { verb, target, headers, body, client, request_id } = request;
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let path = RequestPath::parse(path);
        let routed = RoutedRequest {
            verb: Some(verb),
            resource: self.routes.find(&path),
            path,
            query: QueryString::parse(query),
            headers: &headers,
            body: RequestBody::of_bytes(body, self.rules.body_limits),
            client,
            request_id: &request_id,
        };
        self.run_route(routed, caller).await
    }

    /// Steps 3 to 6, then the handler: plan, rate, route and method, permissions.
    async fn dispatch(
        &self,
        asked: IncomingRequest<'_, S>,
        caller: Caller,
        within_rate: Result<(), ApiError>,
    ) -> Result<ApiReply, ApiError> {
        let verb = HttpVerb::of(asked.request.method());
        let route = asked.resource.as_ref().and_then(|(resource, _)| resource.route(verb?));
        let is_free_of_plan = route.is_some_and(|route| route.access().is_free_of_plan());
        if !caller.limits.api_access && !is_free_of_plan {
            return Err(ApiError::NoApiAccess);
        }
        within_rate?;
        let routed = RoutedRequest {
            verb,
            path: asked.path,
            resource: asked.resource,
            query: QueryString::parse(asked.request.query_string()),
            headers: asked.request.headers(),
            body: RequestBody::new(asked.payload, self.rules.body_limits),
            client: self.client_address(asked.request),
            request_id: asked.request_id,
        };
        self.run_route(routed, caller).await
    }

    /// Finds the route, checks the permissions and runs the handler.
    async fn run_route(&self, asked: RoutedRequest<'_, S>, caller: Caller) -> Result<ApiReply, ApiError> {
        let (resource, path) = asked.resource.ok_or(ApiError::NotFound)?;
        let route = asked.verb.and_then(|verb| resource.route(verb));
        let (Some(route), Some(verb)) = (route, asked.verb) else {
            return Err(ApiError::MethodNotAllowed(resource.allow()));
        };
        route.access().check(&caller, &asked.query)?;
        let known_input = is_strict(asked.headers).then(|| (self.rules.known_input)(verb, route.path()));
        let mut effect = WriteGrant::of(caller.organisation.key);
        if !route.changes_nothing() {
            effect = effect.audited(AuditTrail {
                actor: AuditActor::of(&caller.token),
                client: asked.client,
                at: self.rules.clock.now(),
                request_id: asked.request_id.to_owned(),
                action: AuditAction::of(verb, route.path()),
                path: path.clone(),
                body: asked.body.clone(),
            });
        }
        let is_confined = caller.visibility().is_confined();
        let call = ApiCall {
            state: Arc::clone(&self.state),
            caller,
            path,
            canonical_path: asked.path.canonical(),
            query: asked.query,
            headers: asked.headers.clone(),
            request_id: asked.request_id.to_owned(),
            body: asked.body,
            known_input: known_input.map(Arc::new),
            effect,
        };
        let permit = self.turns.acquire_permit(call.caller.organisation.key).await;
        let answer = run(&self.routes, route, verb, call, permit).await;
        answer.map_err(|error| if is_confined { error.without_usage() } else { error })
    }

    fn count_address(&self, request: &HttpRequest, now: Timestamp) -> RateLimitDecision {
        self.rules.limiter.addresses().count(self.client_address(request), now)
    }

    /// Returns the address for which a request without a valid secret is counted.
    pub fn client_address(&self, request: &HttpRequest) -> IpAddr {
        let trusted = &self.rules.is_trusted_proxy;
        client_address(request.peer_addr(), request.headers(), trusted)
    }

    fn add_common(&self, response: &mut HttpResponse, request: &HeaderMap, id: &str, allow: &str) {
        let headers = response.headers_mut();
        for (name, value) in self.rules.cors.headers(request, allow) {
            headers.append(name, value);
        }
        add_common(headers, id);
    }
}

/// Step 4: checks the rate limit.
fn check_allowance(allowance: RateLimitDecision, now: Timestamp) -> Result<(), ApiError> {
    if allowance.passes { Ok(()) } else { Err(ApiError::TooManyRequests(allowance.retry_after_seconds(now))) }
}

/// `OPTIONS` on a known path: answers with the allowed methods, without a token.
fn options<S>(resource: Option<(&PathRoutes<S>, PathValues)>) -> Result<ApiReply, ApiError> {
    let (resource, _) = resource.ok_or(ApiError::NotFound)?;
    let mut reply = ApiReply::data(json!({"methods": resource.methods().collect::<Vec<_>>()}));
    let allow = HeaderValue::from_str(&resource.allow()).map(|value| (header::ALLOW, value));
    reply.headers.extend(allow);
    Ok(reply)
}

/// Runs a handler. A write continues in its own task when the client disconnects (then this future is no longer
/// polled).
async fn run<S: IdempotencyStore + 'static>(
    routes: &Arc<RouteTable<S>>,
    route: &ApiRoute<S>,
    verb: HttpVerb,
    call: ApiCall<S>,
    permit: WorkPermit,
) -> Result<ApiReply, ApiError> {
    if verb.is_safe() {
        let refused = call.known_input.is_some().then(|| call.refused_parameters());
        let answer =
            permit.work(catch_panic(route.handler()(call)).map_ok(ApiReply::with_rendered_body)).await;
        return refuse_strictly(answer, refused);
    }
    let task = if route.takes_key() {
        let (routes, handler) = (Arc::clone(routes), Arc::clone(route.handler()));
        let work = idempotency::run(routes, handler, route.changes_nothing(), call);
        actix_web::rt::spawn(permit.work(work.map_ok(ApiReply::with_rendered_body)))
    } else {
        let work = run_write(Arc::clone(route.handler()), call);
        actix_web::rt::spawn(permit.work(work.map_ok(ApiReply::with_rendered_body)))
    };
    task.await.map_err(|error| ApiError::Internal(error.into()))?
}

fn render(answer: Result<ApiReply, ApiError>, request_id: &str) -> HttpResponse {
    match answer {
        Ok(reply) => reply.to_response(),
        Err(error) => error.to_response(request_id),
    }
}

fn add_allowance(headers: &mut HeaderMap, allowance: RateLimitDecision) {
    headers.insert(X_RATELIMIT_LIMIT, allowance.limit.into());
    headers.insert(X_RATELIMIT_REMAINING, allowance.remaining.into());
    headers.insert(X_RATELIMIT_RESET, allowance.reset_seconds().into());
}

#[cfg(test)]
mod tests;
