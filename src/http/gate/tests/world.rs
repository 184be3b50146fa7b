//! A list of callers, a few routes, and a gate in front of them, for tests.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::Method;
use actix_web::test::TestRequest;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::LocalSet;

use crate::clock::guard::ClockGuard;
use crate::clock::{Clock, Timestamp};
use crate::http::gate::auth::Caller;
use crate::http::gate::call::ApiCall;
use crate::http::gate::cors::CorsPolicy;
use crate::http::gate::idempotency::{IdempotencyStore, KeyClaim, KeyState};
use crate::http::gate::rate_limit::RateLimiter;
use crate::http::gate::route::{AccessRule, ApiRoute, RouteTable};
use crate::http::gate::write::{AnswerKeeper, CommittedReply};
use crate::http::gate::{ApiGate, CallerLookup, GateRules};
use crate::http::kit::body::BodyLimits;
use crate::http::kit::error::ApiError;
use crate::http::kit::known_input::KnownInput;
use crate::http::kit::reply::ApiReply;
use crate::id::Id;
use crate::model::access::{ApiToken, Organisation, Permission, PermissionSet, Plan, TokenHolder};
use crate::model::rate_limit::RateLimitDecision;
use crate::model::token::{TokenHash, TokenText};
use crate::store::idempotency_keys::Fingerprint;

pub(super) const NOW: Timestamp = Timestamp::from_ms(1_795_193_460_000);

/// Callers by the hash of their token, and the two signals of a slow write.
#[derive(Default)]
pub(super) struct Directory {
    pub(super) callers: HashMap<TokenHash, Caller>,
    /// Number of caller lookups.
    pub(super) asked: AtomicUsize,
    pub(super) is_away: bool,
    pub(super) may_finish: Notify,
    pub(super) finished: Notify,
}

impl CallerLookup for Directory {
    async fn count_cluster_wide(&self, _: i64) -> Option<RateLimitDecision> {
        None
    }

    async fn find_caller(&self, hash: TokenHash) -> Result<Option<Caller>, ApiError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        if self.is_away {
            return Err(ApiError::Unavailable);
        }
        Ok(self.callers.get(&hash).cloned())
    }
}

/// Treats every key as free: the behaviour of keys is tested with a database.
impl IdempotencyStore for Directory {
    async fn claim(&self, _: &KeyClaim, _: &Fingerprint) -> Result<KeyState, ApiError> {
        Ok(KeyState::Mine)
    }

    async fn renew(&self, _: &KeyClaim) -> Result<(), ApiError> {
        Ok(())
    }

    async fn free(&self, _: &KeyClaim) -> Result<(), ApiError> {
        Ok(())
    }

    fn keeper(&self, _: Arc<KeyClaim>) -> Arc<dyn AnswerKeeper> {
        unreachable!("no handler here begins a write")
    }
}

/// A gate in front of a few routes, and a token for each case.
pub(super) struct World {
    /// The tasks in which writes continue after a disconnect, as on a thread of the server.
    pub(super) tasks: LocalSet,
    pub(super) gate: ApiGate<Directory>,
    pub(super) tokens: HashMap<&'static str, TokenText>,
}

pub(super) fn caller(
    key: i64,
    plan: Plan,
    permissions: &[Permission],
    expires_at: Option<Timestamp>,
) -> Caller {
    let permissions: PermissionSet = permissions.iter().copied().collect();
    Caller {
        token: ApiToken {
            key,
            id: Id::random(),
            organisation: 1,
            name: "Deploy bot".into(),
            permissions,
            expires_at,
            created_at: NOW,
            access_scope: None,
            holder: TokenHolder::Program,
        },
        organisation: Organisation {
            key: 1,
            id: Id::random(),
            name: "Example Ltd".into(),
            plan,
            self_hosted: false,
            locales: vec!["en".into()],
            default_locale: "en".into(),
            created_at: NOW,
        },
        limits: plan.default_limits(),
    }
}

pub(super) async fn show(call: ApiCall<Directory>) -> Result<ApiReply, ApiError> {
    let id = call.path.id(0)?;
    Ok(ApiReply::data(json!({"id": id.as_str(), "path": call.canonical_path})))
}

pub(super) async fn echo(call: ApiCall<Directory>) -> Result<CommittedReply, ApiError> {
    Ok(CommittedReply::without_database(ApiReply::data(call.body.read_object(&call.headers).await?.into())))
}

pub(super) async fn change(call: ApiCall<Directory>) -> Result<CommittedReply, ApiError> {
    show(call).await.map(CommittedReply::without_database)
}

pub(super) async fn fail<T>(_: ApiCall<Directory>) -> Result<T, ApiError> {
    panic!("hunter2")
}

pub(super) async fn remove(call: ApiCall<Directory>) -> Result<CommittedReply, ApiError> {
    Ok(CommittedReply::without_database(ApiReply::deleted(call.path.id(0)?)))
}

pub(super) async fn write_slowly(call: ApiCall<Directory>) -> Result<CommittedReply, ApiError> {
    call.state.may_finish.notified().await;
    call.state.finished.notify_one();
    Ok(CommittedReply::without_database(ApiReply::data(Value::Null)))
}

pub(super) fn routes() -> RouteTable<Directory> {
    let view = AccessRule::needs(&[Permission::ServicesView]);
    let edit = AccessRule::needs(&[Permission::ServicesEdit]);
    let delete = AccessRule::needs(&[Permission::ServicesDelete])
        .when_true(&[("delete_orphaned_incidents", Permission::IncidentsDelete)]);
    let both = AccessRule::needs(&[Permission::ServicesView, Permission::IncidentsView]);
    let routes = RouteTable::new([
        ApiRoute::get("/v1/me", AccessRule::any_token(), |_| async { Ok(ApiReply::ok(Value::Null)) }),
        ApiRoute::get("/v1/services/{id}", view, show),
        ApiRoute::post("/v1/services", edit, echo),
        ApiRoute::update("/v1/services/{id}", edit, change),
        ApiRoute::delete("/v1/services/{id}", delete, remove),
        ApiRoute::get("/v1/services/{id}/incidents", both, show),
        ApiRoute::get("/v1/broken", view, fail),
        ApiRoute::post("/v1/broken", edit, fail),
        ApiRoute::post("/v1/slow", edit, write_slowly),
    ]);
    routes.unwrap()
}

pub(super) fn world(limit: u32) -> World {
    let mut directory = Directory::default();
    let all = Permission::ALL;
    let without_incidents: Vec<Permission> =
        all.iter().copied().filter(|permission| !permission.as_str().starts_with("incidents")).collect();
    let kinds = [
        ("full", caller(1, Plan::Team, all, Some(NOW.plus_ms(1)))),
        ("none", caller(2, Plan::Team, &[], None)),
        ("no incidents", caller(3, Plan::Business, &without_incidents, None)),
        ("free plan", caller(4, Plan::Free, all, None)),
        ("expired", caller(5, Plan::Team, all, Some(NOW))),
    ];
    let mut tokens =
        HashMap::from([("unknown", TokenText::random("wk_")), ("foreign", TokenText::random("xx_"))]);
    for (kind, caller) in kinds {
        let token = TokenText::random("wk_");
        directory.callers.insert(token.hash(), caller);
        tokens.insert(kind, token);
    }
    let clock = Clock::fixed(NOW);
    let rules = GateRules {
        guard: Arc::new(ClockGuard::new(clock.clone(), None)),
        clock,
        token_prefix: "wk_".into(),
        limiter: Arc::new(RateLimiter::new(limit, 100)),
        is_trusted_proxy: Box::new(|_| false),
        cors: CorsPolicy::default(),
        body_limits: BodyLimits { bytes: 100, timeout: Duration::from_secs(10) },
        known_input: Box::new(|_, _| KnownInput::default()),
    };
    World { tasks: LocalSet::new(), gate: ApiGate::new(rules, routes(), Arc::new(directory)), tokens }
}

impl World {
    pub(super) fn request(&self, method: &str, uri: &str, token: &str) -> TestRequest {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let request = TestRequest::with_uri(uri).method(method);
        match self.tokens.get(token) {
            Some(token) => request.insert_header(("Authorization", format!("Bearer {}", token.expose()))),
            None => request,
        }
    }

    pub(super) async fn send(&self, request: TestRequest) -> (HttpResponse, Value) {
        let (request, payload) = request.to_http_parts();
        let response = self.tasks.run_until(self.gate.answer(&request, payload)).await;
        let (response, body) = response.into_parts();
        let body = actix_web::body::to_bytes(body).await.unwrap();
        (response.set_body(actix_web::body::BoxBody::new(())), serde_json::from_slice(&body).unwrap())
    }

    pub(super) async fn ask(&self, method: &str, uri: &str, token: &str) -> (HttpResponse, Value) {
        self.send(self.request(method, uri, token)).await
    }
}

pub(super) fn header<'a>(response: &'a HttpResponse, name: &str) -> Option<&'a str> {
    response.headers().get(name).map(|value| value.to_str().unwrap())
}
