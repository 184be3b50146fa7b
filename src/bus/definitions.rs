//! The way of definitions to a location: the engine delivers, the location only listens.
//!
//! A location may not make a consumer: JetStream would deliver wherever the consumer says, also into other locations'
//! subjects or over a lease. So the location asks ([`Following::ask`]), and an engine node makes the consumer ([`deliver`]), which
//! begins with the newest version of every definition and goes on with each change. Messages are numbered without gaps;
//! after a gap or silence the location asks anew, and the delivery begins again.

use std::time::Duration;

use async_nats::jetstream::Context;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, ReplayPolicy, push};
use async_nats::jetstream::message::Message as JetStreamMessage;
use async_nats::{StatusCode, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt as _;
use tokio::time::timeout;

use crate::bus::connection::{Connection, nats};
use crate::bus::subjects::{self, DEFINITIONS, Subject, token};
use crate::id::Id;
use crate::model::location::LocationCode;

/// A delivery says at least this often that it is alive.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// After this silence a delivery counts as lost.
const SILENCE: Duration = Duration::from_secs(16);

/// Header with which a bucket marks what was deleted.
const OPERATION: &str = "KV-Operation";

/// A change of one definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionChange {
    /// Partition of the service.
    pub partition: u8,
    /// The service.
    pub service: Id,
    /// Version: position in the bucket, which only grows.
    pub revision: u64,
    /// The definition as it was stored; `None` = it was taken away.
    pub definition: Option<Bytes>,
    /// More changes that are under way already; 0 = this location knows everything.
    pub pending: u64,
}

/// What comes next in a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// A definition.
    Change(DefinitionChange),
    /// Something is missing, or nothing has come for too long: ask anew.
    Lost,
    /// A message that is no definition, which somebody else has sent here; counted by the caller.
    Foreign,
}

/// Makes the delivery to a location, or begins it anew. For engine nodes, when they are asked for it.
///
/// # Errors
/// What JetStream says.
pub async fn deliver(jetstream: &Context, location: &LocationCode) -> Result<(), String> {
    let stream = subjects::stream_of(DEFINITIONS);
    let name = format!("location_{}", token(location));
    // One that is not there needs no deleting.
    let _ = jetstream.delete_consumer_from_stream(&name, &stream).await;
    let config = push::Config {
        durable_name: Some(name),
        deliver_subject: Subject::Delivery(location.clone()).to_string(),
        deliver_policy: DeliverPolicy::LastPerSubject,
        ack_policy: AckPolicy::None,
        replay_policy: ReplayPolicy::Instant,
        filter_subject: subjects::definitions_of(location),
        idle_heartbeat: HEARTBEAT,
        max_deliver: 1,
        ..push::Config::default()
    };
    let made = jetstream.create_consumer_on_stream(config, stream).await;
    made.map(|_| ()).map_err(|error| error.to_string())
}

/// The end of a delivery at a location.
#[derive(Debug)]
pub struct Following {
    connection: Connection,
    location: LocationCode,
    messages: Subscriber,
    /// Number of the message that came last in this delivery; 0 = none yet.
    number: u64,
}

impl Following {
    /// Listens, without having asked.
    ///
    /// # Errors
    /// The connection is closed.
    pub async fn listen(connection: &Connection, location: &LocationCode) -> Result<Self, String> {
        let subject = nats(&Subject::Delivery(location.clone()));
        let messages = connection.client().subscribe(subject).await.map_err(|error| error.to_string())?;
        Ok(Self { connection: connection.clone(), location: location.clone(), messages, number: 0 })
    }

    /// Asks an engine node for everything from the start.
    ///
    /// # Errors
    /// No engine node answers.
    pub async fn ask(&mut self) -> Result<(), String> {
        let subject = nats(&Subject::Follow(self.location.clone()));
        self.number = 0;
        let answer = self.connection.client().request(subject, Bytes::new()).await;
        answer.map(|_| ()).map_err(|error| error.to_string())
    }

    /// Waits for what comes next; `None` when the connection is closed.
    pub async fn next(&mut self) -> Option<Next> {
        loop {
            let Ok(message) = timeout(SILENCE, self.messages.next()).await else { return Some(Next::Lost) };
            let message = message?;
            if message.status == Some(StatusCode::IDLE_HEARTBEAT) {
                continue;
            }
            let context = self.connection.jetstream().clone();
            let message = JetStreamMessage { message, context };
            let Some((number, change)) = read(&message, &self.location) else { return Some(Next::Foreign) };
            // A first number begins a delivery that was asked for.
            let follows = number == self.number + 1;
            let begins = number == 1;
            if !follows && !begins {
                return Some(Next::Lost);
            }
            self.number = number;
            return Some(Next::Change(change));
        }
    }
}

/// The number of a message in its delivery, and the change in it; `None` = it is no definition of this location.
fn read(message: &JetStreamMessage, location: &LocationCode) -> Option<(u64, DefinitionChange)> {
    let info = message.info().ok()?;
    let subject: Subject = message.subject.as_str().parse().ok()?;
    let Subject::Definition { location: owner, partition, service } = subject else { return None };
    if owner != *location || info.stream != subjects::stream_of(DEFINITIONS) {
        return None;
    }
    let is_gone = message.headers.as_ref().is_some_and(|headers| headers.get(OPERATION).is_some());
    let change = DefinitionChange {
        partition,
        service,
        revision: info.stream_sequence,
        definition: (!is_gone).then(|| message.payload.clone()),
        pending: info.pending,
    };
    Some((info.consumer_sequence, change))
}
