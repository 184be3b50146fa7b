//! The streams and buckets of the engine, created or checked at each start.
//!
//! Every setting that a location's message could misuse is set here: no roll-ups (a header that would delete messages of
//! others), no deletes, maximum sizes of messages, of messages per subject, and of the stream. Results are a work queue: a
//! message is kept until the owner of its partition has acknowledged it.

use std::error::Error as _;
use std::time::Duration;

use async_nats::jetstream::Context;
use async_nats::jetstream::context::{
    CreateStreamError, CreateStreamErrorKind, GetStreamError, GetStreamErrorKind, RequestError,
    RequestErrorKind,
};
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType};

use crate::bus::subjects::{self, DEFINITIONS, LEASES, PRESENCE, RESULTS};
use crate::bus::users::LOCATION_PAYLOAD_BYTES;
use crate::config::limits::BusLimits;
use crate::model::partition::Partition;

/// The longest wait for a stream that another node may be creating.
const LONGEST_CREATION: Duration = Duration::from_secs(5);
/// The pause after each poll for it.
const BETWEEN_POLLS: Duration = Duration::from_millis(100);

/// The result of preparing one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamPreparation {
    /// The stream was created.
    Made,
    /// The stream already had the right settings.
    Unchanged,
    /// The stream existed with other settings, which were changed.
    Changed,
}

/// A stream that could not be prepared.
#[derive(Debug, thiserror::Error)]
#[error("cannot prepare the stream {stream}: {failure}")]
pub struct StreamProblem {
    /// Name of the stream.
    pub stream: String,
    /// The answer of the server, or that there was none.
    pub failure: StreamFailure,
}

/// The reason why a stream could not be prepared, with the message of the server or of the client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamFailure {
    /// The server did not answer in time. The same request may succeed later.
    #[error("JetStream does not answer: {0}")]
    Unanswered(String),
    /// The server refused: too little room, or a setting that cannot be changed.
    #[error("{0}")]
    Refused(String),
}

/// Creates missing streams, and changes wrong settings. Two nodes may do so at once.
///
/// # Errors
/// When JetStream does not answer, or refuses ([`StreamFailure`]). Nothing is undone, and it may be called again.
pub async fn prepare(
    jetstream: &Context,
    limits: &BusLimits,
) -> Result<Vec<(String, StreamPreparation)>, StreamProblem> {
    let mut prepared = Vec::new();
    for wanted in wanted(limits) {
        let name = wanted.name.clone();
        let done = prepare_one(jetstream, wanted).await;
        let done = done.map_err(|failure| StreamProblem { stream: name.clone(), failure })?;
        match done {
            StreamPreparation::Made => tracing::info!(stream = name, "stream created"),
            StreamPreparation::Changed => tracing::info!(stream = name, "stream settings changed"),
            StreamPreparation::Unchanged => {}
        }
        prepared.push((name, done));
    }
    Ok(prepared)
}

/// Returns the maximum size of all streams in bytes, for which the server must have room.
#[must_use]
pub fn room_needed(limits: &BusLimits) -> u64 {
    wanted(limits).iter().map(|config| u64::try_from(config.max_bytes).unwrap_or(0)).sum()
}

async fn prepare_one(jetstream: &Context, wanted: Config) -> Result<StreamPreparation, StreamFailure> {
    match jetstream.get_stream(&wanted.name).await {
        Ok(stream) if is_same(&stream.cached_info().config, &wanted) => Ok(StreamPreparation::Unchanged),
        Ok(_) => match jetstream.update_stream(&wanted).await {
            Ok(_) => Ok(StreamPreparation::Changed),
            Err(error) => Err(failure(&error)),
        },
        Err(error) if matches!(error.kind(), GetStreamErrorKind::JetStream(_)) => {
            match jetstream.create_stream(wanted.clone()).await {
                Ok(_) => Ok(StreamPreparation::Made),
                Err(_) if another_node_makes_it(jetstream, &wanted).await => Ok(StreamPreparation::Unchanged),
                Err(error) => Err(failure(&error)),
            }
        }
        Err(error) if is_unanswered(&error) => Err(StreamFailure::Unanswered(error.to_string())),
        Err(error) => Err(StreamFailure::Refused(error.to_string())),
    }
}

/// A server without JetStream answers that nobody responds, which is not the same.
fn is_unanswered(error: &GetStreamError) -> bool {
    let request = error.source().and_then(|source| source.downcast_ref::<RequestError>());
    request.is_some_and(|request| request.kind() == RequestErrorKind::TimedOut)
}

fn failure(error: &CreateStreamError) -> StreamFailure {
    match error.kind() {
        CreateStreamErrorKind::TimedOut => StreamFailure::Unanswered(error.to_string()),
        _ => StreamFailure::Refused(error.to_string()),
    }
}

/// Returns true if the stream appears soon after it could not be created. While another node creates the
/// stream, the server counts the space of both requests and may refuse the second one.
async fn another_node_makes_it(jetstream: &Context, wanted: &Config) -> bool {
    let appears = async {
        loop {
            if let Ok(stream) = jetstream.get_stream(&wanted.name).await {
                return is_same(&stream.cached_info().config, wanted);
            }
            tokio::time::sleep(BETWEEN_POLLS).await;
        }
    };
    tokio::time::timeout(LONGEST_CREATION, appears).await.unwrap_or(false)
}

/// Compares the settings that we set; the server adds others.
fn is_same(found: &Config, wanted: &Config) -> bool {
    let mut found = found.clone();
    found.metadata.clone_from(&wanted.metadata);
    found.consumer_limits.clone_from(&wanted.consumer_limits);
    found.compression.clone_from(&wanted.compression);
    found.placement.clone_from(&wanted.placement);
    found == *wanted
}

fn wanted(limits: &BusLimits) -> [Config; 4] {
    let key_value = |name: &str, max_bytes: i64, max_value_bytes: i32| Config {
        max_message_size: max_value_bytes,
        max_messages_per_subject: 1,
        allow_direct: true,
        ..plain(subjects::stream_of(name), vec![subjects::keys_of(name)], max_bytes)
    };
    let results = Partition::all().map(subjects::results_of_partition).collect();
    [
        Config {
            description: Some("Results of locations, until their owner has stored them".into()),
            max_message_size: message_size(),
            max_messages_per_subject: limits.results_per_subject,
            discard_new_per_subject: true,
            retention: RetentionPolicy::WorkQueue,
            duplicate_window: Duration::from_secs(120),
            deny_purge: true,
            ..plain(RESULTS.into(), results, limits.results_bytes)
        },
        Config {
            description: Some("Definitions that locations follow".into()),
            allow_message_ttl: true,
            ..key_value(DEFINITIONS, limits.definitions_bytes, limits.definition_bytes)
        },
        Config {
            description: Some("Reports of locations about themselves".into()),
            deny_purge: true,
            ..key_value(PRESENCE, limits.presence_bytes, limits.presence_value_bytes)
        },
        Config {
            description: Some("Owners of partitions, and nodes".into()),
            allow_message_ttl: true,
            ..key_value(LEASES, limits.leases_bytes, limits.lease_value_bytes)
        },
    ]
}

/// A file-backed stream on one server that refuses messages beyond its limits. Its messages cannot be deleted or rolled up.
fn plain(name: String, subjects: Vec<String>, max_bytes: i64) -> Config {
    Config {
        name,
        subjects,
        max_bytes,
        max_messages: -1,
        max_consumers: -1,
        discard: DiscardPolicy::New,
        retention: RetentionPolicy::Limits,
        storage: StorageType::File,
        num_replicas: 1,
        duplicate_window: Duration::from_secs(120),
        allow_rollup: false,
        deny_delete: true,
        ..Config::default()
    }
}

fn message_size() -> i32 {
    i32::try_from(LOCATION_PAYLOAD_BYTES).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_deny_deletes_and_rollups() {
        for config in wanted(&BusLimits::default()) {
            assert!(!config.allow_rollup && config.deny_delete, "{}", config.name);
            assert!(config.max_bytes > 0 && config.max_message_size > 0, "{}", config.name);
        }
    }

    #[test]
    fn a_changed_limit_differs_but_added_server_metadata_does_not() {
        let wanted = wanted(&BusLimits::default());
        let mut found = wanted[0].clone();
        found.metadata.insert("_nats.ver".into(), "2.15.1".into());
        assert!(is_same(&found, &wanted[0]));
        found.max_bytes += 1;
        assert!(!is_same(&found, &wanted[0]));
    }
}
