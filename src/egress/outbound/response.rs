//! A response: its status, its `Retry-After`, and the start of its body.
//!
//! At most 64 KiB of a body are read, so that the connection of an ordinary response can be reused, and 1 KiB is kept.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, DATE, RETRY_AFTER};
use http::{HeaderMap, Response};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use tokio::time::{Instant, timeout_at};

use super::failure::{ExchangeFailure, TimeoutStage};
use crate::clock::Timestamp;

/// Maximum number of body bytes that are read.
const READ_MAX_BYTES: usize = 64 * 1024;
/// Maximum number of body bytes that are kept.
pub const EXCERPT_MAX_BYTES: usize = 1_024;

/// Maximum number of bytes of a body that is read as a whole.
pub(super) const BODY_MAX_BYTES: usize = 256 * 1024;

/// A response of any status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboundResponse {
    /// The HTTP status, 200 to 599 or any other number from a server.
    pub status: u16,
    /// The time before which the client should send no further request, if the server names one.
    pub retry_after: Option<RetryAfter>,
    /// The time by the server's clock, in whole seconds.
    pub date: Option<Timestamp>,
    /// The first 1 KiB of the body as text, without control characters. It may repeat data of the request.
    pub excerpt: String,
}

/// The content of `Retry-After` (RFC 9110, section 10.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryAfter {
    /// This long after the response; whole seconds.
    In(Duration),
    /// At this time by the server's clock.
    At(Timestamp),
}

impl RetryAfter {
    /// Returns the wait from `now` on; zero when the time has passed.
    #[must_use]
    pub fn wait(self, now: Timestamp) -> Duration {
        match self {
            Self::In(time) => time,
            Self::At(at) => Duration::from_millis(u64::try_from(at.ms_since(now)).unwrap_or(0)),
        }
    }

    /// Reads the header; `None` if it is absent or malformed.
    #[must_use]
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            // A number out of range counts as the longest wait.
            return Some(Self::In(Duration::from_secs(text.parse::<u32>().unwrap_or(u32::MAX).into())));
        }
        read_date(text).map(Self::At)
    }
}

/// Parses a time in the format of HTTP (RFC 9110, section 5.6.7).
fn read_date(text: &str) -> Option<Timestamp> {
    let at = httpdate::parse_http_date(text).ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(Timestamp::from_ms(i64::try_from(at.as_millis()).ok()?))
}

impl OutboundResponse {
    /// Reads the body up to the limit; after a longer body the connection cannot be reused. A body of unknown
    /// length may end at `deadline`: its server has accepted the request.
    pub(super) async fn read_response(
        response: Response<Incoming>,
        deadline: Instant,
    ) -> Result<Self, ExchangeFailure> {
        let (head, mut body) = response.into_parts();
        let mut collected = Vec::new();
        let reading = read(&mut body, &mut collected);
        match timeout_at(deadline, reading).await {
            Ok(read) => read.map_err(|error| ExchangeFailure::of(&error))?,
            Err(_elapsed) if head.headers.contains_key(CONTENT_LENGTH) => {
                return Err(ExchangeFailure::Timeout(TimeoutStage::Reading));
            }
            Err(_elapsed) => {}
        }
        Ok(Self {
            status: head.status.as_u16(),
            retry_after: RetryAfter::of(&head.headers),
            date: head.headers.get(DATE).and_then(|date| read_date(date.to_str().ok()?.trim())),
            excerpt: excerpt(&collected),
        })
    }
}

/// Reads a whole body. Unlike an excerpt it must end before the deadline.
pub(super) async fn read_whole(
    response: Response<Incoming>,
    deadline: Instant,
) -> Result<Response<Bytes>, ExchangeFailure> {
    let (head, body) = response.into_parts();
    let reading = Limited::new(body, BODY_MAX_BYTES).collect();
    let read = timeout_at(deadline, reading).await;
    let read = read.map_err(|_elapsed| ExchangeFailure::Timeout(TimeoutStage::Reading))?;
    let body = read.map_err(|error| match error.downcast::<LengthLimitError>() {
        Ok(_) => ExchangeFailure::Body,
        Err(error) => ExchangeFailure::of(&*error),
    })?;
    Ok(Response::from_parts(head, body.to_bytes()))
}

async fn read(body: &mut Incoming, collected: &mut Vec<u8>) -> hyper::Result<()> {
    let mut length = 0_usize;
    while length < READ_MAX_BYTES
        && let Some(frame) = body.frame().await
    {
        if let Ok(piece) = frame?.into_data() {
            length += piece.len();
            keep(collected, &piece);
        }
    }
    Ok(())
}

fn keep(collected: &mut Vec<u8>, piece: &Bytes) {
    let room = EXCERPT_MAX_BYTES - collected.len();
    collected.extend_from_slice(&piece[..piece.len().min(room)]);
}

/// Converts bytes to text: invalid UTF-8 is replaced, line breaks become blanks, other control characters are removed.
fn excerpt(collected: &[u8]) -> String {
    let mut text = String::with_capacity(collected.len());
    let mut chunks = collected.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        text.extend(chunk.valid().chars().filter_map(printable));
        let was_cut = collected.len() == EXCERPT_MAX_BYTES && chunks.peek().is_none();
        if !chunk.invalid().is_empty() && !was_cut {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    text
}

fn printable(c: char) -> Option<char> {
    match c {
        '\n' | '\r' | '\t' => Some(' '),
        c => (!c.is_control()).then_some(c),
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("120", Some(RetryAfter::In(Duration::from_secs(120))))]
    #[case(" 0 ", Some(RetryAfter::In(Duration::ZERO)))]
    #[case("99999999999999999999", Some(RetryAfter::In(Duration::from_secs(4_294_967_295))))]
    #[case("Fri, 20 Nov 2026 16:51:00 GMT", Some(RetryAfter::At(Timestamp::from_ms(1_795_193_460_000))))]
    #[case("Friday, 20-Nov-26 16:51:00 GMT", Some(RetryAfter::At(Timestamp::from_ms(1_795_193_460_000))))]
    #[case("Fri Nov 20 16:51:00 2026", Some(RetryAfter::At(Timestamp::from_ms(1_795_193_460_000))))]
    #[case("-5", None)]
    #[case("soon", None)]
    #[case("", None)]
    fn retry_after_is_read(#[case] text: &'static str, #[case] expected: Option<RetryAfter>) {
        let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static(text))]);
        assert_eq!(RetryAfter::of(&headers), expected);
    }

    #[test]
    fn a_retry_time_in_the_past_means_no_wait() {
        let at = RetryAfter::At(Timestamp::from_ms(5_000));
        assert_eq!(at.wait(Timestamp::from_ms(2_000)), Duration::from_secs(3));
        assert_eq!(at.wait(Timestamp::from_ms(6_000)), Duration::ZERO);
    }

    #[rstest]
    #[case(b"all well", "all well")]
    #[case(b"a\r\nb\tc\x1b[31m\0", "a  b c[31m")]
    #[case(b"caf\xc3\xa9 \xff!", "café \u{fffd}!")]
    fn an_excerpt_is_plain_text(#[case] body: &[u8], #[case] expected: &str) {
        assert_eq!(excerpt(body), expected);
    }

    #[test]
    fn a_character_cut_in_two_is_left_out() {
        let mut body = Vec::new();
        keep(&mut body, &Bytes::from(format!("{}é", "x".repeat(1_023))));
        keep(&mut body, &Bytes::from_static(b"more"));
        assert_eq!(excerpt(&body), "x".repeat(1_023));
    }
}
