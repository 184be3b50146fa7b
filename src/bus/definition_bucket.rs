//! The bucket of definitions, as engine nodes write it: what lies in it, and changes of that.
//!
//! A definition is sealed anew each time it is written, so its header names what is inside: equal exactly if location and
//! content are. Whoever has lost its memory reads the headers alone.

use std::collections::HashMap;
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::consumer::{DeliverPolicy, pull};
use bytes::Bytes;
use futures_util::StreamExt as _;
use tokio::time::timeout;

use crate::bus::connection::Connection;
use crate::bus::definitions::OPERATION;
use crate::bus::subjects::{self, DEFINITIONS, Subject};
use crate::id::Id;
use crate::model::location::LocationCode;
use crate::model::partition::{Partition, Partitions};

/// Header that names what is inside.
const DIGEST: &str = "Wk-Digest";
/// Mark of what was taken away.
const DELETED: &str = "DEL";
/// Header that says when a message is forgotten.
const TTL: &str = "Nats-TTL";
/// A mark of what was taken away is forgotten after this time: a location that was cut off for longer is told everything, and
/// forgets what it is not told.
const FORGOTTEN_AFTER: &str = "1h";
/// The bucket counts as silent after this time without its next message.
const SILENCE: Duration = Duration::from_secs(10);
/// Writes that are under way at once.
const AT_ONCE: usize = 256;

/// The place of a definition in the bucket.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DefinitionPlace {
    /// The location that it is for.
    pub location: LocationCode,
    /// Partition of the service.
    pub partition: Partition,
    /// The service.
    pub service: Id,
}

/// A change of the bucket.
#[derive(Clone, Debug)]
pub enum BucketChange {
    /// This definition lies there from now on.
    Write {
        /// Its place.
        place: DefinitionPlace,
        /// Names what is inside.
        digest: String,
        /// The sealed definition.
        sealed: Vec<u8>,
    },
    /// Nothing lies there any more.
    TakeAway(DefinitionPlace),
}

/// Returns the digests of all definitions of these partitions in the bucket.
///
/// # Errors
/// JetStream does not answer.
pub async fn digests(
    engine: &Connection,
    partitions: Partitions,
) -> Result<HashMap<DefinitionPlace, String>, String> {
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
            timeout(SILENCE, messages.next()).await.map_err(|_| "the bucket is silent".to_owned())?;
        let message = message.ok_or("the bucket has ended")?.map_err(|error| error.to_string())?;
        let pending = message.info().map_err(|error| error.to_string())?.pending;
        let header = |name| message.headers.as_ref().and_then(|headers| headers.get(name));
        if let (Ok(Subject::Definition { location, partition, service }), None) =
            (message.subject.parse(), header(OPERATION))
            && partitions.contains(partition)
        {
            // Without a digest it is one that has to be written anew.
            let digest = header(DIGEST).map(ToString::to_string).unwrap_or_default();
            found.insert(DefinitionPlace { location, partition, service }, digest);
        }
        if pending == 0 {
            return Ok(found);
        }
    }
}

/// Changes the bucket. Returns when JetStream has acknowledged all of it.
///
/// # Errors
/// JetStream does not acknowledge; then some changes may have happened.
pub async fn change(engine: &Connection, changes: Vec<BucketChange>) -> Result<(), String> {
    let mut sent = futures_util::stream::iter(changes.into_iter().map(|change| write(engine, change)))
        .buffer_unordered(AT_ONCE);
    while let Some(done) = sent.next().await {
        done?;
    }
    Ok(())
}

async fn write(engine: &Connection, change: BucketChange) -> Result<(), String> {
    let mut headers = HeaderMap::new();
    let (place, payload) = match change {
        BucketChange::Write { place, digest, sealed } => {
            headers.insert(DIGEST, digest);
            (place, Bytes::from(sealed))
        }
        BucketChange::TakeAway(place) => {
            headers.insert(OPERATION, DELETED);
            headers.insert(TTL, FORGOTTEN_AFTER);
            (place, Bytes::new())
        }
    };
    let DefinitionPlace { location, partition, service } = place;
    let subject = Subject::Definition { location, partition, service }.to_string();
    let sent = engine.jetstream().publish_with_headers(subject, headers, payload).await;
    let acknowledged = sent.map_err(|error| error.to_string())?.await;
    acknowledged.map(drop).map_err(|error| error.to_string())
}
