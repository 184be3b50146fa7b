//! The facts about an HTTP answer that conditions may ask for.
//!
//! The body is decoded only when it was kept, and read as JSON only when a condition asks for it. It is never held
//! twice: a mebibyte of a stranger's bytes stays one.

use std::borrow::Cow;

use http::{HeaderMap, Version};
use tokio::time::{Instant, timeout_at};

use crate::model::check::{ErrorCode, Micros, Trouble};
use crate::probe::fact::{Fact, Facts};
use crate::probe::http::answer::Answer;
use crate::probe::http::coding::{Bounds, Coded, decode};
use crate::probe::http::redirect::Trail;
use crate::probe::judgement::milliseconds;
use crate::probe::stop::Stop;

/// The memory and the time that decoding may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decoding<'a> {
    /// Memory.
    pub(super) bounds: Bounds<'a>,
    /// Time.
    pub(super) deadline: Instant,
}

/// An answer as conditions see it.
pub(super) struct HttpFacts<'a> {
    response_time: Micros,
    status: u16,
    version: Version,
    headers: HeaderMap,
    content_length: Option<u64>,
    body: String,
    /// True when the body was UTF-8 as it came.
    is_unicode: bool,
    trail: &'a Trail<'a>,
}

impl<'a> HttpFacts<'a> {
    /// Decodes the body, if there is one, until `deadline`. An answer that came in time but was not decoded in time
    /// is our own delay.
    pub(super) async fn of(
        answer: Answer,
        trail: &'a Trail<'a>,
        response_time: Micros,
        decoding: Decoding<'_>,
    ) -> Result<Self, Stop> {
        let content_length = answer.content_length();
        let is_cut = answer.body.is_cut || answer.body.kept.len() < answer.body.length;
        let coded = Coded { body: answer.body.kept, headers: &answer.headers, is_cut };
        let body = timeout_at(decoding.deadline, decode(coded, decoding.bounds))
            .await
            .map_err(|_elapsed| Stop::Trouble(Trouble::Overrun))?
            .map_err(|refusal| Stop::failed(ErrorCode::HttpProtocol, refusal.to_string()))?;
        let (body, is_unicode) = match String::from_utf8(body) {
            Ok(text) => (text, true),
            Err(error) => (readable(error.into_bytes()), false),
        };
        Ok(Self {
            response_time,
            status: answer.status.as_u16(),
            version: answer.version,
            headers: answer.headers,
            content_length,
            body,
            is_unicode,
            trail,
        })
    }
}

/// The text of a body in an unknown encoding: every byte that is not UTF-8 becomes a question mark, in its place.
fn readable(mut body: Vec<u8>) -> String {
    let mut at = 0;
    while let Err(error) = std::str::from_utf8(&body[at..]) {
        let start = at + error.valid_up_to();
        at = error.error_len().map_or(body.len(), |length| start + length);
        body[start..at].fill(b'?');
    }
    String::from_utf8(body).unwrap_or_default()
}

impl Facts for HttpFacts<'_> {
    fn number(&self, fact: Fact) -> Option<f64> {
        match fact {
            Fact::ResponseTimeMs => Some(milliseconds(self.response_time)),
            Fact::StatusCode => Some(f64::from(self.status)),
            Fact::RedirectsFollowed => u32::try_from(self.trail.redirects()).ok().map(f64::from),
            // An announced length beyond 4 GiB is as good as 4 GiB for every comparison that makes sense.
            Fact::ContentLength => {
                self.content_length.map(|length| f64::from(u32::try_from(length).unwrap_or(u32::MAX)))
            }
            _ => None,
        }
    }

    fn text(&self, fact: Fact) -> Option<Cow<'_, str>> {
        match fact {
            Fact::Body => Some(Cow::Borrowed(&self.body)),
            Fact::Protocol => Some(Cow::Borrowed(match self.version {
                Version::HTTP_2 => "HTTP/2",
                Version::HTTP_10 => "HTTP/1.0",
                _ => "HTTP/1.1",
            })),
            Fact::FinalUrl => Some(Cow::Borrowed(self.trail.hop.url.as_str())),
            _ => None,
        }
    }

    fn json(&self) -> Option<&str> {
        self.is_unicode.then_some(self.body.as_str())
    }

    fn headers(&self) -> Option<&HeaderMap> {
        Some(&self.headers)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(b"caf\xe9 au lait", "caf? au lait")]
    #[case(b"\xff\xfe\xfd", "???")]
    #[case("ä€ cut: ".as_bytes(), "ä€ cut: ")]
    #[case(b"cut: \xe2\x82", "cut: ??")]
    fn a_body_in_another_encoding_is_readable_where_it_is_ascii(#[case] body: &[u8], #[case] text: &str) {
        assert_eq!(readable(body.to_vec()), text);
    }
}
