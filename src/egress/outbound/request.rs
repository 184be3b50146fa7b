//! One request, as given by the caller and in wire form.
//!
//! Headers that decide where a request ends and which host receives it are set by the client only.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HeaderName, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method};
use http_body_util::Full;

use super::failure::ExchangeFailure;
use super::url::OutboundUrl;

const AGENT: HeaderValue = HeaderValue::from_static(concat!("Watchkeeper/", env!("CARGO_PKG_VERSION")));

/// Headers that the client sets itself.
const OWN: [&str; 11] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Returns true for a header that the client sets itself: a request that contains it is not sent.
#[must_use]
pub fn is_own(name: &HeaderName) -> bool {
    OWN.contains(&name.as_str())
}

/// A request. Its `Debug` form omits the headers, the body, and the path of the URL.
pub struct OutboundRequest {
    /// The method; any except `CONNECT`.
    pub method: Method,
    /// URL of the request.
    pub url: OutboundUrl,
    /// Headers in their order; without `User-Agent` the client's own is sent.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// The body; may be empty.
    pub body: Bytes,
    /// Time limit for everything: resolving, connecting, sending, and receiving.
    pub deadline: Duration,
}

impl OutboundRequest {
    pub(super) fn into_http(self) -> Result<http::Request<Full<Bytes>>, ExchangeFailure> {
        if self.method == Method::CONNECT {
            return Err(ExchangeFailure::Unsendable("the method CONNECT is not supported"));
        }
        let mut headers = HeaderMap::with_capacity(self.headers.len() + 3);
        for (name, mut value) in self.headers {
            if is_own(&name) {
                return Err(ExchangeFailure::Unsendable("it brings a header that the client sets itself"));
            }
            value.set_sensitive(true);
            headers
                .try_append(name, value)
                .map_err(|_| ExchangeFailure::Unsendable("it has too many headers"))?;
        }
        headers.entry(USER_AGENT).or_insert(AGENT);
        if self.body.is_empty() && matches!(self.method, Method::POST | Method::PUT | Method::PATCH) {
            // hyper sends no length for an empty body; some servers insist on one.
            headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        let mut request = http::Request::new(Full::new(self.body));
        *request.method_mut() = self.method;
        *request.uri_mut() = self.url.into_uri();
        *request.headers_mut() = headers;
        Ok(request)
    }
}

impl fmt::Debug for OutboundRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("url", &self.url)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}
