//! Carries one message to one channel, once, and says what came of it.
//!
//! What came back is kept for people, cut short and without the channel's secrets, wherever the other side repeats them.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method};
use tokio::time::timeout;

use crate::clock::{Clock, Timestamp};
use crate::egress::outbound::{Answer, EXCERPT_MAX_BYTES, Failed, Outbound, OutboundUrl, Request, Stage};
use crate::model::notification::delivery::{DETAIL_LENGTH, TryOutcome};
use crate::notify::composer::{ComposeFailure, MessageComposer};
use crate::notify::kinds::{Definition, Envelope, Meaning, Outgoing, OutgoingMail, OutgoingRequest, Reply};
use crate::notify::mail::{MailFailed, deliver};
use crate::notify::mask::masked;
use crate::notify::template::TemplateError;

/// The time that one try may take.
pub const DEADLINE: Duration = Duration::from_secs(10);
/// The way out, for messages.
#[derive(Clone, Debug)]
pub struct Carrier {
    /// The HTTP client.
    pub outbound: Outbound,
    /// For the times that other sides ask to wait until.
    pub clock: Clock,
    /// Makes the requests.
    pub composer: MessageComposer,
}

/// What came of a try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// What it means for the message.
    pub outcome: TryOutcome,
    /// The status of the answer; `None` when none came.
    pub status_code: Option<u16>,
    /// What came back, or what went wrong, without secrets; [`DETAIL_LENGTH`] characters at most.
    pub detail: String,
    /// The time before which the other side wants no more.
    pub retry_after: Option<Timestamp>,
    /// True if the fault is this machine's, and says nothing about the channel.
    pub is_ours: bool,
    /// Why the template of the channel could not be filled, so that the facts went out in its place.
    pub template_flaw: Option<String>,
}

impl Carrier {
    /// Makes the message's request and sends it.
    pub async fn carry(&self, definition: &'static Definition, envelope: &Envelope<'_>) -> Carried {
        let mut carried = match self.composer.compose(definition, envelope).await {
            Ok(Outgoing::Request(request)) => self.request(definition, request).await,
            Ok(Outgoing::Facts { request, flaw }) => {
                self.request(definition, request).await.instead_of_template(&flaw)
            }
            Ok(Outgoing::Mail(mail)) => self.mail(&mail).await,
            Err(failure) => Carried::not_composed(&failure),
        };
        // What cannot be shown is not in an excerpt, so one that was cut may be shorter than the limit.
        let was_cut = carried.detail.len() >= EXCERPT_MAX_BYTES / 2;
        let secrets = envelope.settings.secrets(definition.fields);
        carried.detail = shortened(&masked(carried.detail, &secrets, was_cut));
        carried
    }

    async fn mail(&self, mail: &OutgoingMail) -> Carried {
        let failed = match timeout(DEADLINE, deliver(&self.outbound, mail)).await {
            Ok(Ok(detail)) => {
                let outcome = TryOutcome::Delivered;
                return Carried {
                    outcome,
                    status_code: Some(250),
                    detail,
                    retry_after: None,
                    is_ours: false,
                    template_flaw: None,
                };
            }
            Ok(Err(failed)) => failed,
            Err(_elapsed) => MailFailed::Way(Failed::Timeout(Stage::Answering)),
        };
        match failed {
            MailFailed::Way(failed) => Carried::failed(failed),
            MailFailed::Answer { status_code, detail, is_final } => Carried {
                outcome: if is_final { TryOutcome::Refused } else { TryOutcome::Failed },
                status_code,
                detail,
                retry_after: None,
                is_ours: false,
                template_flaw: None,
            },
        }
    }

    async fn request(&self, definition: &Definition, outgoing: OutgoingRequest) -> Carried {
        let Some(request) = to_request(outgoing) else {
            return Carried::refused("The settings make no request that can be sent".into());
        };
        match self.outbound.send(request).await {
            Ok(answer) => self.judged(definition, &answer),
            Err(failed) => Carried::failed(failed),
        }
    }

    fn judged(&self, definition: &Definition, answer: &Answer) -> Carried {
        let reply = Reply { status: answer.status, body: &answer.excerpt };
        let meaning = (definition.judge)(&reply);
        let outcome = match meaning {
            Meaning::Taken => TryOutcome::Delivered,
            Meaning::Later | Meaning::After(_) => TryOutcome::Failed,
            Meaning::Never => TryOutcome::Refused,
        };
        let now = self.clock.now();
        let wait_ms = |wait: Duration| i64::try_from(wait.as_millis()).unwrap_or(i64::MAX / 2);
        let in_header = answer.retry_after.map(|asked| asked.wait(now));
        let in_body = if let Meaning::After(wait) = meaning { Some(wait) } else { None };
        Carried {
            outcome,
            status_code: Some(answer.status),
            detail: answer.excerpt.clone(),
            retry_after: in_header.max(in_body).map(|wait| now.plus_ms(wait_ms(wait))),
            is_ours: false,
            template_flaw: None,
        }
    }
}

impl Carried {
    /// Nothing was sent, and trying again is useless.
    #[must_use]
    pub fn given_up(detail: &str) -> Self {
        Self::refused(detail.to_owned())
    }

    fn refused(detail: String) -> Self {
        Self {
            outcome: TryOutcome::Refused,
            status_code: None,
            detail,
            retry_after: None,
            is_ours: false,
            template_flaw: None,
        }
    }

    /// A message without a request: wrong settings stay wrong, a fault of this program may pass.
    fn not_composed(failure: &ComposeFailure) -> Self {
        let refused = Self::refused(failure.to_string());
        match failure {
            ComposeFailure::Settings(_) => refused,
            ComposeFailure::Broken => Self { outcome: TryOutcome::Failed, is_ours: true, ..refused },
        }
    }

    /// What came of sending the facts because the template cannot be filled.
    fn instead_of_template(self, flaw: &TemplateError) -> Self {
        let detail = format!("Sent as JSON, since the template cannot be filled ({flaw}). {}", self.detail);
        Self { detail, template_flaw: Some(flaw.to_string()), ..self }
    }

    fn failed(failed: Failed) -> Self {
        let never = matches!(failed, Failed::Blocked(_) | Failed::Unsendable(_));
        let outcome = if never { TryOutcome::Refused } else { TryOutcome::Failed };
        let is_ours = matches!(failed, Failed::Ours(_));
        Self {
            outcome,
            status_code: None,
            detail: failed.to_string(),
            retry_after: None,
            is_ours,
            template_flaw: None,
        }
    }
}

fn to_request(outgoing: OutgoingRequest) -> Option<Request> {
    let mut headers = Vec::with_capacity(outgoing.headers.len());
    for (name, value) in &outgoing.headers {
        let mut value = HeaderValue::from_str(value).ok()?;
        value.set_sensitive(true);
        headers.push((HeaderName::from_bytes(name.as_bytes()).ok()?, value));
    }
    Some(Request {
        method: Method::from_bytes(outgoing.method.as_bytes()).ok()?,
        url: OutboundUrl::parse(&outgoing.url).ok()?,
        headers,
        body: Bytes::from(outgoing.body),
        deadline: DEADLINE,
    })
}

fn shortened(text: &str) -> String {
    text.trim().chars().take(DETAIL_LENGTH).collect()
}
