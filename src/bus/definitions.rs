//! The delivery of definitions to a location: the engine delivers, the location only subscribes.
//!
//! A location may not create a consumer: JetStream would deliver wherever the consumer says, also into other locations'
//! subjects or over a lease. So the location sends a request ([`DefinitionSubscription::ask`]), and an engine node
//! creates the consumer ([`answer`]), which starts with the newest version of every definition and continues with each
//! change. Messages are numbered without gaps; after a gap or silence the location requests again, and the delivery restarts.

use std::time::Duration;

use async_nats::jetstream::Context;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, ReplayPolicy, push};
use async_nats::jetstream::message::Message as JetStreamMessage;
use async_nats::{Message, StatusCode, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt as _;
use tokio::time::timeout;

use crate::bus::connection::{BusConnection, nats};
use crate::bus::requests::ENGINE;
use crate::bus::subjects::{self, BusSubject, DEFINITIONS, token};
use crate::id::Id;
use crate::model::location::LocationCode;
use crate::model::partition::Partition;

/// Longest time between two heartbeats of a delivery.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// After this silence a delivery counts as lost.
const SILENCE: Duration = Duration::from_secs(16);

/// A delivery without a subscriber for this long is deleted; its location will request it again.
const FORGOTTEN: Duration = Duration::from_secs(300);

/// Header of a heartbeat: the number of the last delivered message.
const LAST_DELIVERED: &str = "Nats-Last-Consumer";
/// Header with which a bucket marks deleted entries.
pub(super) const OPERATION: &str = "KV-Operation";

/// A change of one definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionChange {
    /// Partition of the service.
    pub partition: Partition,
    /// Public id of the service.
    pub service: Id,
    /// Version: position in the bucket, which only grows.
    pub revision: u64,
    /// The stored definition; `None` if it was deleted.
    pub definition: Option<Bytes>,
    /// Number of further changes on the way; 0 = this location has everything.
    pub pending: u64,
}

/// The next event of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefinitionEvent {
    /// A definition was changed or deleted.
    Change(DefinitionChange),
    /// A message is missing, or nothing has arrived for too long: the definitions must be requested again.
    Lost,
    /// No message is on its way or missing.
    Idle,
    /// A message from another sender that is not a definition; counted by the caller.
    Foreign,
}

/// Subscribes to the requests of locations for their definitions. Each request goes to one of the subscribed engine nodes.
pub async fn requests(engine: &BusConnection) -> Result<Subscriber, String> {
    let subscribed = engine.client().queue_subscribe("wk.follow.*", ENGINE.into()).await;
    subscribed.map_err(|error| error.to_string())
}

/// Starts the requested delivery, and answers with the number of definitions on their way.
///
/// # Errors
///
/// When the message is not a request of a location, or JetStream fails.
pub async fn answer(engine: &BusConnection, request: &Message) -> Result<(), String> {
    let Ok(BusSubject::Follow(location)) = request.subject.parse() else {
        return Err(format!("{} is not a request for definitions", request.subject));
    };
    let reply = request.reply.clone().ok_or("the request has no reply subject")?;
    let count = deliver(engine.jetstream(), &location).await?;
    let sent = engine.client().publish(reply, count.to_string().into()).await;
    sent.map_err(|error| error.to_string())
}

/// Creates or restarts the delivery to a location; returns the number of definitions that it starts with.
async fn deliver(jetstream: &Context, location: &LocationCode) -> Result<u64, String> {
    let stream = subjects::stream_of(DEFINITIONS);
    let name = format!("location_{}", token(location));
    // A missing consumer need not be deleted.
    let _ = jetstream.delete_consumer_from_stream(&name, &stream).await;
    let config = push::Config {
        durable_name: Some(name),
        deliver_subject: BusSubject::Delivery(location.clone()).to_string(),
        deliver_policy: DeliverPolicy::LastPerSubject,
        ack_policy: AckPolicy::None,
        replay_policy: ReplayPolicy::Instant,
        filter_subject: subjects::definitions_of(location),
        idle_heartbeat: HEARTBEAT,
        max_deliver: 1,
        inactive_threshold: FORGOTTEN,
        ..push::Config::default()
    };
    let made = jetstream.create_consumer_on_stream(config, stream).await;
    made.map(|made| made.cached_info().num_pending).map_err(|error| error.to_string())
}

/// The receiving side of a delivery at a location.
#[derive(Debug)]
pub struct DefinitionSubscription {
    connection: BusConnection,
    location: LocationCode,
    messages: Subscriber,
    /// Number of the last message in this delivery; `None` if no message has arrived.
    number: Option<u64>,
}

impl DefinitionSubscription {
    /// Subscribes to the definitions of a location, without requesting them.
    pub async fn listen(connection: &BusConnection, location: &LocationCode) -> Result<Self, String> {
        let subject = nats(&BusSubject::Delivery(location.clone()));
        let messages = connection.client().subscribe(subject).await.map_err(|error| error.to_string())?;
        Ok(Self { connection: connection.clone(), location: location.clone(), messages, number: None })
    }

    /// Requests all definitions from an engine node; returns the number of definitions on their way.
    ///
    /// # Errors
    /// When no engine node answers.
    pub async fn ask(&mut self) -> Result<u64, String> {
        // Messages of the previous delivery say nothing about the next one.
        let delivery = nats(&BusSubject::Delivery(self.location.clone()));
        let messages = self.connection.client().subscribe(delivery).await;
        self.messages = messages.map_err(|error| error.to_string())?;
        self.number = None;
        let subject = nats(&BusSubject::Follow(self.location.clone()));
        let answer = self.connection.client().request(subject, Bytes::new()).await;
        let answer = answer.map_err(|error| error.to_string())?;
        let count = std::str::from_utf8(&answer.payload).ok().and_then(|count| count.parse().ok());
        count.ok_or_else(|| "the answer is not a number of definitions".to_owned())
    }

    /// Waits for the next event; `None` when the connection is closed.
    pub async fn next(&mut self) -> Option<DefinitionEvent> {
        loop {
            let Ok(message) = timeout(SILENCE, self.messages.next()).await else {
                return Some(DefinitionEvent::Lost);
            };
            let message = message?;
            if message.status == Some(StatusCode::IDLE_HEARTBEAT) {
                return Some(if self.has_missed(&message) {
                    DefinitionEvent::Lost
                } else {
                    DefinitionEvent::Idle
                });
            }
            let context = self.connection.jetstream().clone();
            let message = JetStreamMessage { message, context };
            let Some((number, change)) = read(&message, &self.location) else {
                return Some(DefinitionEvent::Foreign);
            };
            match self.number {
                // A leftover of the previous delivery.
                None if number != 1 => continue,
                Some(last) if number != 1 && number != last + 1 => return Some(DefinitionEvent::Lost),
                _ => self.number = Some(number),
            }
            return Some(DefinitionEvent::Change(change));
        }
    }

    /// Returns true if the number in a heartbeat shows that a message was missed. A lost first message counts
    /// too. A late heartbeat of the previous delivery only costs one more request.
    fn has_missed(&self, heartbeat: &Message) -> bool {
        let last_delivered = heartbeat.headers.as_ref().and_then(|headers| headers.get(LAST_DELIVERED));
        let last_delivered: Option<u64> = last_delivered.and_then(|number| number.as_str().parse().ok());
        last_delivered.is_some_and(|last_delivered| last_delivered > self.number.unwrap_or(0))
    }
}

/// Returns the number of a message in its delivery, and its change; `None` if it is not a definition of this
/// location.
fn read(message: &JetStreamMessage, location: &LocationCode) -> Option<(u64, DefinitionChange)> {
    let info = message.info().ok()?;
    let subject: BusSubject = message.subject.as_str().parse().ok()?;
    let BusSubject::Definition { location: owner, partition, service } = subject else { return None };
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
