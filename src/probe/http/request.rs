//! One request as it goes over the wire.
//!
//! Lines that decide where a request ends or which host it is for are written here alone; configured ones of the
//! same name are left out, so a request never holds two of them.

use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONNECTION, HOST, HeaderName, USER_AGENT};
use http::uri::{Authority, Scheme, Uri};
use http::{HeaderMap, HeaderValue, Request, Version};
use http_body_util::Full;

use crate::model::check::ErrorCode;
use crate::probe::http::redirect::Hop;
use crate::probe::stop::Stop;

const AGENT: HeaderValue = HeaderValue::from_static(concat!("Watchkeeper/", env!("CARGO_PKG_VERSION")));
const ANYTHING: HeaderValue = HeaderValue::from_static("*/*");
const CODINGS: HeaderValue = HeaderValue::from_static("gzip, br, zstd, deflate");
const CLOSE: HeaderValue = HeaderValue::from_static("close");

/// Names that nobody may set but this module and hyper.
const RESERVED: [&str; 9] = [
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "te",
    "trailer",
    "upgrade",
    "http2-settings",
];

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
        headers.insert(HOST, hop.endpoint.authority.clone());
        // Each check is a connection of its own; a server that knows frees its worker at once.
        headers.insert(CONNECTION, CLOSE);
    }
    headers.insert(USER_AGENT, AGENT);
    headers.insert(ACCEPT, ANYTHING);
    if wants_body {
        headers.insert(ACCEPT_ENCODING, CODINGS);
    }
    for (name, value) in hop.configured.into_iter().flatten() {
        if !is_reserved(name) {
            headers.insert(name.clone(), value.clone());
        }
    }
    headers
}

fn is_reserved(name: &HeaderName) -> bool {
    let name = name.as_str();
    RESERVED.contains(&name) || name.starts_with("proxy-")
}

/// HTTP/2 takes scheme and authority from the address.
fn absolute(hop: &Hop<'_>) -> Result<Uri, Stop> {
    let unsendable = |_| Stop::failed(ErrorCode::HttpProtocol, "The host cannot be sent with HTTP/2");
    let authority = Authority::try_from(hop.endpoint.authority.as_bytes()).map_err(unsendable)?;
    let mut parts = Uri::from(hop.endpoint.path.clone()).into_parts();
    parts.scheme = Some(Scheme::HTTPS);
    parts.authority = Some(authority);
    Uri::from_parts(parts)
        .map_err(|_| Stop::failed(ErrorCode::HttpProtocol, "The path cannot be sent with HTTP/2"))
}
