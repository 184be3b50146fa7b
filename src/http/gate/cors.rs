//! Cross-origin headers (contract 1.1): none unless the operator lists origins.
//!
//! A browser on a listed origin may call the API with a token and read every header of the contract. Cookies are never
//! used.

use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};

const REQUEST_HEADERS: &str = "Authorization, Content-Type, Idempotency-Key, Prefer, X-Request-Id";
const RESPONSE_HEADERS: &str = "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id, \
                                Retry-After, Location, Idempotent-Replayed, Preference-Applied, Content-Language, Allow";
const PREFLIGHT_SECONDS: &str = "600";

/// The origins from which browsers may call the API.
#[derive(Clone, Debug, Default)]
pub struct CorsPolicy {
    origins: Vec<String>,
}

impl CorsPolicy {
    /// Allows these origins; `*` allows every origin.
    #[must_use]
    pub const fn new(origins: Vec<String>) -> Self {
        Self { origins }
    }

    /// Returns the headers to add to the response of a request with these headers. `methods` are the methods of the path,
    /// for preflight requests.
    #[must_use]
    pub fn headers(&self, request: &HeaderMap, methods: &str) -> Vec<(HeaderName, HeaderValue)> {
        if self.origins.is_empty() {
            return Vec::new();
        }
        let mut headers = vec![(header::VARY, HeaderValue::from_static("Origin"))];
        let Some(origin) = request.get(header::ORIGIN).filter(|origin| self.allows(origin)) else {
            return headers;
        };
        headers.push((header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone()));
        headers.push((header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(RESPONSE_HEADERS)));
        if request.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD) {
            let methods =
                HeaderValue::from_str(methods).map(|methods| (header::ACCESS_CONTROL_ALLOW_METHODS, methods));
            headers.extend(methods);
            headers.push((header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(REQUEST_HEADERS)));
            headers.push((header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(PREFLIGHT_SECONDS)));
        }
        headers
    }

    fn allows(&self, origin: &HeaderValue) -> bool {
        let listed = |allowed: &String| allowed == "*" || allowed.as_bytes() == origin.as_bytes();
        self.origins.iter().any(listed)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn names(origins: &[&str], origin: Option<&'static str>, preflight: bool) -> String {
        let mut request = HeaderMap::new();
        if let Some(origin) = origin {
            request.insert(header::ORIGIN, HeaderValue::from_static(origin));
        }
        if preflight {
            request.insert(header::ACCESS_CONTROL_REQUEST_METHOD, HeaderValue::from_static("POST"));
        }
        let cors = CorsPolicy::new(origins.iter().map(|origin| (*origin).to_owned()).collect());
        let headers = cors.headers(&request, "GET, HEAD, POST");
        let names = headers.iter().map(|(name, _)| name.as_str().trim_start_matches("access-control-"));
        names.collect::<Vec<_>>().join(" ")
    }

    #[rstest]
    #[case(&[], Some("https://a.example"), true, "")]
    #[case(&["https://a.example"], None, false, "vary")]
    #[case(&["https://a.example"], Some("https://b.example"), true, "vary")]
    #[case(&["https://a.example"], Some("https://a.example:8443"), true, "vary")]
    #[case(&["https://a.example"], Some("https://a.example"), false, "vary allow-origin expose-headers")]
    #[case(
        &["https://a.example"],
        Some("https://a.example"),
        true,
        "vary allow-origin expose-headers allow-methods allow-headers max-age"
    )]
    #[case(&["*"], Some("https://b.example"), false, "vary allow-origin expose-headers")]
    fn only_listed_origins_get_headers(
        #[case] origins: &[&str],
        #[case] origin: Option<&'static str>,
        #[case] preflight: bool,
        #[case] expected: &str,
    ) {
        assert_eq!(names(origins, origin, preflight), expected);
    }
}
