//! Cross-site requests: a form is accepted only from a document of the console's own origin.
//!
//! Browsers say where a request comes from by `Sec-Fetch-Site`, older ones by `Origin`. A request with neither is refused: the
//! console is for browsers, and programs have the API. A status page on a host below the console's is the same site, but
//! another origin.

use actix_web::http::header::{HOST, HeaderMap, HeaderName, ORIGIN};
use url::Url;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Returns true if a form was sent by a document of this origin.
pub(super) fn is_own_origin(headers: &HeaderMap) -> bool {
    let value = |name: &HeaderName| {
        let mut values = headers.get_all(name);
        let (only, None) = (values.next()?, values.next()) else { return Some("") };
        Some(only.to_str().unwrap_or_default())
    };
    match (value(&SEC_FETCH_SITE), value(&ORIGIN)) {
        (Some(site), _) => site == "same-origin",
        (None, Some(origin)) => {
            let host = value(&HOST).map(str::to_ascii_lowercase);
            matches!((host_of(origin), host), (Some(one), Some(other)) if one == without_default_port(&other))
        }
        (None, None) => false,
    }
}

/// An origin of the console.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OwnOrigin {
    /// Such as `https://wk.example.com:8443`, in the form that browsers send.
    pub(super) origin: String,
    /// Host without a port.
    pub(super) host: String,
}

impl OwnOrigin {
    /// Parses an origin, or takes that of a URL; `None` if it is no origin of a document.
    pub(super) fn parse(url: &str) -> Option<Self> {
        let url = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
        Some(Self { origin: url.origin().ascii_serialization(), host: url.host_str()?.to_owned() })
    }
}

/// Returns the origin of a form that was sent by a document of this origin; `None` if the browser does not say it.
pub(super) fn own_origin(headers: &HeaderMap) -> Option<OwnOrigin> {
    let mut values = headers.get_all(ORIGIN);
    let (Some(origin), None) = (values.next(), values.next()) else { return None };
    let origin = origin.to_str().ok()?;
    let host = headers.get(HOST)?.to_str().ok()?.to_ascii_lowercase();
    if !is_own_origin(headers) || host_of(origin)? != without_default_port(&host) {
        return None;
    }
    OwnOrigin::parse(origin).filter(|own| own.origin == origin)
}

/// Returns host and port of an origin, without the default port; `None` if it is no origin of a document.
fn host_of(origin: &str) -> Option<String> {
    let url = Url::parse(origin).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let host = url.host_str()?;
    Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}

fn without_default_port(host: &str) -> &str {
    host.strip_suffix(":80").or_else(|| host.strip_suffix(":443")).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("https://wk.example:8443", "wk.example:8443", Some("wk.example"))]
    #[case("https://wk.example", "wk.example", Some("wk.example"))]
    #[case("https://wk.example", "WK.example:443", Some("wk.example"))]
    #[case("http://localhost:8080", "localhost:8080", Some("localhost"))]
    #[case("https://wk.example:8443", "wk.example", None)]
    #[case("https://shop.wk.example", "wk.example", None)]
    #[case("null", "wk.example", None)]
    fn a_browser_says_its_origin(#[case] origin: &str, #[case] host: &str, #[case] expected: Option<&str>) {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_str(host).unwrap());
        headers.insert(ORIGIN, HeaderValue::from_str(origin).unwrap());
        headers.insert(SEC_FETCH_SITE, HeaderValue::from_static("same-origin"));
        let found = own_origin(&headers);
        assert_eq!(found.as_ref().map(|own| own.host.as_str()), expected);
        assert!(found.is_none_or(|own| own.origin == origin));
    }

    #[rstest]
    #[case("https://wk.example/base/", Some(("https://wk.example", "wk.example")))]
    #[case("https://WK.example:443", Some(("https://wk.example", "wk.example")))]
    #[case("http://wk.example:8080", Some(("http://wk.example:8080", "wk.example")))]
    #[case("http://[::1]:8080", Some(("http://[::1]:8080", "[::1]")))]
    #[case("ftp://wk.example", None)]
    #[case("null", None)]
    fn a_url_has_an_origin(#[case] url: &str, #[case] expected: Option<(&str, &str)>) {
        let found = OwnOrigin::parse(url);
        assert_eq!(found.as_ref().map(|own| (&*own.origin, &*own.host)), expected);
    }

    #[rstest]
    #[case(&[("sec-fetch-site", "same-origin")], true)]
    #[case(&[("sec-fetch-site", "same-origin"), ("origin", "null")], true)]
    #[case(&[("sec-fetch-site", "none")], false)]
    #[case(&[("sec-fetch-site", "same-site")], false)]
    #[case(&[("sec-fetch-site", "cross-site"), ("origin", "http://wk.example:8080")], false)]
    #[case(&[("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")], false)]
    #[case(&[("origin", "http://wk.example:8080")], true)]
    #[case(&[("origin", "https://wk.example:8080")], true)]
    #[case(&[("origin", "http://wk.example")], false)]
    #[case(&[("origin", "http://shop.wk.example:8080")], false)]
    #[case(&[("origin", "ftp://wk.example:8080")], false)]
    #[case(&[("origin", "null")], false)]
    #[case(&[("origin", "")], false)]
    #[case(&[], false)]
    fn a_form_comes_from_its_own_origin(#[case] lines: &[(&'static str, &str)], #[case] is_own: bool) {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static("Wk.example:8080"));
        for (name, value) in lines {
            headers.append(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        }
        assert_eq!(is_own_origin(&headers), is_own);
    }
}
