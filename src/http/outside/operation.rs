//! The answers that the process gives without a token: is it alive, can it serve, what are its numbers, what can be
//! asked.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder, web};
use serde_json::json;

use crate::http::kit::error::ApiError;
use crate::http::kit::reply::add_common;
use crate::http::kit::request_id::request_id;
use crate::http::openapi::Description;
use crate::http::outside::front::Front;
use crate::http::outside::front_page::FrontPage;
use crate::http::v1::warnings::warnings;
use crate::model::domain_names::host_of_header;
use crate::telemetry::{Collect as _, Exposition};

/// Alive: the process answers.
pub(in crate::http) async fn healthz() -> HttpResponse {
    HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "no-store")).json(json!({"status": "ok"}))
}

/// Ready: both databases and the engine answer. Which one does not is said, but not why: that is in the log.
pub(in crate::http) async fn readyz(front: web::Data<Front>) -> HttpResponse {
    let parts = &front.state;
    let answering = parts.readiness().look().await;
    let is_ready = answering.all();
    let mut response = if is_ready { HttpResponse::Ok() } else { HttpResponse::ServiceUnavailable() };
    if !is_ready {
        response.insert_header((header::RETRY_AFTER, "5"));
    }
    let status = if is_ready { "ready" } else { "not ready" };
    let mut page = json!({
        "status": status,
        "databases": {"main": reached(answering.main), "history": reached(answering.history)},
    });
    if !answering.engine {
        page["engine"] = "away".into();
    }
    // With any of these it is ready all the same.
    let warnings = warnings(parts);
    if !warnings.is_empty() {
        page["warnings"] = json!(warnings);
    }
    response.insert_header((header::CACHE_CONTROL, "no-store")).json(page)
}

/// Returns the word for a database that was asked.
const fn reached(does_answer: bool) -> &'static str {
    if does_answer { "ok" } else { "away" }
}

/// The description of the API: public, and the same for everybody.
pub(in crate::http) async fn openapi(front: web::Data<Front>, request: HttpRequest) -> HttpResponse {
    let description = match front.description.get() {
        Ok(description) => description,
        Err(reason) => return undescribed(reason, &request),
    };
    let mut response = HttpResponse::Ok();
    response.insert_header((header::CACHE_CONTROL, "no-cache"));
    response.content_type("application/json; charset=utf-8");
    description.json.answer(response, request.headers())
}

/// The description as a page for people.
pub(in crate::http) async fn docs(front: web::Data<Front>, request: HttpRequest) -> HttpResponse {
    match front.description.get() {
        Ok(Description { page, policy, .. }) => page.answer(for_people(policy), request.headers()),
        Err(reason) => undescribed(reason, &request),
    }
}

fn undescribed(reason: &str, request: &HttpRequest) -> HttpResponse {
    let error = anyhow::anyhow!("the API cannot be described: {reason}");
    ApiError::Internal(error).to_response(&request_id(request.headers()))
}

/// What this is, and where to go: on the hosts by which the API is known. A host that is nobody's has no such page.
pub(in crate::http) async fn front_page(front: web::Data<Front>, request: HttpRequest) -> HttpResponse {
    let host = request.headers().get(header::HOST).and_then(|line| host_of_header(line.to_str().ok()?));
    if host.is_some_and(|host| !front.state.domain_names.is_of_api(&host)) {
        let id = request_id(request.headers());
        let mut response = ApiError::NotFound.to_response(&id);
        add_common(response.headers_mut(), &id);
        return response;
    }
    let FrontPage { html, policy } = &front.page;
    for_people(policy).body(html.clone())
}

/// A page which may load nothing and run nothing.
fn for_people(policy: &str) -> HttpResponseBuilder {
    let mut response = HttpResponse::Ok();
    response.insert_header((header::CACHE_CONTROL, "no-cache"));
    response.insert_header((header::CONTENT_SECURITY_POLICY, policy));
    response.insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"));
    response.insert_header((header::REFERRER_POLICY, "no-referrer"));
    response.content_type("text/html; charset=utf-8");
    response
}

/// Another method than those allowed here.
pub(in crate::http) async fn refuse_method(request: HttpRequest, allowed: &'static str) -> HttpResponse {
    let id = request_id(request.headers());
    let mut response = ApiError::MethodNotAllowed(allowed.into()).to_response(&id);
    add_common(response.headers_mut(), &id);
    response
}

/// The numbers of everybody who has some, in the Prometheus text format.
pub(in crate::http) async fn metrics(front: web::Data<Front>) -> HttpResponse {
    let mut page = Exposition::default();
    for collector in &front.state.collectors {
        collector.collect(&mut page);
    }
    front.traffic.collect(&mut page);
    HttpResponse::Ok().content_type("text/plain; version=0.0.4; charset=utf-8").body(page.into_text())
}
