//! The stream of results: a location sends batches, an engine node receives them and acknowledges them once they are stored.
//!
//! An unacknowledged batch is delivered again, after [`REDELIVERED_AFTER`] or to another node. A node that
//! needs longer delays the redelivery.

use std::collections::BTreeSet;
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::AckKind;
use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::message::Message;
use async_nats::jetstream::stream::{ConsumerError, ConsumerErrorKind, Stream};
use bytes::Bytes;
use futures_util::StreamExt as _;

use crate::bus::connection::{BusConnection, nats};
use crate::bus::messages::results::BatchMessage;
use crate::bus::subjects::{self, BusSubject, RESULTS};
use crate::clock::Timestamp;
use crate::model::node::NodeName;
use crate::model::partition::PartitionSet;

/// An unacknowledged batch is delivered again after this time.
pub const REDELIVERED_AFTER: Duration = Duration::from_secs(60);
/// Maximum number of batches that an engine node has received and not acknowledged.
pub const UNACKNOWLEDGED: i64 = 1_024;
/// Maximum number of bytes on the way to a node.
const BYTES_AT_ONCE: usize = 8 << 20;
/// Longest time between two heartbeats of JetStream.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// A request for batches ends after this time, and is repeated.
const REQUEST_ENDS: Duration = Duration::from_secs(30);
/// Header by which JetStream recognises a repeated batch.
const MESSAGE_ID: &str = "Nats-Msg-Id";

/// The receiving side of the stream at an engine node.
pub struct ResultConsumer(Option<pull::Stream>);

impl std::fmt::Debug for ResultConsumer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Incoming(..)")
    }
}

/// A received batch that must be acknowledged.
#[derive(Debug)]
pub struct IncomingBatch {
    /// Sender and partition; `None` = a message of another program.
    pub subject: Option<BusSubject>,
    /// The batch as it was sent over the bus.
    pub payload: Bytes,
    /// The time at which the bus received the batch: the same for each delivery.
    pub received_at: Timestamp,
    /// True if the batch was delivered before.
    pub is_redelivered: bool,
    /// Number of batches that wait on the bus behind this one.
    pub pending: u64,
    message: Message,
}

impl ResultConsumer {
    /// Receives batches of these partitions, starting with the oldest unacknowledged one. Unacknowledged
    /// batches of this node are delivered again; without partitions no batch arrives. If the consumer cannot be
    /// created, the consumers of nodes that are not `sharing` the partitions are closed, so that a later call
    /// can succeed.
    ///
    /// # Errors
    /// When JetStream does not answer, or another node still receives batches of one of the partitions.
    pub async fn open(
        engine: &BusConnection,
        node: &NodeName,
        partitions: PartitionSet,
        sharing: &BTreeSet<NodeName>,
    ) -> Result<Self, String> {
        close(engine, node).await?;
        if partitions.is_empty() {
            return Ok(Self(None));
        }
        let stream = engine.jetstream().get_stream(RESULTS).await.map_err(|error| error.to_string())?;
        let filters = partitions.iter().map(subjects::results_of_partition);
        let config = pull::Config {
            durable_name: Some(end_of(node)),
            filter_subjects: filters.collect(),
            ack_policy: AckPolicy::Explicit,
            ack_wait: REDELIVERED_AFTER,
            max_ack_pending: UNACKNOWLEDGED,
            ..pull::Config::default()
        };
        let consumer = match stream.create_consumer(config).await {
            Ok(consumer) => consumer,
            Err(error) => {
                close_ends_of_others(engine, &stream, sharing).await?;
                return Err(error.to_string());
            }
        };
        let messages = consumer.stream().max_bytes_per_batch(BYTES_AT_ONCE).heartbeat(HEARTBEAT);
        let messages = messages.expires(REQUEST_ENDS).messages().await;
        messages.map(|messages| Self(Some(messages))).map_err(|error| error.to_string())
    }

    /// Returns the next batch.
    ///
    /// # Errors
    ///
    /// When the stream must be opened again.
    pub async fn next(&mut self) -> Result<IncomingBatch, String> {
        let Some(messages) = &mut self.0 else { return std::future::pending().await };
        let message = messages.next().await.ok_or("the stream has ended")?;
        let message = message.map_err(|error| error.to_string())?;
        let info = message.info().map_err(|error| error.to_string())?;
        let published_ms = info.published.unix_timestamp_nanos().div_euclid(1_000_000);
        Ok(IncomingBatch {
            subject: message.subject.parse().ok(),
            payload: message.payload.clone(),
            received_at: Timestamp::from_ms(i64::try_from(published_ms).unwrap_or(0)),
            is_redelivered: info.delivered > 1,
            pending: info.pending,
            message,
        })
    }
}

/// Closes a node's consumer of the stream, if there is one: its unacknowledged batches are delivered to others.
pub async fn close(engine: &BusConnection, node: &NodeName) -> Result<(), String> {
    let closed = engine.jetstream().delete_consumer_from_stream(end_of(node), RESULTS).await;
    match closed {
        Err(error) if !is_missing(&error) => Err(error.to_string()),
        _ => Ok(()),
    }
}

/// Closes the consumers that dead nodes have left open: two consumers cannot receive batches of one partition.
async fn close_ends_of_others(
    engine: &BusConnection,
    stream: &Stream,
    sharing: &BTreeSet<NodeName>,
) -> Result<(), String> {
    let known: BTreeSet<String> = sharing.iter().map(end_of).collect();
    let mut names = stream.consumer_names();
    while let Some(name) = names.next().await {
        let name = name.map_err(|error| error.to_string())?;
        if !known.contains(&name) {
            tracing::warn!(consumer = name, "deleting an unused consumer of the result stream");
            // Another node may have closed it meanwhile.
            let _ = engine.jetstream().delete_consumer_from_stream(&name, RESULTS).await;
        }
    }
    Ok(())
}

fn is_missing(error: &ConsumerError) -> bool {
    matches!(error.kind(), ConsumerErrorKind::JetStream(error) if error.error_code() == ErrorCode::CONSUMER_NOT_FOUND)
}

fn end_of(node: &NodeName) -> String {
    format!("engine-{node}")
}

impl IncomingBatch {
    /// Acknowledges the batch: its results are stored, or it is invalid. If the acknowledgement is lost, the
    /// batch is delivered again.
    pub async fn acknowledge(&self) {
        if let Err(error) = self.message.ack().await {
            tracing::debug!(%error, "cannot acknowledge a batch of results");
        }
    }

    /// Delays the redelivery of the batch, which is still being processed.
    pub async fn delay(&self) {
        if let Err(error) = self.message.ack_with(AckKind::Progress).await {
            tracing::debug!(%error, "cannot delay the redelivery of a batch of results");
        }
    }
}

/// Sends a batch from a location. Returns once JetStream has it on its disk.
///
/// # Errors
/// When JetStream does not acknowledge the batch: it is unavailable, or full.
pub async fn send(location: &BusConnection, subject: &BusSubject, batch: BatchMessage) -> Result<(), String> {
    let mut headers = HeaderMap::new();
    headers.insert(MESSAGE_ID, batch.id);
    let sent = location.jetstream().publish_with_headers(nats(subject), headers, batch.bytes.into()).await;
    let acknowledged = sent.map_err(|error| error.to_string())?.await;
    acknowledged.map(drop).map_err(|error| error.to_string())
}
