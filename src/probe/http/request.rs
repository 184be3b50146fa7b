//! One request as it goes over the wire.
//!
//! Lines that decide where a request ends are written here and by hyper alone: configured ones of the same name never
//! get so far (`probe::header`). A configured host takes the place of the target's, so a request never holds two.

use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, COOKIE, HOST, USER_AGENT};
use http::uri::{Authority, Scheme, Uri};
use http::{HeaderMap, HeaderValue, Method, Request, Version};
use http_body_util::Full;

use crate::model::check::ErrorCode;
use crate::probe::http::redirect::Hop;
use crate::probe::stop::Stop;

const AGENT: HeaderValue = HeaderValue::from_static(concat!("Watchkeeper/", env!("CARGO_PKG_VERSION")));
const ANYTHING: HeaderValue = HeaderValue::from_static("*/*");
/// Codings with a small window. Brotli and zstd are undone as well where a server insists, but less of them.
const CODINGS: HeaderValue = HeaderValue::from_static("gzip, deflate");
const CLOSE: HeaderValue = HeaderValue::from_static("close");

/// The request of a hop. Compressed answers are asked for only when the body is going to be read.
pub(super) fn of(hop: &Hop<'_>, is_http2: bool, wants_body: bool) -> Result<Request<Full<Bytes>>, Stop> {
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

fn headers(hop: &Hop<'_>, is_http2: bool, wants_body: bool) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(8);
    if !is_http2 {
        headers.insert(HOST, authority(hop).clone());
        // Each check is a connection of its own; a server that knows frees its worker at once.
        headers.insert(CONNECTION, CLOSE);
    }
    headers.insert(USER_AGENT, AGENT);
    headers.insert(ACCEPT, ANYTHING);
    if wants_body {
        headers.insert(ACCEPT_ENCODING, CODINGS);
    }
    if hop.body.is_empty() && matches!(hop.method, Method::POST | Method::PUT | Method::PATCH) {
        // RFC 9110, section 8.6; hyper says nothing about an empty body, and some servers insist on a length.
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

/// The host that the server is told: the configured one, or else that of the target.
fn authority<'a>(hop: &'a Hop<'_>) -> &'a HeaderValue {
    hop.configured.and_then(|headers| headers.get(HOST)).unwrap_or(&hop.endpoint.authority)
}

/// HTTP/2 takes scheme and authority from the address.
fn absolute(hop: &Hop<'_>) -> Result<Uri, Stop> {
    let unsendable = |_| Stop::failed(ErrorCode::HttpProtocol, "The host cannot be sent with HTTP/2");
    let authority = Authority::try_from(authority(hop).as_bytes()).map_err(unsendable)?;
    let mut parts = Uri::from(hop.endpoint.path.clone()).into_parts();
    parts.scheme = Some(Scheme::HTTPS);
    parts.authority = Some(authority);
    Uri::from_parts(parts)
        .map_err(|_| Stop::failed(ErrorCode::HttpProtocol, "The path cannot be sent with HTTP/2"))
}
