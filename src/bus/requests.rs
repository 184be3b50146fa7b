//! Requests and answers over the bus, without JetStream: the sender waits for an answer, or gets an error.

use async_nats::{Client, Message, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt as _;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bus::connection::{BusConnection, nats};
use crate::bus::messages::enrolment::BusReply;
use crate::bus::subjects::BusSubject;

/// The queue group of the engine nodes, one of which gets each request.
pub(super) const ENGINE: &str = "engine";

/// Requests of machines that want to become locations.
pub const ENROLMENTS: &str = "wk.enrol.*";
/// Requests of locations for a renewed token.
pub const RENEWALS: &str = "wk.renew.*";

/// The stream of requests of one kind. Each request goes to one of the subscribed engine nodes.
#[derive(Debug)]
pub struct RequestSubscription {
    client: Client,
    messages: Subscriber,
}

/// A received request that waits for an answer.
#[derive(Debug)]
pub struct BusRequest {
    /// Sender and kind of the request.
    pub subject: BusSubject,
    /// The content of the request.
    pub payload: Bytes,
    client: Client,
    message: Message,
}

/// A request that was not answered or was refused, as one line.
#[derive(Debug, thiserror::Error)]
pub enum BusRequestError {
    /// No answer in time, or the connection is lost.
    #[error("no answer: {0}")]
    Nobody(String),
    /// The answer cannot be read.
    #[error("the answer cannot be read")]
    Form,
    /// The request was refused, with the reason.
    #[error("{0}")]
    Refused(String),
}

impl RequestSubscription {
    /// Subscribes to these subjects.
    pub async fn listen(engine: &BusConnection, subjects: impl Into<String>) -> Result<Self, String> {
        let client = engine.client().clone();
        let messages = client.queue_subscribe(subjects.into(), ENGINE.into()).await;
        Ok(Self { client, messages: messages.map_err(|error| error.to_string())? })
    }

    /// Returns the next request that can be answered; `None` when the connection is closed.
    pub async fn next(&mut self) -> Option<BusRequest> {
        loop {
            let message = self.messages.next().await?;
            let Ok(subject) = message.subject.parse() else { continue };
            if message.reply.is_none() {
                continue;
            }
            let (client, payload) = (self.client.clone(), message.payload.clone());
            return Some(BusRequest { subject, payload, client, message });
        }
    }
}

impl BusRequest {
    /// Sends the answer. A failure is ignored: the sender will ask again.
    pub async fn answer<T: Serialize>(&self, answer: &BusReply<T>) {
        let Some(reply) = self.message.reply.clone() else { return };
        // Every answer can be written as JSON.
        let text = serde_json::to_vec(answer).unwrap_or_default();
        if let Err(error) = self.client.publish(reply, text.into()).await {
            tracing::warn!(%error, "cannot send a reply");
        }
    }
}

/// Sends a request, and waits for the answer.
pub async fn ask<T: DeserializeOwned>(
    connection: &BusConnection,
    subject: &BusSubject,
    question: &impl Serialize,
) -> Result<T, BusRequestError> {
    let text = serde_json::to_vec(question).map_err(|_| BusRequestError::Form)?;
    let answer = connection.client().request(nats(subject), text.into()).await;
    let answer = answer.map_err(|error| BusRequestError::Nobody(error.to_string()))?;
    match serde_json::from_slice(&answer.payload).map_err(|_| BusRequestError::Form)? {
        BusReply::Granted(granted) => Ok(granted),
        BusReply::Refused(reason) => Err(BusRequestError::Refused(reason)),
    }
}
