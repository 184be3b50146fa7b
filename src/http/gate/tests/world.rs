//! A directory of callers, a few routes, and a gate in front of them.

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
use crate::http::gate::call::Call;
use crate::http::gate::cors::Cors;
use crate::http::gate::idempotency::{Claim, KeyState, Keys};
use crate::http::gate::rate_limit::RateLimiter;
use crate::http::gate::route::{Access, Route, Routes};
use crate::http::gate::write::{AnswerKeeper, Committed};
use crate::http::gate::{Callers, Gate, GateRules};
use crate::http::kit::body::BodyLimits;
use crate::http::kit::error::ApiError;
use crate::http::kit::known_input::KnownInput;
use crate::http::kit::reply::Reply;
use crate::id::Id;
use crate::model::access::{Organisation, Permission, Permissions, Plan, Token};
use crate::model::allowance::Allowance;
use crate::model::token::{TokenHash, TokenText};
use crate::store::idempotency_keys::Fingerprint;

pub(super) const NOW: Timestamp = Timestamp::from_ms(1_795_193_460_000);

/// Callers by the hash of their token, and the two ends of a slow write.
#[derive(Default)]
pub(super) struct Directory {
    pub(super) callers: HashMap<TokenHash, Caller>,
    /// Number of caller lookups.
    pub(super) asked: AtomicUsize,
    pub(super) is_away: bool,
    pub(super) may_finish: Notify,
    pub(super) finished: Notify,
}

impl Callers for Directory {
    async fn count_elsewhere(&self, _: i64) -> Option<Allowance> {
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

/// Every key is free: the behaviour of keys is tested with a database.
impl Keys for Directory {
    async fn claim(&self, _: &Claim, _: &Fingerprint) -> Result<KeyState, ApiError> {
        Ok(KeyState::Mine)
    }

    async fn renew(&self, _: &Claim) -> Result<(), ApiError> {
        Ok(())
    }

    async fn free(&self, _: &Claim) -> Result<(), ApiError> {
        Ok(())
    }

    fn keeper(&self, _: Arc<Claim>) -> Arc<dyn AnswerKeeper> {
        unreachable!("no handler here begins a write")
    }
}

/// A gate in front of a few routes, and a token of each kind.
pub(super) struct World {
    /// The set in which writes continue on their own, as on a thread of the server.
    pub(super) tasks: LocalSet,
    pub(super) gate: Gate<Directory>,
    pub(super) tokens: HashMap<&'static str, TokenText>,
}

pub(super) fn caller(
    key: i64,
    plan: Plan,
    permissions: &[Permission],
    expires_at: Option<Timestamp>,
) -> Caller {
    let permissions: Permissions = permissions.iter().copied().collect();
    Caller {
        token: Token {
            key,
            id: Id::random(),
            organisation: 1,
            name: "Deploy bot".into(),
            permissions,
            expires_at,
            created_at: NOW,
            access_scope: None,
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

pub(super) async fn show(call: Call<Directory>) -> Result<Reply, ApiError> {
    let id = call.path.id(0)?;
    Ok(Reply::data(json!({"id": id.as_str(), "path": call.canonical_path})))
}

pub(super) async fn echo(call: Call<Directory>) -> Result<Committed, ApiError> {
    Ok(Committed::without_database(Reply::data(call.body.read_object(&call.headers).await?.into())))
}

pub(super) async fn change(call: Call<Directory>) -> Result<Committed, ApiError> {
    show(call).await.map(Committed::without_database)
}

pub(super) async fn fail<T>(_: Call<Directory>) -> Result<T, ApiError> {
    panic!("hunter2")
}

pub(super) async fn remove(call: Call<Directory>) -> Result<Committed, ApiError> {
    Ok(Committed::without_database(Reply::deleted(call.path.id(0)?)))
}

pub(super) async fn write_slowly(call: Call<Directory>) -> Result<Committed, ApiError> {
    call.state.may_finish.notified().await;
    call.state.finished.notify_one();
    Ok(Committed::without_database(Reply::data(Value::Null)))
}

pub(super) fn routes() -> Routes<Directory> {
    let view = Access::needs(&[Permission::ServicesView]);
    let edit = Access::needs(&[Permission::ServicesEdit]);
    let delete = Access::needs(&[Permission::ServicesDelete])
        .when_true(&[("delete_orphaned_incidents", Permission::IncidentsDelete)]);
    let both = Access::needs(&[Permission::ServicesView, Permission::IncidentsView]);
    let routes = Routes::new([
        Route::get("/v1/me", Access::any_token(), |_| async { Ok(Reply::ok(Value::Null)) }),
        Route::get("/v1/services/{id}", view, show),
        Route::post("/v1/services", edit, echo),
        Route::update("/v1/services/{id}", edit, change),
        Route::delete("/v1/services/{id}", delete, remove),
        Route::get("/v1/services/{id}/incidents", both, show),
        Route::get("/v1/broken", view, fail),
        Route::post("/v1/broken", edit, fail),
        Route::post("/v1/slow", edit, write_slowly),
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
        cors: Cors::default(),
        body_limits: BodyLimits { bytes: 100, timeout: Duration::from_secs(10) },
        known_input: Box::new(|_, _| KnownInput::default()),
    };
    World { tasks: LocalSet::new(), gate: Gate::new(rules, routes(), Arc::new(directory)), tokens }
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
