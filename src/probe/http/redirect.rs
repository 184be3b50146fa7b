//! Redirects: which responses count as a redirect, where each leads, and which parts of the request are kept.
//!
//! After a redirect to another origin no configured data are sent (no header, no credential, no body), even if
//! a later redirect leads back. Cookies set by responses are sent as in browsers. Only `http` and `https` are
//! followed, at most 10 hops, none twice.

use std::borrow::Cow;

use bytes::Bytes;
use http::header::LOCATION;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use url::Url;

use crate::model::check::ErrorCode;
use crate::probe::abort::ProbeAbort;
use crate::probe::endpoint::{Endpoint, EndpointFormError};
use crate::probe::http::cookies::CookieJar;
use crate::probe::spec::HttpCheck;

/// Maximum number of redirects that are followed (contract 4.2.2).
const HOPS_MAX: usize = 10;

/// One request of a check.
#[derive(Debug)]
pub(super) struct RedirectHop<'a> {
    /// The address of the request.
    pub(super) url: Cow<'a, Url>,
    pub(super) endpoint: Cow<'a, Endpoint>,
    pub(super) method: Method,
    /// The configured headers, as long as they may be sent.
    pub(super) configured: Option<&'a HeaderMap>,
    pub(super) body: Bytes,
    /// The `Cookie` header, with the configured cookies too; `None` if responses have set no cookie for this
    /// URL.
    pub(super) cookies: Option<HeaderValue>,
}

/// Returns true for a redirect response that names a location.
pub(super) fn is_redirect(status: StatusCode, headers: &HeaderMap) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) && headers.contains_key(LOCATION)
}

impl<'a> RedirectHop<'a> {
    /// Returns the hop that a response leads to; `None` when it is final.
    pub(super) fn redirected(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
    ) -> Result<Option<Self>, ProbeAbort> {
        if !is_redirect(status, headers) {
            return Ok(None);
        }
        let url = headers
            .get(LOCATION)
            .and_then(|location| self.url.join(&as_text(location.as_bytes())).ok())
            .ok_or_else(|| {
                ProbeAbort::failed(ErrorCode::HttpProtocol, "The redirect names no valid address")
            })?;
        let endpoint = Endpoint::of(&url).map_err(unfollowable)?;
        let keeps_origin = self.url.origin() == url.origin();
        let method = self.method_after(status);
        let keeps_body = keeps_origin && method == self.method;
        Ok(Some(Self {
            url: Cow::Owned(url),
            endpoint: Cow::Owned(endpoint),
            configured: self.configured.filter(|_| keeps_origin),
            body: if keeps_body { self.body.clone() } else { Bytes::new() },
            method,
            cookies: None,
        }))
    }

    /// Returns the method after a redirect (RFC 9110, section 15.4, and browsers for a redirected POST).
    fn method_after(&self, status: StatusCode) -> Method {
        match status {
            StatusCode::SEE_OTHER if self.method != Method::HEAD => Method::GET,
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND if self.method == Method::POST => Method::GET,
            _ => self.method.clone(),
        }
    }
}

/// Decodes a location. If it is not UTF-8, its bytes above ASCII are percent-encoded, as in browsers.
fn as_text(location: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(location) {
        return Cow::Borrowed(text);
    }
    let encoded =
        |byte: &u8| if byte.is_ascii() { char::from(*byte).to_string() } else { format!("%{byte:02X}") };
    Cow::Owned(location.iter().map(encoded).collect())
}

fn unfollowable(form: EndpointFormError) -> ProbeAbort {
    match form {
        EndpointFormError::Scheme => {
            ProbeAbort::failed(ErrorCode::HttpProtocol, "The redirect leads to a scheme that is not HTTP")
        }
        EndpointFormError::Host | EndpointFormError::Path => {
            ProbeAbort::failed(ErrorCode::HttpProtocol, "The redirect names no valid address")
        }
    }
}

/// The hops of one check.
#[derive(Debug)]
pub(super) struct RedirectTrail<'a> {
    pub(super) hop: RedirectHop<'a>,
    past: Vec<RedirectHop<'a>>,
    jar: CookieJar,
}

impl<'a> RedirectTrail<'a> {
    /// The first hop of a check.
    pub(super) fn of(check: &'a HttpCheck) -> Self {
        let hop = RedirectHop {
            url: Cow::Borrowed(&check.url),
            endpoint: Cow::Borrowed(&check.endpoint),
            method: check.method.clone(),
            configured: Some(&check.headers),
            body: check.body.clone(),
            cookies: None,
        };
        Self { hop, past: Vec::new(), jar: CookieJar::default() }
    }

    /// Number of redirects followed so far.
    pub(super) const fn redirects(&self) -> usize {
        self.past.len()
    }

    /// Advances to the next hop, with the cookies of the response that led there. A repeated request is an error: it would
    /// get the same response, so it is a loop.
    pub(super) fn advance(
        &mut self,
        mut next: RedirectHop<'a>,
        headers: &HeaderMap,
    ) -> Result<(), ProbeAbort> {
        self.jar.take(&self.hop.url, headers);
        next.cookies = self.jar.line(&next.url, next.configured);
        self.past.push(std::mem::replace(&mut self.hop, next));
        let is_same = |past: &RedirectHop<'_>| {
            (&past.method, &past.cookies) == (&self.hop.method, &self.hop.cookies)
                && without_fragment(&past.url) == without_fragment(&self.hop.url)
        };
        if self.past.len() > HOPS_MAX {
            Err(ProbeAbort::failed(ErrorCode::HttpRedirectLoop, "More than 10 redirects"))
        } else if self.past.iter().any(is_same) {
            Err(ProbeAbort::failed(ErrorCode::HttpRedirectLoop, "The redirects lead in a circle"))
        } else {
            Ok(())
        }
    }
}

fn without_fragment(url: &Url) -> &str {
    &url[..url::Position::AfterQuery]
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use rstest::rstest;

    use super::*;

    fn redirect(
        method: Method,
        from: &str,
        status: u16,
        to: &str,
    ) -> Result<(String, String, bool, bool), ErrorCode> {
        let url = Url::parse(from).unwrap();
        let configured = HeaderMap::new();
        let hop = RedirectHop {
            endpoint: Cow::Owned(Endpoint::of(&url).unwrap()),
            url: Cow::Owned(url),
            method,
            configured: Some(&configured),
            body: Bytes::from_static(b"body"),
            cookies: None,
        };
        let headers = HeaderMap::from_iter([(LOCATION, HeaderValue::from_bytes(to.as_bytes()).unwrap())]);
        match hop.redirected(StatusCode::from_u16(status).unwrap(), &headers) {
            Ok(next) => {
                let next = next.unwrap();
                let taken = (next.configured.is_some(), !next.body.is_empty());
                Ok((next.method.to_string(), next.url.to_string(), taken.0, taken.1))
            }
            Err(ProbeAbort::Failed(failure)) => Err(failure.code),
            Err(ProbeAbort::Trouble(trouble)) => panic!("{trouble:?}"),
        }
    }

    /// Columns: method, from, status, location; then method, address, headers taken along, body taken along.
    #[rstest]
    #[case("GET", "http://a/x", 302, "/y", "GET", "http://a/y", true, true)]
    #[case("POST", "http://a/x", 301, "y", "GET", "http://a/y", true, false)]
    #[case("POST", "http://a/x", 302, "/y", "GET", "http://a/y", true, false)]
    #[case("PUT", "http://a/x", 302, "/y", "PUT", "http://a/y", true, true)]
    #[case("PUT", "http://a/x", 303, "/y", "GET", "http://a/y", true, false)]
    #[case("HEAD", "http://a/x", 303, "/y", "HEAD", "http://a/y", true, true)]
    #[case("POST", "http://a/x", 307, "/y", "POST", "http://a/y", true, true)]
    #[case("POST", "http://a/x", 308, "//a/y", "POST", "http://a/y", true, true)]
    #[case("POST", "http://a/x", 307, "http://b/", "POST", "http://b/", false, false)]
    #[case("POST", "http://a/x", 308, "http://a:81/", "POST", "http://a:81/", false, false)]
    #[case("GET", "https://a/x", 302, "http://a/x", "GET", "http://a/x", false, false)]
    #[case("GET", "http://a/x", 302, "https://a/x", "GET", "https://a/x", false, false)]
    #[case("GET", "http://a/x", 302, "http://a:80/y", "GET", "http://a/y", true, true)]
    fn a_redirect_keeps_only_permitted_headers_and_body(
        #[case] method: &str,
        #[case] from: &str,
        #[case] status: u16,
        #[case] location: &str,
        #[case] next_method: &str,
        #[case] next_url: &str,
        #[case] takes_headers: bool,
        #[case] takes_body: bool,
    ) {
        let method = method.parse().unwrap();
        let expected = (next_method.to_owned(), next_url.to_owned(), takes_headers, takes_body);
        assert_eq!(redirect(method, from, status, location), Ok(expected));
    }

    #[rstest]
    #[case(b"/caf\xe9", "/caf%E9")]
    #[case(b"/caf\xc3\xa9", "/caf%C3%A9")]
    #[case(b"/\xc3\xa9\xe9?\xe9", "/%C3%A9%E9?%E9")]
    fn a_location_is_bytes(#[case] location: &[u8], #[case] expected: &str) {
        let url = Url::parse("http://a/").unwrap().join(&as_text(location)).unwrap();
        assert_eq!(&url[url::Position::BeforePath..], expected);
    }

    #[rstest]
    #[case("file:///etc/passwd")]
    #[case("gopher://127.0.0.1:6379/_FLUSHALL")]
    #[case("http://")]
    #[case("http://a b/")]
    fn a_redirect_without_valid_location_is_a_protocol_error(#[case] location: &str) {
        assert_eq!(redirect(Method::GET, "http://a/", 302, location), Err(ErrorCode::HttpProtocol));
    }

    #[rstest]
    #[case(200)]
    #[case(300)]
    #[case(304)]
    #[case(305)]
    #[case(404)]
    fn other_statuses_are_final(#[case] status: u16) {
        let headers = HeaderMap::from_iter([(LOCATION, HeaderValue::from_static("/y"))]);
        assert!(!is_redirect(StatusCode::from_u16(status).unwrap(), &headers));
    }
}
