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
