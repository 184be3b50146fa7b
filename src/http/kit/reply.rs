//! A successful response (contract 1.3): status, its own headers, JSON body.
//!
//! A response is a plain value until the gate renders it, so that it can be stored and repeated. The headers of every
//! response (contract 1.12) are added by the gate.

use std::convert::Infallible;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use bytes::Bytes;
use futures_util::stream::empty;
use serde::Serialize;
use serde_json::{Value, json};

use crate::http::kit::event_stream::EventStream;
use crate::http::kit::languages::AnswerLanguage;
use crate::http::kit::request_id::X_REQUEST_ID;
use crate::http::kit::view::to_text;
use crate::id::Id;
use crate::store::idempotency_keys::AnswerHead;

/// Tells proxies not to buffer the response.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Adds the headers of every response (contract 1.12).
pub fn add_common(headers: &mut HeaderMap, request_id: &str) {
    if let Ok(id) = HeaderValue::from_str(request_id) {
        headers.insert(X_REQUEST_ID, id);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
}

/// The response of a handler.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiReply {
    /// Status: 200, 201 or 202.
    pub status: StatusCode,
    /// Headers specific to this response.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Body of the response.
    pub body: ReplyBody,
}

/// The body of a response.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplyBody {
    /// JSON to be serialized.
    Json(Value),
    /// Serialized text: of a view, of a document that is not JSON, or of a stored response that is repeated byte for byte.
    Text(String),
    /// Events that are sent as they happen.
    Events(EventStream),
}

impl ApiReply {
    /// Creates a 200 with this body.
    #[must_use]
    pub const fn ok(body: Value) -> Self {
        Self { status: StatusCode::OK, headers: Vec::new(), body: ReplyBody::Json(body) }
    }

    /// Creates a 200 with this view as the whole body, serialized without an intermediate tree of values: for long lists.
    #[must_use]
    pub fn view(body: &impl Serialize) -> Self {
        Self { status: StatusCode::OK, headers: Vec::new(), body: ReplyBody::Text(to_text(body)) }
    }

    /// Creates a 200 with `{"data": …}`.
    #[must_use]
    pub fn data(data: Value) -> Self {
        Self::ok(enveloped(data))
    }

    /// Creates a 201 with `{"data": …}` and the URL of the new resource in `Location`.
    #[must_use]
    pub fn created(data: Value, location: &str) -> Self {
        let location = HeaderValue::from_str(location).map(|value| (header::LOCATION, value));
        Self {
            status: StatusCode::CREATED,
            headers: location.into_iter().collect(),
            body: ReplyBody::Json(enveloped(data)),
        }
    }

    /// Creates a 202 with `{"data": …}`, for work that continues after the response.
    #[must_use]
    pub fn accepted(data: Value) -> Self {
        Self { status: StatusCode::ACCEPTED, ..Self::data(data) }
    }

    /// Creates a 200 with a document that is not JSON.
    #[must_use]
    pub fn document(content_type: &'static str, text: String) -> Self {
        let content_type = (header::CONTENT_TYPE, HeaderValue::from_static(content_type));
        Self { status: StatusCode::OK, headers: vec![content_type], body: ReplyBody::Text(text) }
    }

    /// Creates a 200 with an HTML page and this content security policy.
    #[must_use]
    pub fn page(html: String, policy: &'static str) -> Self {
        let mut page = Self::document("text/html; charset=utf-8", html);
        page.headers.push((header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy)));
        page
    }

    /// Creates a 200 with a stream of events, and a header that asks proxies not to buffer it.
    #[must_use]
    pub fn events(stream: EventStream) -> Self {
        let unbuffered = (X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
        Self { status: StatusCode::OK, headers: vec![unbuffered], body: ReplyBody::Events(stream) }
    }

    /// Returns the same response for a `HEAD` request, without the events of a stream.
    #[must_use]
    pub fn for_head(self) -> Self {
        match &self.body {
            ReplyBody::Events(stream) => drop(stream.take()),
            ReplyBody::Json(_) | ReplyBody::Text(_) => {}
        }
        self
    }

    /// Creates a 200 with the id of a deleted resource.
    #[must_use]
    pub fn deleted(id: Id) -> Self {
        Self::data(json!({"id": id.as_str(), "deleted": true}))
    }

    /// Adds the headers of translatable fields (contract 1.11).
    #[must_use]
    pub fn in_language(mut self, languages: &AnswerLanguage) -> Self {
        self.headers.extend(languages.headers());
        self
    }

    /// Creates a response from its stored parts.
    #[must_use]
    pub const fn stored(status: StatusCode, headers: Vec<(HeaderName, HeaderValue)>, body: String) -> Self {
        Self { status, headers, body: ReplyBody::Text(body) }
    }

    /// Serializes the body, which takes time for a long one.
    #[must_use]
    pub fn with_rendered_body(self) -> Self {
        let body = match self.body {
            ReplyBody::Json(body) => ReplyBody::Text(body.to_string()),
            written => written,
        };
        Self { body, ..self }
    }

    /// Returns the body as text; empty for a stream of events.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.body {
            ReplyBody::Json(body) => body.to_string(),
            ReplyBody::Text(text) => text.clone(),
            ReplyBody::Events(_) => String::new(),
        }
    }

    /// Returns the part that is stored in addition to the body (contract 1.10).
    #[must_use]
    pub fn head(&self) -> AnswerHead {
        let value = |wanted: HeaderName| {
            let found = self.headers.iter().find(|(name, _)| *name == wanted);
            found.and_then(|(_, value)| value.to_str().ok()).map(str::to_owned)
        };
        let (location, language) = (value(header::LOCATION), value(header::CONTENT_LANGUAGE));
        AnswerHead { status: self.status.as_u16(), location, language }
    }

    /// Converts the reply to a response of actix-web.
    #[must_use]
    pub fn to_response(&self) -> HttpResponse {
        let mut response = HttpResponse::build(self.status);
        for (name, value) in &self.headers {
            response.insert_header((name.clone(), value.clone()));
        }
        match &self.body {
            ReplyBody::Events(stream) => {
                response.content_type("text/event-stream");
                match stream.take() {
                    Some(chunks) => response.streaming(chunks),
                    // The stream was taken for a `HEAD` request: the body has no length and no content.
                    None => response.streaming(empty::<Result<Bytes, Infallible>>()),
                }
            }
            ReplyBody::Json(_) | ReplyBody::Text(_) => {
                if self.headers.iter().all(|(name, _)| *name != header::CONTENT_TYPE) {
                    response.content_type("application/json; charset=utf-8");
                }
                response.body(self.text())
            }
        }
    }
}

/// Wraps a value as `{"data": …}` without copying it.
fn enveloped(data: Value) -> Value {
    Value::Object([("data".to_owned(), data)].into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_created_resource_has_a_location_header() {
        let reply = ApiReply::created(json!({"id": 1}), "https://api.example.com/v1/services/1");
        let response = reply.to_response();
        assert_eq!(response.status(), StatusCode::CREATED);
        assert_eq!(response.headers().get("location").unwrap(), "https://api.example.com/v1/services/1");
        assert_eq!(response.headers().get("content-type").unwrap(), "application/json; charset=utf-8");
        assert_eq!(reply.text(), r#"{"data":{"id":1}}"#);
    }

    #[test]
    fn a_delete_answers_with_the_id() {
        let id = Id::random();
        let reply = ApiReply::deleted(id);
        assert_eq!(reply.status, StatusCode::OK);
        assert_eq!(reply.text(), format!(r#"{{"data":{{"id":"{id}","deleted":true}}}}"#));
    }
}
