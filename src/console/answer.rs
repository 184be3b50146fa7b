//! HTTP responses of the console, and the security headers that limit what browsers do with them.

use std::convert::Infallible;

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderMap, HeaderValue};
use actix_web::{HttpResponse, HttpResponseBuilder};
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};

use crate::console::static_files::StaticFile;
use crate::representation::Representation;

/// Content security policy: everything from the console's own host, nothing inline; scripts create HTML only by the policy
/// `wk` (Trusted Types).
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types wk";
/// Policy of a status page in a frame of the console: no scripts and no forms. The owner's style sheet may load images and
/// fonts from other hosts, as on the page itself.
const FRAMED_POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self' data: https:; font-src https: data:; \
                             base-uri 'none'; form-action 'none'; frame-ancestors 'self'";
const FILE_CACHING: &str = "public, max-age=31536000, immutable";

fn guarded(status: StatusCode) -> HttpResponseBuilder {
    let mut answer = HttpResponse::build(status);
    answer
        .insert_header((header::CONTENT_SECURITY_POLICY, POLICY))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((header::REFERRER_POLICY, "same-origin"))
        .insert_header(("cross-origin-opener-policy", "same-origin"))
        .insert_header(("cross-origin-resource-policy", "same-origin"))
        .insert_header(("x-robots-tag", "noindex, nofollow"));
    answer
}

/// Returns an HTML document, which no cache may store; 304 for a script that has the same one.
pub(super) fn document(status: StatusCode, html: String, request: &HeaderMap) -> HttpResponse {
    let answer = document_head(status);
    let content = Representation::new(html);
    if status == StatusCode::OK {
        return content.answer(answer, request);
    }
    // The document of an error is always sent whole.
    let mut unconditional = request.clone();
    unconditional.remove(header::IF_NONE_MATCH);
    content.answer(answer, &unconditional)
}

fn document_head(status: StatusCode) -> HttpResponseBuilder {
    let mut answer = guarded(status);
    answer
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .insert_header((header::VARY, "Accept-Language"))
        .content_type("text/html; charset=utf-8");
    answer
}

/// Returns a document that several users share.
pub(super) fn shared_document(content: &Representation, request: &HeaderMap) -> HttpResponse {
    content.answer(document_head(StatusCode::OK), request)
}

/// Returns a stream of server-sent events, which no cache may store and no proxy may hold back.
pub(super) fn events(chunks: impl Stream<Item = Bytes> + 'static) -> HttpResponse {
    guarded(StatusCode::OK)
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .insert_header(("x-accel-buffering", "no"))
        .content_type("text/event-stream; charset=utf-8")
        .streaming(chunks.map(Ok::<_, Infallible>))
}

/// Returns 503 for a stream for which there is no room.
pub(super) fn no_stream() -> HttpResponse {
    guarded(StatusCode::SERVICE_UNAVAILABLE).insert_header((header::RETRY_AFTER, "10")).finish()
}

/// Returns a document that only a frame of the console shows.
pub(super) fn framed(html: Vec<u8>, request: &HeaderMap) -> HttpResponse {
    framed_file(&Representation::new(html), "text/html; charset=utf-8", request)
}

/// Returns a file for a document in a frame, which no cache may store.
pub(super) fn framed_file(
    content: &Representation,
    media_type: &'static str,
    request: &HeaderMap,
) -> HttpResponse {
    let mut answer = guarded(StatusCode::OK);
    answer
        .insert_header((header::CONTENT_SECURITY_POLICY, FRAMED_POLICY))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .content_type(media_type);
    content.answer(answer, request)
}

/// Returns a plain text for a script, which no cache may store.
pub(super) fn text(status: StatusCode, text: &str) -> HttpResponse {
    guarded(status)
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .content_type("text/plain; charset=utf-8")
        .body(text.to_owned())
}

/// Returns a redirect to a path of the console after a form.
pub(super) fn see_other(path: &str) -> HttpResponse {
    guarded(StatusCode::SEE_OTHER)
        .insert_header((header::LOCATION, format!("/console{path}")))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .finish()
}

/// Adds a cookie to a response.
pub(super) fn with_cookie(mut answer: HttpResponse, cookie: &str) -> HttpResponse {
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        answer.headers_mut().append(header::SET_COOKIE, cookie);
    }
    answer
}

/// Returns a file whose address changes with its content.
pub(super) fn file(file: &StaticFile, request: &HeaderMap) -> HttpResponse {
    let mut answer = guarded(StatusCode::OK);
    let caching = if file.is_current { FILE_CACHING } else { "no-cache" };
    answer.insert_header((header::CACHE_CONTROL, caching)).content_type(file.media_type);
    file.content.answer(answer, request)
}

/// Returns 405.
pub(super) fn wrong_method() -> HttpResponse {
    guarded(StatusCode::METHOD_NOT_ALLOWED).insert_header((header::ALLOW, "GET, HEAD, POST")).finish()
}
