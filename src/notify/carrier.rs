//! Sends one message to one channel, once, and reports the result.
//!
//! The receiver's answer is stored for users, truncated and with the channel's secrets masked, because receivers may
//! repeat them.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method};
use tokio::time::timeout;

use crate::clock::{Clock, Timestamp};
use crate::config::limits::MailLimits;
use crate::egress::outbound::{
    EXCERPT_MAX_BYTES, ExchangeFailure, OutboundClient, OutboundRequest, OutboundResponse, OutboundUrl,
    TimeoutStage,
};
use crate::model::notification::delivery::{DETAIL_LENGTH, DeliveryOutcome, FaultOwner, LONGEST_WAIT_MS};
use crate::notify::composer::{ComposeFailure, MessageComposer};
use crate::notify::kinds::{
    ChannelDefinition, ChannelReply, MessageEnvelope, OutgoingDelivery, OutgoingMail, OutgoingRequest,
    ReplyMeaning,
};
use crate::notify::mail::{MailFailed, deliver};
use crate::notify::mask::masked;
use crate::notify::template::TemplateError;

/// Time limit of a request, and of an attempt that a caller waits for; mails have `MailLimits`.
const DEADLINE: Duration = Duration::from_secs(10);
/// The detail of a mail whose final answer was lost.
const UNCONFIRMED: &str = "The mail was sent, but the server's answer to it was lost: it may have been taken";

/// Sends messages over HTTP and SMTP.
#[derive(Clone, Debug)]
pub struct MessageSender {
    /// HTTP client behind the egress gate.
    pub outbound: OutboundClient,
    /// The clock for the times given by `Retry-After`.
    pub clock: Clock,
    /// Turns messages into requests and mails.
    pub composer: MessageComposer,
    /// Time limits of conversations with mail servers.
    pub mail: MailLimits,
}

/// The result of sending one message once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendReport {
    /// The outcome for the message.
    pub outcome: DeliveryOutcome,
    /// The status code of the answer; `None` without one.
    pub status_code: Option<u16>,
    /// The answer, or the error, without secrets; at most [`DETAIL_LENGTH`] characters.
    pub detail: String,
    /// The time before which the receiver asks not to be sent further messages.
    pub retry_after: Option<Timestamp>,
    /// The scope of a failure: channel, recipient or message.
    pub owner: FaultOwner,
    /// The reason why the channel's template could not be filled; the facts were sent as JSON instead.
    pub template_flaw: Option<String>,
}

impl MessageSender {
    /// Creates the message's request and sends it.
    pub async fn carry(
        &self,
        definition: &'static ChannelDefinition,
        envelope: &MessageEnvelope<'_>,
    ) -> SendReport {
        let mut carried = match self.composer.compose(definition, envelope).await {
            Ok(OutgoingDelivery::Request(request)) => self.request(definition, request).await,
            Ok(OutgoingDelivery::Facts { request, flaw }) => {
                self.request(definition, request).await.instead_of_template(&flaw)
            }
            Ok(OutgoingDelivery::Mail(mail)) => self.mail(&mail).await,
            Err(failure) => SendReport::not_composed(&failure),
        };
        // An excerpt has no control characters, so a truncated one may be shorter than the limit.
        let was_cut = carried.detail.len() >= EXCERPT_MAX_BYTES / 2;
        let secrets = envelope.settings.secrets(definition.fields);
        carried.detail = shortened(&masked(carried.detail, &secrets, was_cut));
        carried
    }

    /// Sends the message for a caller that waits for the result: it takes at most ten seconds, also for a mail.
    pub async fn carry_now(
        &self,
        definition: &'static ChannelDefinition,
        envelope: &MessageEnvelope<'_>,
    ) -> SendReport {
        let carried = timeout(DEADLINE, self.carry(definition, envelope)).await;
        let elapsed = ExchangeFailure::Timeout(TimeoutStage::Answering);
        carried.unwrap_or_else(|_elapsed| SendReport::failed(FaultOwner::Channel, elapsed))
    }

    /// Sends a mail over a connection of its own.
    pub async fn mail(&self, mail: &OutgoingMail) -> SendReport {
        SendReport::of_mail(deliver(&self.outbound, mail, &self.mail).await)
    }

    async fn request(&self, definition: &ChannelDefinition, outgoing: OutgoingRequest) -> SendReport {
        let Some(request) = to_request(outgoing) else {
            return SendReport::refused("The settings make no request that can be sent".into());
        };
        match self.outbound.send(request).await {
            Ok(answer) => self.judged(definition, &answer),
            Err(failed) => SendReport::failed(FaultOwner::Channel, failed),
        }
    }

    fn judged(&self, definition: &ChannelDefinition, answer: &OutboundResponse) -> SendReport {
        let reply = ChannelReply { status: answer.status, body: &answer.excerpt };
        let meaning = (definition.judge)(&reply);
        let outcome = match meaning {
            ReplyMeaning::Taken => DeliveryOutcome::Delivered,
            ReplyMeaning::Later | ReplyMeaning::After(_) => DeliveryOutcome::Failed,
            ReplyMeaning::Never => DeliveryOutcome::Refused,
        };
        let now = self.clock.now();
        let in_header = answer.retry_after.map(|asked| asked.wait(now));
        let in_body = if let ReplyMeaning::After(wait) = meaning { Some(wait) } else { None };
        let asked = in_header.max(in_body);
        SendReport {
            outcome,
            status_code: Some(answer.status),
            detail: answer.excerpt.clone(),
            retry_after: asked.map(|wait| now.plus_ms(wait_ms(wait))),
            owner: if asked.is_some() { FaultOwner::Channel } else { owner_of(answer.status) },
            template_flaw: None,
        }
    }
}

/// Returns the scope of a refusing answer. Missing permission, rate limits, a wrong address and a gateway without a backend
/// concern the whole channel, whatever the message.
const fn owner_of(status: u16) -> FaultOwner {
    match status {
        401 | 403 | 404 | 408 | 429 | 502..=504 | 520..=530 => FaultOwner::Channel,
        _ => FaultOwner::Message,
    }
}

/// Returns the wait in milliseconds, at most `LONGEST_WAIT_MS`.
fn wait_ms(wait: Duration) -> i64 {
    i64::try_from(wait.as_millis()).map_or(LONGEST_WAIT_MS, |asked| asked.min(LONGEST_WAIT_MS))
}

impl SendReport {
    /// The result of an attempt that sent nothing and need not be repeated.
    #[must_use]
    pub fn given_up(detail: &str) -> Self {
        Self::refused(detail.to_owned())
    }

    /// The result of a conversation with a mail server; `Ok` holds the answer of the server.
    #[must_use]
    pub fn of_mail(result: Result<String, MailFailed>) -> Self {
        let (outcome, status_code, detail, owner) = match result {
            Ok(detail) => (DeliveryOutcome::Delivered, Some(250), detail, FaultOwner::Message),
            Err(MailFailed::Lost { owner, failed }) => return Self::failed(owner, failed),
            Err(MailFailed::Unconfirmed) => {
                (DeliveryOutcome::Unconfirmed, None, UNCONFIRMED.to_owned(), FaultOwner::Message)
            }
            Err(MailFailed::Answer { owner, status_code, detail, is_final }) => {
                let outcome = if is_final { DeliveryOutcome::Refused } else { DeliveryOutcome::Failed };
                (outcome, status_code, detail, owner)
            }
        };
        Self { outcome, status_code, detail, retry_after: None, owner, template_flaw: None }
    }

    fn refused(detail: String) -> Self {
        let owner = FaultOwner::Message;
        let (status_code, retry_after, template_flaw) = (None, None, None);
        Self { outcome: DeliveryOutcome::Refused, status_code, detail, retry_after, owner, template_flaw }
    }

    /// The result for a message that cannot be composed: wrong settings are final, a defect of this program may be
    /// temporary.
    fn not_composed(failure: &ComposeFailure) -> Self {
        let refused = Self::refused(failure.to_string());
        match failure {
            ComposeFailure::Settings(_) => refused,
            ComposeFailure::Broken => {
                Self { outcome: DeliveryOutcome::Failed, owner: FaultOwner::Sender, ..refused }
            }
        }
    }

    /// The result of sending the facts because the template cannot be filled.
    fn instead_of_template(self, flaw: &TemplateError) -> Self {
        let detail = format!("Sent as JSON, since the template cannot be filled ({flaw}). {}", self.detail);
        Self { detail, template_flaw: Some(flaw.to_string()), ..self }
    }

    fn failed(owner: FaultOwner, failed: ExchangeFailure) -> Self {
        let never = matches!(failed, ExchangeFailure::Blocked(_) | ExchangeFailure::Unsendable(_));
        let outcome = if never { DeliveryOutcome::Refused } else { DeliveryOutcome::Failed };
        let owner = if matches!(failed, ExchangeFailure::Ours(_)) { FaultOwner::Sender } else { owner };
        let (status_code, retry_after, template_flaw) = (None, None, None);
        Self { outcome, status_code, detail: failed.to_string(), retry_after, owner, template_flaw }
    }
}

fn to_request(outgoing: OutgoingRequest) -> Option<OutboundRequest> {
    let mut headers = Vec::with_capacity(outgoing.headers.len());
    for (name, value) in &outgoing.headers {
        let mut value = HeaderValue::from_str(value).ok()?;
        value.set_sensitive(true);
        headers.push((HeaderName::from_bytes(name.as_bytes()).ok()?, value));
    }
    Some(OutboundRequest {
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

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(400, FaultOwner::Message)]
    #[case(401, FaultOwner::Channel)]
    #[case(404, FaultOwner::Channel)]
    #[case(409, FaultOwner::Message)]
    #[case(429, FaultOwner::Channel)]
    #[case(500, FaultOwner::Message)]
    #[case(503, FaultOwner::Channel)]
    #[case(524, FaultOwner::Channel)]
    fn a_response_applies_to_the_message_or_the_channel(#[case] status: u16, #[case] owner: FaultOwner) {
        assert_eq!(owner_of(status), owner);
    }

    #[rstest]
    #[case(Duration::from_secs(30), 30_000)]
    #[case(Duration::from_secs(901), 900_000)]
    #[case(Duration::MAX, 900_000)]
    fn a_requested_wait_is_at_most_a_quarter_of_an_hour(#[case] asked: Duration, #[case] ms: i64) {
        assert_eq!(wait_ms(asked), ms);
    }
}
