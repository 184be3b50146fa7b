//! The facts about an HTTP response that conditions may test.
//!
//! The body is present only when a condition needs it.

use std::borrow::Cow;

use http::{HeaderMap, Version};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use crate::model::check::{LocalFault, Micros};
use crate::probe::abort::ProbeAbort;
use crate::probe::fact::{Fact, FactSource, JsonDocument, TextPresence};
use crate::probe::http::answer::HttpCheckResponse;
use crate::probe::http::body_text::BodyText;
use crate::probe::http::redirect::RedirectTrail;
use crate::probe::judgement::milliseconds;

/// The settings for reading the body of a response.
#[derive(Clone, Copy, Debug)]
pub(super) struct BodyReadOptions<'a> {
    /// True when a condition tests a field of a JSON document.
    pub(super) is_json: bool,
    /// Permits for decoding with a window.
    pub(super) windows: &'a Semaphore,
    pub(super) deadline: Instant,
}

/// A response as the source of facts for conditions.
pub(super) struct HttpFacts<'a> {
    response_time: Micros,
    status: u16,
    version: Version,
    headers: HeaderMap,
    content_length: Option<u64>,
    received_bytes: usize,
    body: Option<BodyText>,
    trail: &'a RedirectTrail<'a>,
}

impl<'a> HttpFacts<'a> {
    /// Decodes the rest of the body, if it was kept, until the deadline. A response that arrived in time but was not decoded
    /// in time counts as a delay of this process.
    pub(super) async fn of(
        answer: HttpCheckResponse,
        trail: &'a RedirectTrail<'a>,
        response_time: Micros,
        reading: BodyReadOptions<'_>,
    ) -> Result<Self, ProbeAbort> {
        let content_length = answer.content_length();
        let body = match answer.body.reader {
            Some(reader) => {
                let decoding = reader.finish(answer.body.is_cut, reading.windows);
                let decoded = timeout_at(reading.deadline, decoding).await;
                let decoded = decoded.map_err(|_elapsed| ProbeAbort::Trouble(LocalFault::Overrun))??;
                Some(BodyText::new(decoded, &answer.headers, reading.is_json))
            }
            None => None,
        };
        Ok(Self {
            response_time,
            status: answer.status.as_u16(),
            version: answer.version,
            headers: answer.headers,
            content_length,
            received_bytes: answer.body.length,
            body,
            trail,
        })
    }
}

impl FactSource for HttpFacts<'_> {
    fn number(&self, fact: Fact) -> Option<f64> {
        match fact {
            Fact::ResponseTimeMs => Some(milliseconds(self.response_time)),
            Fact::StatusCode => Some(f64::from(self.status)),
            Fact::RedirectsFollowed => u32::try_from(self.trail.redirects()).ok().map(f64::from),
            // An announced length beyond 4 GiB is equivalent to 4 GiB for every sensible comparison.
            Fact::ContentLength => {
                self.content_length.map(|length| f64::from(u32::try_from(length).unwrap_or(u32::MAX)))
            }
            _ => None,
        }
    }

    fn text(&self, fact: Fact) -> Option<Cow<'_, str>> {
        match fact {
            Fact::Protocol => Some(Cow::Borrowed(match self.version {
                Version::HTTP_2 => "HTTP/2",
                Version::HTTP_10 => "HTTP/1.0",
                _ => "HTTP/1.1",
            })),
            Fact::FinalUrl => Some(Cow::Borrowed(self.trail.hop.url.as_str())),
            _ => None,
        }
    }

    fn at_least(&self, fact: Fact) -> Option<f64> {
        (fact == Fact::ContentLength)
            .then(|| f64::from(u32::try_from(self.received_bytes).unwrap_or(u32::MAX)))
    }

    fn search_body(&self, text: &str) -> Option<TextPresence> {
        self.body.as_ref().map(|body| body.search(text))
    }

    fn json(&self) -> Option<JsonDocument<'_>> {
        self.body.as_ref().map(BodyText::json)
    }

    fn headers(&self) -> Option<&HeaderMap> {
        Some(&self.headers)
    }
}
