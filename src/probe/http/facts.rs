//! The facts about an HTTP answer that conditions may ask for.
//!
//! The body is there only when it was kept. It is never held twice: a mebibyte of a stranger's bytes stays one.

use std::borrow::Cow;

use http::{HeaderMap, Version};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use crate::model::check::{Micros, Trouble};
use crate::probe::fact::{Fact, Facts, JsonDocument, TextPresence};
use crate::probe::http::answer::Answer;
use crate::probe::http::body_text::BodyText;
use crate::probe::http::redirect::Trail;
use crate::probe::judgement::milliseconds;
use crate::probe::stop::Stop;

/// How the body of an answer is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading<'a> {
    /// True when a condition asks for a field of a JSON document.
    pub(super) is_json: bool,
    /// Permits for decoding with a window.
    pub(super) windows: &'a Semaphore,
    /// The end of the time for it.
    pub(super) deadline: Instant,
}

/// An answer as conditions see it.
pub(super) struct HttpFacts<'a> {
    response_time: Micros,
    status: u16,
    version: Version,
    headers: HeaderMap,
    content_length: Option<u64>,
    received_bytes: usize,
    body: Option<BodyText>,
    trail: &'a Trail<'a>,
}

impl<'a> HttpFacts<'a> {
    /// Decodes what is left of the body, if it was kept, until the deadline. An answer that came in time but was not
    /// decoded in time is our own delay.
    pub(super) async fn of(
        answer: Answer,
        trail: &'a Trail<'a>,
        response_time: Micros,
        reading: Reading<'_>,
    ) -> Result<Self, Stop> {
        let content_length = answer.content_length();
        let body = match answer.body.reader {
            Some(reader) => {
                let decoding = reader.finish(answer.body.is_cut, reading.windows);
                let decoded = timeout_at(reading.deadline, decoding).await;
                let decoded = decoded.map_err(|_elapsed| Stop::Trouble(Trouble::Overrun))??;
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
