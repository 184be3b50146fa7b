//! Operational endpoints without a token: liveness, readiness, metrics, API description.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder, web};
use serde_json::json;

use crate::http::kit::bad_request::BadRequest;
use crate::http::kit::error::ApiError;
use crate::http::kit::reply::add_common;
use crate::http::kit::request_id::request_id;
use crate::http::openapi::ApiDescription;
use crate::http::public_paths::front::ServerState;
use crate::http::public_paths::front_page::FrontPage;
use crate::http::public_paths::requested_host::requested_host;
use crate::http::v1::warnings::warnings;
use crate::model::domain_names::InvalidHost;
use crate::readiness::NODE_HEADER;
use crate::telemetry::{Exposition, MetricCollector as _};

/// Answers the liveness check: the process answers.
pub(in crate::http) async fn healthz() -> HttpResponse {
    HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "no-store")).json(json!({"status": "ok"}))
}

/// Answers the readiness check: ready if both databases and the engine answer. The response names the failing components;
/// the reasons are in the log.
pub(in crate::http) async fn readyz(front: web::Data<ServerState>) -> HttpResponse {
    let parts = &front.state;
    let answering = parts.readiness().check_all().await;
    let is_ready = answering.all();
    let mut response = if is_ready { HttpResponse::Ok() } else { HttpResponse::ServiceUnavailable() };
    if !is_ready {
        response.insert_header((header::RETRY_AFTER, "5"));
    }
    response.insert_header((NODE_HEADER, parts.node.fingerprint()));
    let status = if is_ready { "ready" } else { "not ready" };
    let mut page = json!({
        "status": status,
        "databases": {"main": reached(answering.main), "history": reached(answering.history)},
    });
    if !answering.engine {
        page["engine"] = "away".into();
    }
    // Warnings do not affect readiness.
    let warnings = warnings(parts).await;
    if !warnings.is_empty() {
        page["warnings"] = json!(warnings);
    }
    response.insert_header((header::CACHE_CONTROL, "no-store")).json(page)
}

/// Returns the status text of a database.
const fn reached(does_answer: bool) -> &'static str {
    if does_answer { "ok" } else { "away" }
}

/// Serves the API description, which is public and the same for all clients.
pub(in crate::http) async fn openapi(front: web::Data<ServerState>, request: HttpRequest) -> HttpResponse {
    let description = match front.description.get() {
        Ok(description) => description,
        Err(reason) => return undescribed(reason, &request),
    };
    let mut response = HttpResponse::Ok();
    response.insert_header((header::CACHE_CONTROL, "no-cache"));
    response.content_type("application/json; charset=utf-8");
    description.json.answer(response, request.headers())
}

/// Serves the API description as an HTML page.
pub(in crate::http) async fn docs(front: web::Data<ServerState>, request: HttpRequest) -> HttpResponse {
    match front.description.get() {
        Ok(ApiDescription { page, policy, .. }) => page.answer(for_people(policy), request.headers()),
        Err(reason) => undescribed(reason, &request),
    }
}

fn undescribed(reason: &str, request: &HttpRequest) -> HttpResponse {
    let error = anyhow::anyhow!("the API cannot be described: {reason}");
    ApiError::Internal(error).to_response(&request_id(request.headers()))
}

/// Serves the introduction, on the hosts of the API; any other host gets 404.
pub(in crate::http) async fn front_page(front: web::Data<ServerState>, request: HttpRequest) -> HttpResponse {
    match requested_host(&request) {
        Ok(host) if host.as_ref().is_none_or(|host| front.state.domain_names.is_of_api(host)) => {}
        Ok(_) => return refuse(&request, &ApiError::NotFound),
        Err(InvalidHost) => return refuse_host(&request),
    }
    let FrontPage { html, policy } = &front.page;
    for_people(policy).body(html.clone())
}

/// Starts a response with an HTML page that may neither load nor run anything except its style.
fn for_people(policy: &str) -> HttpResponseBuilder {
    let mut response = HttpResponse::Ok();
    response.insert_header((header::CACHE_CONTROL, "no-cache"));
    response.insert_header((header::CONTENT_SECURITY_POLICY, policy));
    response.insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"));
    response.insert_header((header::REFERRER_POLICY, "no-referrer"));
    response.content_type("text/html; charset=utf-8");
    response
}

/// Refuses a request with 405 and the allowed methods.
pub(in crate::http) async fn refuse_method(request: HttpRequest, allowed: &'static str) -> HttpResponse {
    refuse(&request, &ApiError::MethodNotAllowed(allowed.into()))
}

/// Refuses a request without a valid host with 400 (RFC 9112, section 3.2).
pub(in crate::http) fn refuse_host(request: &HttpRequest) -> HttpResponse {
    refuse(request, &BadRequest::Host.into())
}

fn refuse(request: &HttpRequest, error: &ApiError) -> HttpResponse {
    let id = request_id(request.headers());
    let mut response = error.to_response(&id);
    add_common(response.headers_mut(), &id);
    response
}

/// Serves the metrics of all collectors, in the Prometheus text format.
pub(in crate::http) async fn metrics(front: web::Data<ServerState>) -> HttpResponse {
    let mut page = Exposition::default();
    for collector in &front.state.collectors {
        collector.collect(&mut page);
    }
    if let Some(certificates) = &front.state.certificates {
        certificates.collect(&mut page);
    }
    front.traffic.collect(&mut page);
    HttpResponse::Ok().content_type("text/plain; version=0.0.4; charset=utf-8").body(page.into_text())
}
