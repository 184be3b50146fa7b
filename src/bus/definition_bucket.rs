//! The bucket of definitions, as engine nodes write it: its entries, and changes to them.
//!
//! A definition is sealed again each time it is written, so its header contains a digest of the content: equal
//! exactly if location and content are equal. A node that starts without knowledge of the bucket reads the
//! headers only. A change names the revision that it replaces and is refused if the entry has another one: a
//! delayed write of a disconnected node cannot overwrite newer ones.

use std::collections::HashMap;
use std::time::Duration;

use async_nats::header::NATS_EXPECTED_LAST_SUBJECT_SEQUENCE;
use async_nats::jetstream::consumer::{DeliverPolicy, pull};
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::{HeaderMap, HeaderValue};
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::future::join_all;
use tokio::time::timeout;

use crate::bus::connection::BusConnection;
use crate::bus::definitions::OPERATION;
use crate::bus::subjects::{self, BusSubject, DEFINITIONS};
use crate::id::Id;
use crate::model::location::LocationCode;
use crate::model::partition::{Partition, PartitionSet};

/// Header with the digest of the content.
const DIGEST: &str = "Wk-Digest";
/// Value of the operation header for a deleted entry.
const DELETED: &str = "DEL";
/// Header with the lifetime of a message.
const TTL: &str = "Nats-TTL";
/// Lifetime of the mark of a deleted entry: a location that was disconnected for longer receives everything, and removes
/// the definitions that it does not receive.
const FORGOTTEN_AFTER: &str = "1h";
/// Time after which the mark of a deleted entry has certainly expired: its lifetime, with a margin.
pub const FORGOTTEN: Duration = Duration::from_secs(3_700);
/// The bucket counts as silent after this time without its next message.
const SILENCE: Duration = Duration::from_secs(10);
/// Maximum size in bytes of the headers that accompany a definition; they count towards the stream's message
/// limit.
pub const HEADER_BYTES: usize = 512;
/// Maximum number of concurrent writes.
const AT_ONCE: usize = 256;

/// The key of a definition in the bucket.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DefinitionKey {
    /// The location that receives the definition.
    pub location: LocationCode,
    /// Partition of the service.
    pub partition: Partition,
    /// Public id of the service.
    pub service: Id,
}

/// An entry of the bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BucketEntry {
    /// Position in the bucket, which only grows.
    pub revision: u64,
    /// Digest of the content; `None` if the entry was deleted.
    pub digest: Option<String>,
}

/// A change of the bucket.
#[derive(Clone, Debug)]
pub struct BucketChange {
    /// The key that is changed.
    pub definition_key: DefinitionKey,
    /// The entry that is replaced; `None` if the bucket has none.
    pub replaces: Option<BucketEntry>,
    /// The new definition; `None` to delete the entry.
    pub definition: Option<BucketDefinition>,
}

/// A definition as it is stored in the bucket.
#[derive(Clone, Debug)]
pub struct BucketDefinition {
    /// Digest by which changes are noticed.
    pub digest: String,
    /// The definition, sealed to its location.
    pub sealed: Vec<u8>,
}

/// Returns the entries of these partitions, including recently deleted ones.
pub async fn entries(
    engine: &BusConnection,
    partitions: PartitionSet,
) -> Result<HashMap<DefinitionKey, BucketEntry>, String> {
    let stream = engine.jetstream().get_stream(subjects::stream_of(DEFINITIONS)).await;
    let stream = stream.map_err(|error| error.to_string())?;
    let config = pull::OrderedConfig {
        deliver_policy: DeliverPolicy::LastPerSubject,
        filter_subject: subjects::keys_of(DEFINITIONS),
        headers_only: true,
        ..pull::OrderedConfig::default()
    };
    let consumer = stream.create_consumer(config).await.map_err(|error| error.to_string())?;
    let mut found = HashMap::new();
    if consumer.cached_info().num_pending == 0 {
        return Ok(found);
    }
    let mut messages = consumer.messages().await.map_err(|error| error.to_string())?;
    loop {
        let message =
            timeout(SILENCE, messages.next()).await.map_err(|_| "the bucket does not answer".to_owned())?;
        let message =
            message.ok_or("the watch of the bucket has ended")?.map_err(|error| error.to_string())?;
        let info = message.info().map_err(|error| error.to_string())?;
        let header = |name| message.headers.as_ref().and_then(|headers| headers.get(name));
        if let Ok(BusSubject::Definition { location, partition, service }) = message.subject.parse()
            && partitions.contains(partition)
        {
            // An entry without a digest has to be written again.
            let digest = || header(DIGEST).map(ToString::to_string).unwrap_or_default();
            let digest = header(OPERATION).is_none().then(digest);
            let entry = BucketEntry { revision: info.stream_sequence, digest };
            found.insert(DefinitionKey { location, partition, service }, entry);
        }
        if info.pending == 0 {
            return Ok(found);
        }
    }
}

/// Changes the bucket. Returns the new entries once JetStream has acknowledged all of them.
///
/// # Errors
///
/// When JetStream does not acknowledge a change, or a key has another entry by now. Some changes may have been
/// made; later ones of the list were not tried.
pub async fn change(
    engine: &BusConnection,
    mut changes: Vec<BucketChange>,
) -> Result<Vec<(DefinitionKey, BucketEntry)>, String> {
    let mut written = Vec::with_capacity(changes.len());
    while !changes.is_empty() {
        let next = changes.drain(..changes.len().min(AT_ONCE));
        // Wait for all writes: a refused one says nothing about the others.
        let done = join_all(next.map(|change| write(engine, change))).await;
        for entry in done {
            written.push(entry?);
        }
    }
    Ok(written)
}

async fn write(
    engine: &BusConnection,
    BucketChange { definition_key, replaces, definition }: BucketChange,
) -> Result<(DefinitionKey, BucketEntry), String> {
    let mut headers = HeaderMap::new();
    let digest = definition.as_ref().map(|definition| definition.digest.clone());
    match &digest {
        Some(digest) => headers.insert(DIGEST, digest.as_str()),
        None => {
            headers.insert(OPERATION, DELETED);
            headers.insert(TTL, FORGOTTEN_AFTER);
        }
    }
    let payload = definition.map(|definition| Bytes::from(definition.sealed)).unwrap_or_default();
    let DefinitionKey { location, partition, service } = definition_key.clone();
    let subject = BusSubject::Definition { location, partition, service }.to_string();
    let publish = async |revision: u64| {
        let mut headers = headers.clone();
        headers.insert(NATS_EXPECTED_LAST_SUBJECT_SEQUENCE, HeaderValue::from(revision));
        engine.jetstream().publish_with_headers(subject.clone(), headers, payload.clone()).await?.await
    };
    let replaced = replaces.as_ref().map_or(0, |entry| entry.revision);
    let acknowledged = match publish(replaced).await {
        // The mark of the deleted entry may have expired by now.
        Err(error)
            if error.kind() == PublishErrorKind::WrongLastSequence
                && replaces.is_some_and(|entry| entry.digest.is_none()) =>
        {
            publish(0).await
        }
        done => done,
    };
    let revision = acknowledged.map_err(|error| error.to_string())?.sequence;
    Ok((definition_key, BucketEntry { revision, digest }))
}
