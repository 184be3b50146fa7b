//! Forms that visitors send: small, complete within a limited time, and from a page of the same host.

use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::header::{self, HeaderMap, HeaderName};
use futures_util::StreamExt as _;
use tokio::time::timeout;
use url::{Url, form_urlencoded};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FORM: &str = "application/x-www-form-urlencoded";
/// Maximum length of a form in bytes: a password of 255 characters, each written as four encoded bytes, and some more.
const BYTES_MAX: usize = 4 * 1_024;
/// Time within which a form must be complete.
const TIME_MAX: Duration = Duration::from_secs(10);

/// Why a form is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FormRefusal {
    Malformed,
    NotAForm,
    TooLarge,
    TooSlow,
}

/// Reads a field of a form; a missing field is empty.
///
/// # Errors
/// When the body is not a form, too large, too slow or incomplete.
pub(super) async fn read_field(
    headers: &HeaderMap,
    payload: Payload,
    name: &str,
) -> Result<String, FormRefusal> {
    let declared = headers.get(header::CONTENT_TYPE).and_then(|declared| declared.to_str().ok());
    let media = declared.and_then(|declared| declared.split(';').next()).unwrap_or_default().trim();
    if !media.eq_ignore_ascii_case(FORM) {
        return Err(FormRefusal::NotAForm);
    }
    let body = timeout(TIME_MAX, read_body(payload)).await.map_err(|_| FormRefusal::TooSlow)??;
    let mut fields = form_urlencoded::parse(&body);
    Ok(fields.find(|(field, _)| field == name).map(|(_, value)| value.into_owned()).unwrap_or_default())
}

async fn read_body(mut payload: Payload) -> Result<Vec<u8>, FormRefusal> {
    let mut body = Vec::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|_| FormRefusal::Malformed)?;
        if body.len() + chunk.len() > BYTES_MAX {
            return Err(FormRefusal::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Returns true if a browser says that the request comes from a page of another host: by `Sec-Fetch-Site`, or else, where
/// browsers do not send it, by `Origin`. A client that sends neither is no browser, so nobody else can make it send a form.
pub(super) fn has_foreign_origin(headers: &HeaderMap) -> bool {
    let value = |name: &HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    if let Some(site) = value(&SEC_FETCH_SITE) {
        return !matches!(site, "same-origin" | "none");
    }
    value(&header::ORIGIN)
        .is_some_and(|origin| Some(host_of(origin)) != value(&header::HOST).map(normal_host))
}

/// Returns host and port of an origin, without the default port.
fn host_of(origin: &str) -> String {
    let Ok(url) = Url::parse(origin) else { return String::new() };
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Returns a host as a browser writes it in an origin.
fn normal_host(host: &str) -> String {
    let host = host.to_ascii_lowercase();
    let without_port = host.strip_suffix(":80").or_else(|| host.strip_suffix(":443"));
    without_port.unwrap_or(&host).to_owned()
}

#[cfg(test)]
mod tests {
    use actix_web::error::PayloadError;
    use actix_web::http::header::HeaderValue;
    use bytes::Bytes;
    use futures_util::{Stream, stream};
    use rstest::rstest;

    use super::*;

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        let line = |(name, value): &(&'static str, &str)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        };
        lines.iter().map(line).collect()
    }

    /// A body that arrives in these pieces.
    fn streamed(pieces: impl Stream<Item = Result<Bytes, PayloadError>> + 'static) -> Payload {
        Payload::Stream { payload: Box::pin(pieces) }
    }

    #[rstest]
    #[case(&[("sec-fetch-site", "same-origin")], false)]
    #[case(&[("sec-fetch-site", "none")], false)]
    #[case(&[("sec-fetch-site", "same-site")], true)]
    #[case(&[("sec-fetch-site", "cross-site"), ("origin", "http://shop.example:8080")], true)]
    #[case(&[("origin", "http://shop.example:8080")], false)]
    #[case(&[("origin", "https://shop.example:8080")], false)]
    #[case(&[("origin", "http://shop.example")], true)]
    #[case(&[("origin", "http://other.example:8080")], true)]
    #[case(&[("origin", "null")], true)]
    #[case(&[("origin", "")], true)]
    #[case(&[], false)]
    fn forms_of_other_hosts_are_refused(#[case] lines: &[(&'static str, &str)], #[case] is_foreign: bool) {
        let mut headers = headers(lines);
        headers.insert(header::HOST, HeaderValue::from_static("Shop.example:8080"));
        assert_eq!(has_foreign_origin(&headers), is_foreign);
    }

    #[rstest]
    #[case("https://shop.example", "shop.example:443")]
    #[case("https://shop.example", "shop.example")]
    #[case("http://shop.example", "shop.example:80")]
    fn default_ports_may_be_left_out(#[case] origin: &str, #[case] host: &str) {
        assert!(!has_foreign_origin(&headers(&[("origin", origin), ("host", host)])));
    }

    #[rstest]
    #[case(FORM, "password=a+b%26%C3%A4&other=1".into(), Ok("a b&ä"))]
    #[case("Application/X-WWW-form-urlencoded; charset=utf-8", "password=x".into(), Ok("x"))]
    #[case(FORM, "other=1".into(), Ok(""))]
    #[case(FORM, "a".repeat(BYTES_MAX + 1), Err(FormRefusal::TooLarge))]
    #[case("application/json", "{}".into(), Err(FormRefusal::NotAForm))]
    #[case("", String::new(), Err(FormRefusal::NotAForm))]
    #[tokio::test]
    async fn a_field_is_read_from_a_small_form(
        #[case] media: &str,
        #[case] body: String,
        #[case] expected: Result<&str, FormRefusal>,
    ) {
        let sent = stream::iter([Ok(Bytes::from(body))]);
        let found = read_field(&headers(&[("content-type", media)]), streamed(sent), "password").await;
        assert_eq!(found.as_deref(), expected.as_ref().map(|text| *text));
    }

    #[tokio::test(start_paused = true)]
    async fn a_form_that_does_not_end_is_given_up() {
        let found =
            read_field(&headers(&[("content-type", FORM)]), streamed(stream::pending()), "password").await;
        assert_eq!(found, Err(FormRefusal::TooSlow));
    }
}
