//! The way from the HTTP server to the console, and from the console to the API.
//!
//! The server passes every request below `/console` on its own host to the console. The console carries out what its users
//! ask for by requests to the API that never leave the process ([`InnerApi`]): the same routes, checks and handlers.

use std::net::IpAddr;
use std::sync::Arc;

use actix_web::dev::Payload;
use actix_web::{HttpRequest, HttpResponse};
use futures_util::future::LocalBoxFuture;

use crate::http::gate::auth::Caller;
use crate::http::gate::{ApiGate, InnerRequest};
use crate::http::kit::error::ApiError;
use crate::http::kit::reply::ApiReply;
use crate::http::v1::state::AppState;

/// A request to the console.
pub struct ConsoleRequest {
    /// The request, without its body.
    pub request: HttpRequest,
    /// The body.
    pub body: Payload,
    /// The client's address, as far as trusted proxies report it.
    pub client: IpAddr,
    /// The API.
    pub api: InnerApi,
}

/// Answers requests to the console.
pub type ConsoleEntry = Arc<dyn Fn(ConsoleRequest) -> LocalBoxFuture<'static, HttpResponse> + Send + Sync>;

/// The API for callers inside of this process. Cheap to clone.
#[derive(Clone)]
pub struct InnerApi {
    /// The gate in front of the handlers.
    pub gate: Arc<ApiGate<AppState>>,
    /// The application state.
    pub state: Arc<AppState>,
}

impl InnerApi {
    /// Makes a request on behalf of a caller.
    ///
    /// # Errors
    /// As a request to the API with a token of this caller.
    pub async fn call(&self, caller: Caller, request: InnerRequest) -> Result<ApiReply, ApiError> {
        self.gate.answer_inner(caller, request).await
    }
}
