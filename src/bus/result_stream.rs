//! The stream of results: a location sends batches, an engine node takes them and says when they are stored.
//!
//! What is not acknowledged comes again, after [`REDELIVERED_AFTER`] or to another node. Whoever needs longer says so.

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

use crate::bus::connection::{Connection, nats};
use crate::bus::messages::results::BatchMessage;
use crate::bus::subjects::{self, RESULTS, Subject};
use crate::clock::Timestamp;
use crate::model::node::NodeName;
use crate::model::partition::Partitions;

/// A batch that is not acknowledged for this long is delivered again.
pub const REDELIVERED_AFTER: Duration = Duration::from_secs(60);
/// Batches that an engine node has taken and not acknowledged, at most.
pub const UNACKNOWLEDGED: i64 = 1_024;
/// Bytes that are under way to a node at once, at most.
const BYTES_AT_ONCE: usize = 8 << 20;
/// JetStream says at least this often that it is there.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// A request for batches ends after this time, and is made anew.
const REQUEST_ENDS: Duration = Duration::from_secs(30);
/// Header by which JetStream knows a batch that was sent twice.
const MESSAGE_ID: &str = "Nats-Msg-Id";

/// The end of the stream at an engine node.
pub struct Incoming(Option<pull::Stream>);

impl std::fmt::Debug for Incoming {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Incoming(..)")
    }
}

/// A batch, as it came.
#[derive(Debug)]
pub struct IncomingBatch {
    /// Sender and partition; `None` = a message that nobody of us sends.
    pub subject: Option<Subject>,
    /// The batch.
    pub payload: Bytes,
    /// The time at which the bus took it in: the same each time it comes.
    pub received_at: Timestamp,
    /// True if it has come before.
    pub is_redelivered: bool,
    /// Batches that the bus has behind it.
    pub pending: u64,
    message: Message,
}

impl Incoming {
    /// Takes batches of these partitions, beginning with the oldest that nobody has acknowledged. What this node has taken
    /// before and not acknowledged comes again; without partitions nothing comes. An end in the way, of a node that is none
    /// of those that share the partitions, is closed.
    ///
    /// # Errors
    /// JetStream does not answer, or another node still takes batches of one of the partitions.
    pub async fn open(
        engine: &Connection,
        node: &NodeName,
        partitions: Partitions,
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

    /// The next batch.
    ///
    /// # Errors
    /// The stream has to be opened anew.
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

/// Ends a node's end of the stream, if there is one: what it has taken and not acknowledged goes to others.
///
/// # Errors
/// JetStream does not answer.
pub async fn close(engine: &Connection, node: &NodeName) -> Result<(), String> {
    let closed = engine.jetstream().delete_consumer_from_stream(end_of(node), RESULTS).await;
    match closed {
        Err(error) if !is_missing(&error) => Err(error.to_string()),
        _ => Ok(()),
    }
}

/// Closes what nodes that are gone have left open: two ends of the stream cannot take batches of one partition.
async fn close_ends_of_others(
    engine: &Connection,
    stream: &Stream,
    sharing: &BTreeSet<NodeName>,
) -> Result<(), String> {
    let known: BTreeSet<String> = sharing.iter().map(end_of).collect();
    let mut names = stream.consumer_names();
    while let Some(name) = names.next().await {
        let name = name.map_err(|error| error.to_string())?;
        if !known.contains(&name) {
            tracing::warn!(name, "an end of the stream that nobody uses is closed");
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
    /// It is dealt with: its results are stored, or it is worth nothing. An acknowledgement that is lost brings it once more.
    pub async fn acknowledge(&self) {
        if let Err(error) = self.message.ack().await {
            tracing::debug!(%error, "a batch of results cannot be acknowledged");
        }
    }

    /// It is not dealt with yet, but it will be: it is not to be delivered again meanwhile.
    pub async fn delay(&self) {
        if let Err(error) = self.message.ack_with(AckKind::Progress).await {
            tracing::debug!(%error, "a batch of results cannot be held");
        }
    }
}

/// Sends a batch from a location. Returns when JetStream has it on its disk.
///
/// # Errors
/// JetStream does not acknowledge it: it is away, or full.
pub async fn send(location: &Connection, subject: &Subject, batch: BatchMessage) -> Result<(), String> {
    let mut headers = HeaderMap::new();
    headers.insert(MESSAGE_ID, batch.id);
    let sent = location.jetstream().publish_with_headers(nats(subject), headers, batch.bytes.into()).await;
    let acknowledged = sent.map_err(|error| error.to_string())?.await;
    acknowledged.map(drop).map_err(|error| error.to_string())
}
