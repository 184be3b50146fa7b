//! The answers that the process gives without a token: is it alive, can it serve, what are its numbers, what can be
//! asked.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};
use serde_json::json;

use crate::http::kit::error::ApiError;
use crate::http::kit::reply::add_common;
use crate::http::kit::request_id::request_id;
use crate::http::openapi::Description;
use crate::http::outside::front::Front;
use crate::telemetry::{Collect as _, Exposition};

const BUS_AWAY: &str = "the NATS server is away: results of locations in other places come later; of several nodes each answers \
    for its own services alone, and none takes over from another";

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
    // With a doubted clock or without the NATS server it is ready all the same.
    let is_bus_away = parts.figures.read().bus.is_some_and(|bus| !bus.is_connected);
    let warnings = parts.guard.state().warning().into_iter().chain(is_bus_away.then(|| BUS_AWAY.into()));
    let unowned = parts.announcer.ownership.unowned().len();
    let warning = (unowned > 0).then(|| {
        format!(
            "no node owns {unowned} of 64 partitions: their services are not watched until one takes them"
        )
    });
    let warnings: Vec<String> = warnings.chain(warning).collect();
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
pub(in crate::http) async fn openapi(front: web::Data<Front>) -> HttpResponse {
    let mut response = HttpResponse::Ok();
    response.insert_header((header::CACHE_CONTROL, "no-cache"));
    response.content_type("application/json; charset=utf-8").body(front.description.json.clone())
}

/// The description as a page for people, which may load nothing and run nothing.
pub(in crate::http) async fn docs(front: web::Data<Front>) -> HttpResponse {
    let Description { page, policy, .. } = &front.description;
    let mut response = HttpResponse::Ok();
    response.insert_header((header::CACHE_CONTROL, "no-cache"));
    response.insert_header((header::CONTENT_SECURITY_POLICY, policy.as_str()));
    response.insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"));
    response.insert_header((header::REFERRER_POLICY, "no-referrer"));
    response.content_type("text/html; charset=utf-8").body(page.clone())
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
