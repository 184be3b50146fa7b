//! What conditions may ask about an HTTP answer.
//!
//! The body is decoded only when it was kept, and read as JSON only when a condition asks for it.

use std::borrow::Cow;
use std::cell::OnceCell;

use http::{HeaderMap, Version};
use serde_json::Value;

use crate::model::check::{ErrorCode, Micros};
use crate::probe::fact::{Fact, Facts};
use crate::probe::http::answer::Answer;
use crate::probe::http::coding::decode;
use crate::probe::http::redirect::Trail;
use crate::probe::judgement::milliseconds;
use crate::probe::stop::Stop;

/// An answer as conditions see it.
pub(super) struct HttpFacts<'a> {
    response_time: Micros,
    status: u16,
    version: Version,
    headers: HeaderMap,
    content_length: Option<u64>,
    body: Vec<u8>,
    json: OnceCell<Option<Value>>,
    trail: &'a Trail<'a>,
}

impl<'a> HttpFacts<'a> {
    /// Decodes the body, if there is one.
    pub(super) fn new(
        answer: Answer,
        trail: &'a Trail<'a>,
        response_time: Micros,
        max_bytes: usize,
    ) -> Result<Self, Stop> {
        let content_length = answer.content_length();
        let body = decode(answer.body.kept, &answer.headers, answer.body.is_cut, max_bytes)
            .map_err(|_| Stop::failed(ErrorCode::HttpProtocol, "The body cannot be decoded"))?;
        Ok(Self {
            response_time,
            status: answer.status.as_u16(),
            version: answer.version,
            headers: answer.headers,
            content_length,
            body,
            json: OnceCell::new(),
            trail,
        })
    }
}

impl Facts for HttpFacts<'_> {
    fn number(&self, fact: Fact) -> Option<f64> {
        match fact {
            Fact::ResponseTimeMs => Some(milliseconds(self.response_time)),
            Fact::StatusCode => Some(f64::from(self.status)),
            Fact::RedirectsFollowed => u32::try_from(self.trail.redirects()).ok().map(f64::from),
            // An announced length beyond 4 GiB is as good as 4 GiB for every comparison that makes sense.
            Fact::ContentLength => self
                .content_length
                .map(|length| f64::from(u32::try_from(length).unwrap_or(u32::MAX))),
            _ => None,
        }
    }

    fn text(&self, fact: Fact) -> Option<Cow<'_, str>> {
        match fact {
            Fact::Body => Some(String::from_utf8_lossy(&self.body)),
            Fact::Protocol => Some(Cow::Borrowed(match self.version {
                Version::HTTP_2 => "HTTP/2",
                Version::HTTP_10 => "HTTP/1.0",
                _ => "HTTP/1.1",
            })),
            Fact::FinalUrl => Some(Cow::Borrowed(self.trail.hop.url.as_str())),
            _ => None,
        }
    }

    fn json(&self) -> Option<&Value> {
        let parse = || serde_json::from_slice(&self.body).ok();
        self.json.get_or_init(parse).as_ref()
    }

    fn headers(&self) -> Option<&HeaderMap> {
        Some(&self.headers)
    }
}
