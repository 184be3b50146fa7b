//! One request in its wire form.
//!
//! Headers that decide where a request ends are set only here and by hyper; `probe::header` refuses to
//! configure them. A configured `Host` replaces the target's, so a request never has two.

use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, COOKIE, HOST, USER_AGENT};
use http::uri::{Authority, Scheme, Uri};
use http::{HeaderMap, HeaderValue, Method, Request, Version};
use http_body_util::Full;

use crate::model::check::ErrorCode;
use crate::probe::abort::ProbeAbort;
use crate::probe::http::redirect::RedirectHop;

const AGENT: HeaderValue = HeaderValue::from_static(concat!("Watchkeeper/", env!("CARGO_PKG_VERSION")));
const ANYTHING: HeaderValue = HeaderValue::from_static("*/*");
/// Codings with a small window. Brotli and zstd are decoded too if a server sends them, but with lower limits.
const CODINGS: HeaderValue = HeaderValue::from_static("gzip, deflate");
const CLOSE: HeaderValue = HeaderValue::from_static("close");

/// Creates the request of a hop. Compressed responses are requested only when the body is going to be read.
pub(super) fn of(
    hop: &RedirectHop<'_>,
    is_http2: bool,
    wants_body: bool,
) -> Result<Request<Full<Bytes>>, ProbeAbort> {
    let mut request = Request::new(Full::new(hop.body.clone()));
    *request.method_mut() = hop.method.clone();
    *request.headers_mut() = headers(hop, is_http2, wants_body);
    if is_http2 {
        *request.version_mut() = Version::HTTP_2;
        *request.uri_mut() = absolute(hop)?;
    } else {
        *request.uri_mut() = Uri::from(hop.endpoint.path.clone());
    }
    Ok(request)
}

fn headers(hop: &RedirectHop<'_>, is_http2: bool, wants_body: bool) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(8);
    if !is_http2 {
        headers.insert(HOST, authority(hop).clone());
        // Each check has a connection of its own; `close` lets the server free its worker at once.
        headers.insert(CONNECTION, CLOSE);
    }
    headers.insert(USER_AGENT, AGENT);
    headers.insert(ACCEPT, ANYTHING);
    if wants_body {
        headers.insert(ACCEPT_ENCODING, CODINGS);
    }
    if hop.body.is_empty() && matches!(hop.method, Method::POST | Method::PUT | Method::PATCH) {
        // RFC 9110, section 8.6; hyper sends no length for an empty body, and some servers insist on one.
        headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
    }
    for (name, value) in hop.configured.into_iter().flatten() {
        if name != HOST {
            headers.insert(name.clone(), value.clone());
        }
    }
    if let Some(line) = &hop.cookies {
        headers.insert(COOKIE, line.clone());
    }
    headers
}

/// Returns the host for the `Host` header: the configured one, or else that of the target.
fn authority<'a>(hop: &'a RedirectHop<'_>) -> &'a HeaderValue {
    hop.configured.and_then(|headers| headers.get(HOST)).unwrap_or(&hop.endpoint.authority)
}

/// Returns the absolute address, from which HTTP/2 takes scheme and authority.
fn absolute(hop: &RedirectHop<'_>) -> Result<Uri, ProbeAbort> {
    let unsendable = |_| ProbeAbort::failed(ErrorCode::HttpProtocol, "The host cannot be sent with HTTP/2");
    let authority = Authority::try_from(authority(hop).as_bytes()).map_err(unsendable)?;
    let mut parts = Uri::from(hop.endpoint.path.clone()).into_parts();
    parts.scheme = Some(Scheme::HTTPS);
    parts.authority = Some(authority);
    Uri::from_parts(parts)
        .map_err(|_| ProbeAbort::failed(ErrorCode::HttpProtocol, "The path cannot be sent with HTTP/2"))
}
