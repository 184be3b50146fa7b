//! Questions and answers over the bus, without JetStream: an answer is waited for, or there is none.

use async_nats::{Client, Message, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt as _;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bus::connection::{Connection, nats};
use crate::bus::messages::enrolment::Answer;
use crate::bus::subjects::Subject;

/// The engine nodes, one of which gets each question.
pub(super) const ENGINE: &str = "engine";

/// Questions of machines that want to become locations.
pub const ENROLMENTS: &str = "wk.enrol.*";
/// Questions of locations for a token for a further while.
pub const RENEWALS: &str = "wk.renew.*";

/// Questions of one kind, as they come. Of all engine nodes that listen, each question comes to one.
#[derive(Debug)]
pub struct Questions {
    client: Client,
    messages: Subscriber,
}

/// A question.
#[derive(Debug)]
pub struct Question {
    /// Who asks what.
    pub subject: Subject,
    /// The question.
    pub payload: Bytes,
    client: Client,
    message: Message,
}

/// A question without an answer, in one line.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    /// Nobody answered in time, or the connection is lost.
    #[error("nobody answers: {0}")]
    Nobody(String),
    /// The answer cannot be read.
    #[error("the answer cannot be read")]
    Form,
    /// The answer is no, with the reason.
    #[error("{0}")]
    Refused(String),
}

impl Questions {
    /// Listens to these subjects.
    ///
    /// # Errors
    /// The connection is closed.
    pub async fn listen(engine: &Connection, subjects: impl Into<String>) -> Result<Self, String> {
        let client = engine.client().clone();
        let messages = client.queue_subscribe(subjects.into(), ENGINE.into()).await;
        Ok(Self { client, messages: messages.map_err(|error| error.to_string())? })
    }

    /// The next question that can be answered; `None` when the connection is closed.
    pub async fn next(&mut self) -> Option<Question> {
        loop {
            let message = self.messages.next().await?;
            let Ok(subject) = message.subject.parse() else { continue };
            if message.reply.is_none() {
                continue;
            }
            let (client, payload) = (self.client.clone(), message.payload.clone());
            return Some(Question { subject, payload, client, message });
        }
    }
}

impl Question {
    /// Answers it. An answer that cannot be sent is not waited for: whoever asks again gets another.
    pub async fn answer<T: Serialize>(&self, answer: &Answer<T>) {
        let Some(reply) = self.message.reply.clone() else { return };
        // What is answered has no form that is not JSON.
        let text = serde_json::to_vec(answer).unwrap_or_default();
        if let Err(error) = self.client.publish(reply, text.into()).await {
            tracing::warn!(%error, "an answer cannot be sent");
        }
    }
}

/// Asks, and waits for the answer.
///
/// # Errors
/// [`Unanswered`].
pub async fn ask<T: DeserializeOwned>(
    connection: &Connection,
    subject: &Subject,
    question: &impl Serialize,
) -> Result<T, Unanswered> {
    let text = serde_json::to_vec(question).map_err(|_| Unanswered::Form)?;
    let answer = connection.client().request(nats(subject), text.into()).await;
    let answer = answer.map_err(|error| Unanswered::Nobody(error.to_string()))?;
    match serde_json::from_slice(&answer.payload).map_err(|_| Unanswered::Form)? {
        Answer::Granted(granted) => Ok(granted),
        Answer::Refused(reason) => Err(Unanswered::Refused(reason)),
    }
}
