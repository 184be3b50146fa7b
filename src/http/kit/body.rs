//! Reads the JSON body of a request (contract 1.2): content type, size, time, syntax, in this order.
//!
//! A body is an object of at most 32 levels; if a key is repeated, its last value counts. `fields` interprets the object.
//! Actions without a schema do not read their bodies at all.

use std::time::Duration;

use actix_web::error::PayloadError;
use actix_web::http::header::{self, HeaderMap};
use actix_web::web::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt};
use serde_json::{Map, Value};

use crate::http::kit::bad_request::BadRequest;
use crate::http::kit::error::ApiError;

/// Deepest nesting of objects and lists; the body itself is level 1.
pub const MAX_DEPTH: usize = 32;

/// Size limit and time limit of a body.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimits {
    /// Largest size of a body, in bytes.
    pub bytes: usize,
    /// Longest time from the first read to the last byte, so that a slow client cannot occupy a request indefinitely.
    pub timeout: Duration,
}

/// Checks that a body with these headers may be JSON.
///
/// # Errors
/// 400 for another content type or a content encoding.
pub fn check_content_type(headers: &HeaderMap) -> Result<(), BadRequest> {
    let is_plain = !headers.contains_key(header::CONTENT_ENCODING);
    if is_plain && is_json(headers) { Ok(()) } else { Err(BadRequest::ContentType) }
}

/// Reads at most `limits.bytes` bytes within `limits.timeout`.
///
/// # Errors
/// 413 as soon as it is known that the body is too large; 408 on timeout; 400 if the client disconnects.
pub async fn read_bytes(
    headers: &HeaderMap,
    payload: impl Stream<Item = Result<Bytes, PayloadError>>,
    limits: BodyLimits,
) -> Result<Bytes, ApiError> {
    if declared_length(headers).is_some_and(|length| length > limits.bytes) {
        return Err(ApiError::BodyTooLarge);
    }
    let collected = tokio::time::timeout(limits.timeout, collect(payload, limits.bytes));
    collected.await.map_err(|_| ApiError::BodyTimeout)?
}

async fn collect(
    payload: impl Stream<Item = Result<Bytes, PayloadError>>,
    most: usize,
) -> Result<Bytes, ApiError> {
    let mut payload = std::pin::pin!(payload);
    let mut bytes = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|_| BadRequest::Json)?;
        if bytes.len() + chunk.len() > most {
            return Err(ApiError::BodyTooLarge);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes.freeze())
}

/// Returns the declared length; a length that cannot be represented counts as too large.
fn declared_length(headers: &HeaderMap) -> Option<usize> {
    let text = headers.get(header::CONTENT_LENGTH)?.to_str().ok()?;
    Some(text.parse().unwrap_or(usize::MAX))
}

/// Returns true for `application/json` or `application/*+json`, without charset or with utf-8. A missing content type
/// counts as JSON.
fn is_json(headers: &HeaderMap) -> bool {
    let mut types = headers.get_all(header::CONTENT_TYPE);
    let (first, second) = (types.next(), types.next());
    match (first, second) {
        (None, _) => true,
        (Some(only), None) => only.to_str().is_ok_and(is_json_type),
        (Some(_), Some(_)) => false,
    }
}

fn is_json_type(text: &str) -> bool {
    let mut parts = text.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default().to_ascii_lowercase();
    let subtype = essence.strip_prefix("application/").unwrap_or_default();
    let json = subtype == "json" || subtype.strip_suffix("+json").is_some_and(|name| !name.is_empty());
    json && parts.filter_map(charset).all(|charset| charset.eq_ignore_ascii_case("utf-8"))
}

fn charset(parameter: &str) -> Option<&str> {
    let (name, value) = parameter.split_once('=')?;
    let is_charset = name.trim().eq_ignore_ascii_case("charset");
    is_charset.then(|| value.trim().trim_matches('"'))
}

/// Parses a JSON object.
///
/// # Errors
/// When the bytes are not JSON, nested deeper than [`MAX_DEPTH`], or not an object.
pub fn parse_object(bytes: &[u8]) -> Result<Map<String, Value>, BadRequest> {
    if depth(bytes) > MAX_DEPTH {
        return Err(BadRequest::Json);
    }
    match serde_json::from_slice(bytes).map_err(|_| BadRequest::Json)? {
        Value::Object(members) => Ok(members),
        _ => Err(BadRequest::NoObject),
    }
}

/// Returns the depth of nested brackets outside of strings. It is checked before parsing, whose own limit is 128.
fn depth(bytes: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_string, mut escaped) = (false, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderName, HeaderValue};
    use futures_util::stream;
    use rstest::rstest;

    use super::*;

    const LIMITS: BodyLimits = BodyLimits { bytes: 64, timeout: Duration::from_secs(10) };

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let line = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        lines.iter().map(line).collect()
    }

    async fn read_object(
        headers: &HeaderMap,
        payload: impl Stream<Item = Result<Bytes, PayloadError>>,
        limits: BodyLimits,
    ) -> Result<Map<String, Value>, ApiError> {
        check_content_type(headers)?;
        Ok(parse_object(&read_bytes(headers, payload, limits).await?)?)
    }

    async fn read(lines: &[(&'static str, &'static str)], body: &'static [u8]) -> Result<String, String> {
        let chunks = body.chunks(7).map(|chunk| Ok(Bytes::from_static(chunk)));
        let read = read_object(&headers(lines), stream::iter(chunks), LIMITS).await;
        read.map(|object| Value::Object(object).to_string())
            .map_err(|error| format!("{} {error}", error.status().as_u16()))
    }

    const TYPE: &str = "400 Send the request body as application/json.";

    /// Contract 1.2: content types.
    #[rstest]
    #[case(&[], Ok(()))]
    #[case(&[("content-type", "application/json")], Ok(()))]
    #[case(&[("content-type", "Application/JSON; Charset=\"UTF-8\"")], Ok(()))]
    #[case(&[("content-type", "application/json;charset=utf-8;x=y")], Ok(()))]
    #[case(&[("content-type", "application/merge-patch+json")], Ok(()))]
    #[case(&[("content-type", "application/json; charset=latin1")], Err(TYPE))]
    #[case(&[("content-type", "application/+json")], Err(TYPE))]
    #[case(&[("content-type", "application/jsonp")], Err(TYPE))]
    #[case(&[("content-type", "text/json")], Err(TYPE))]
    #[case(&[("content-type", "text/plain")], Err(TYPE))]
    #[case(&[("content-type", "application/x-www-form-urlencoded")], Err(TYPE))]
    #[case(&[("content-type", "")], Err(TYPE))]
    #[case(&[("content-encoding", "gzip")], Err(TYPE))]
    #[case(&[("content-encoding", "identity"), ("content-type", "application/json")], Err(TYPE))]
    #[tokio::test]
    async fn only_json_is_read(
        #[case] lines: &[(&'static str, &'static str)],
        #[case] expected: Result<(), &str>,
    ) {
        let result = read(lines, br#"{"a":1}"#).await;
        assert_eq!(result, expected.map(|()| r#"{"a":1}"#.to_owned()).map_err(str::to_owned));
    }

    const JSON: &str = "400 The request body is not valid JSON.";
    const OBJECT: &str = "400 The request body must be a JSON object.";
    const LARGE: &str = "413 The request body is too large.";

    /// Contract 1.2: bodies.
    #[rstest]
    #[case(b"{}", Ok("{}"))]
    #[case(b" {\"b\": 400, \"a\": 4.0} \n", Ok(r#"{"b":400,"a":4.0}"#))]
    #[case(br#"{"a": 1, "b": 2, "a": 3}"#, Ok(r#"{"a":3,"b":2}"#))]
    #[case(br#"{"a": {"x": 1, "x": 2}}"#, Ok(r#"{"a":{"x":2}}"#))]
    #[case(br#"{"a": "\u00e4\ud83d\ude00"}"#, Ok(r#"{"a":"ä😀"}"#))]
    #[case(b"", Err(JSON))]
    #[case(b"  ", Err(JSON))]
    #[case(b"{", Err(JSON))]
    #[case(b"{} {}", Err(JSON))]
    #[case(b"{'a': 1}", Err(JSON))]
    #[case(b"{\"a\": 1,}", Err(JSON))]
    #[case(b"{\"a\": NaN}", Err(JSON))]
    #[case(b"{\"a\": \"\xff\"}", Err(JSON))]
    #[case(br#"{"a": "\ud83d"}"#, Err(JSON))]
    #[case(b"\xef\xbb\xbf{}", Err(JSON))]
    #[case(b"[]", Err(OBJECT))]
    #[case(b"null", Err(OBJECT))]
    #[case(b"\"text\"", Err(OBJECT))]
    #[case(b"7", Err(OBJECT))]
    #[case(
        br#"{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaa":"bbbbbbbbbbbbbbbbbbbbbbbbbbbb"}"#,
        Ok(r#"{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaa":"bbbbbbbbbbbbbbbbbbbbbbbbbbbb"}"#)
    )]
    #[case(br#"{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaa":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}"#, Err(LARGE))]
    #[tokio::test]
    async fn only_an_object_within_the_limits_is_read(
        #[case] body: &'static [u8],
        #[case] expected: Result<&str, &str>,
    ) {
        assert_eq!(read(&[], body).await, expected.map(str::to_owned).map_err(str::to_owned));
    }

    /// A body with a declared length beyond the limit is refused before a byte of it is read.
    #[rstest]
    #[case("65")]
    #[case("99999999999999999999999")]
    #[tokio::test]
    async fn a_declared_length_beyond_the_limit_is_refused_at_once(#[case] length: &'static str) {
        let never = stream::pending();
        let error = read_object(&headers(&[("content-length", length)]), never, LIMITS).await;
        assert!(matches!(error, Err(ApiError::BodyTooLarge)), "{error:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_never_ends_times_out() {
        let trickle = stream::iter([Ok(Bytes::from_static(b"{"))]).chain(stream::pending());
        let started = tokio::time::Instant::now();
        let error = read_object(&headers(&[]), trickle, LIMITS).await;
        assert!(matches!(error, Err(ApiError::BodyTimeout)), "{error:?}");
        assert_eq!(started.elapsed().as_secs(), 10);
    }

    #[rstest]
    #[case(32, true)]
    #[case(33, false)]
    #[case(100_000, false)]
    fn nesting_ends_at_32_levels(#[case] levels: usize, #[case] readable: bool) {
        let (open, close) = ("[".repeat(levels - 1), "]".repeat(levels - 1));
        let body = format!("{{\"a\": {open}{close}}}");
        assert_eq!(parse_object(body.as_bytes()).is_ok(), readable);
    }

    #[test]
    fn brackets_in_strings_do_not_nest() {
        let text = r#"[[{{\"\\"#.repeat(20);
        let body = format!("{{\"a\": \"{text}\"}}");
        assert!(parse_object(body.as_bytes()).is_ok());
    }
}
