//! The leases of engine nodes: the living nodes, and the owner of each partition.
//!
//! A node is alive as long as it renews its key: the node writes the key repeatedly, and the server deletes a
//! key that was not written for [`LIVES_FOR`]. So no two clocks are compared. The time of each key is read too,
//! since a server that has crashed may restore keys of dead nodes: [`crate::model::lease`] decides which nodes
//! are alive. All 64 partitions are one value, the ledger, which is changed by compare-and-swap: its revision
//! is the fencing token of the partitions taken with it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::stream::{DirectGetErrorKind, Stream};
use futures_util::StreamExt as _;
use serde::{Deserialize, Serialize};

use crate::bus::connection::{BusConnection, nats};
use crate::bus::lease_value::LeaseValue;
use crate::bus::subjects::{self, BusSubject, LEASES};
use crate::id::Id;
use crate::model::lease::LeaseKey;
use crate::model::ledger::{FencingToken, PartitionLedger};
use crate::model::node::NodeName;
use crate::model::partition::{Partition, PartitionSet};

/// A node that has not written its key for this long is dead.
pub const LIVES_FOR: Duration = Duration::from_secs(8);
/// Header with the lifetime of a message.
const TTL: &str = "Nats-TTL";
/// Header with the expected revision of the key for a write.
const EXPECTED: &str = "Nats-Expected-Last-Subject-Sequence";

/// The leases at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseSnapshot {
    /// Lease keys of the nodes, by name.
    pub keys: BTreeMap<NodeName, LeaseKey>,
    /// Keys without a lease of this program: they are ignored.
    pub foreign: BTreeSet<String>,
    /// The living nodes: all that have keys, except those that [`crate::model::lease::LeaseJudge`] considers dead.
    pub living: BTreeSet<NodeName>,
    /// The owner of each partition.
    pub ledger: PartitionLedger,
    /// The revision of the ledger; 0 if no ledger was written yet.
    revision: u64,
    /// The time at which the bucket was created, in seconds.
    epoch: i64,
}

impl LeaseSnapshot {
    /// Returns true if the ledger was never written.
    #[must_use]
    pub const fn is_new(&self) -> bool {
        self.revision == 0
    }

    /// Returns the fencing token of the newest change.
    #[must_use]
    pub fn fence(&self) -> FencingToken {
        FencingToken { epoch: self.epoch, revision: i64::try_from(self.revision).unwrap_or(i64::MAX) }
    }
}

/// The stored form of the ledger: the numbers of the partitions of each node.
#[derive(Serialize, Deserialize)]
struct LedgerText {
    owners: BTreeMap<String, Vec<u8>>,
    #[serde(default)]
    leaving: BTreeSet<String>,
}

/// Returns the data folder of the living process with this node name. A key without a lease is ignored.
pub async fn folder_of(connection: &BusConnection, node: &NodeName) -> Result<Option<Id>, String> {
    let stream = connection.jetstream().get_stream_no_info(subjects::stream_of(LEASES)).await;
    let stream = stream.map_err(|error| error.to_string())?;
    match stream.direct_get_last_for_subject(BusSubject::Living(node.clone()).to_string()).await {
        Ok(message) => Ok(value(&message.payload).map(|value| value.folder)),
        Err(error) if error.kind() == DirectGetErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Renews the lease of this node, for [`LIVES_FOR`] from now.
pub async fn renew_lease(
    connection: &BusConnection,
    node: &NodeName,
    value: LeaseValue,
) -> Result<(), String> {
    let mut headers = HeaderMap::new();
    headers.insert(TTL, format!("{}s", LIVES_FOR.as_secs()));
    let subject = nats(&BusSubject::Living(node.clone()));
    let sent = connection.jetstream().publish_with_headers(subject, headers, value.to_string().into()).await;
    let acknowledged = sent.map_err(|error| error.to_string())?.await;
    acknowledged.map(drop).map_err(|error| error.to_string())
}

fn value(payload: &[u8]) -> Option<LeaseValue> {
    std::str::from_utf8(payload).ok()?.parse().ok()
}

/// Reads the leases and the ledger.
pub async fn read(connection: &BusConnection) -> Result<LeaseSnapshot, String> {
    let stream = connection.jetstream().get_stream_no_info(subjects::stream_of(LEASES)).await;
    let stream = stream.map_err(|error| error.to_string())?;
    let mut found = stream.info_with_subjects(subjects::living()).await.map_err(|error| error.to_string())?;
    let epoch = found.info.created.unix_timestamp();
    let (mut keys, mut foreign) = (BTreeMap::new(), BTreeSet::new());
    while let Some(subject) = found.next().await {
        let (subject, _) = subject.map_err(|error| error.to_string())?;
        let Ok(BusSubject::Living(node)) = subject.parse() else {
            foreign.insert(subject);
            continue;
        };
        match stream.direct_get_last_for_subject(subject.as_str()).await {
            Ok(message) => match value(&message.payload) {
                Some(LeaseValue { database_age_ms, .. }) => {
                    let written_at_ms =
                        message.time.unix_timestamp() * 1_000 + i64::from(message.time.millisecond());
                    let key = LeaseKey { sequence: message.sequence, written_at_ms, database_age_ms };
                    keys.insert(node, key);
                }
                None => drop(foreign.insert(subject)),
            },
            // The key was deleted in the meantime.
            Err(error) if error.kind() == DirectGetErrorKind::NotFound => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    let (ledger, revision) = ledger(&stream).await?;
    let living = keys.keys().cloned().collect();
    Ok(LeaseSnapshot { keys, foreign, living, ledger, revision, epoch })
}

async fn ledger<I>(stream: &Stream<I>) -> Result<(PartitionLedger, u64), String> {
    match stream.direct_get_last_for_subject(BusSubject::Ledger.to_string()).await {
        Ok(message) => Ok((parse(&message.payload)?, message.sequence)),
        Err(error) if error.kind() == DirectGetErrorKind::NotFound => Ok((PartitionLedger::default(), 0)),
        Err(error) => Err(error.to_string()),
    }
}

/// Changes the ledger; returns the fencing token of that change. `None` = another node was faster.
///
/// # Errors
///
/// When JetStream does not answer; it may have changed the ledger nevertheless.
pub async fn change(
    connection: &BusConnection,
    before: &LeaseSnapshot,
    ledger: &PartitionLedger,
) -> Result<Option<FencingToken>, String> {
    let mut headers = HeaderMap::new();
    headers.insert(EXPECTED, before.revision.to_string());
    let text = text(ledger)?;
    let subject = nats(&BusSubject::Ledger);
    let sent = connection.jetstream().publish_with_headers(subject, headers, text.into()).await;
    match sent.map_err(|error| error.to_string())?.await {
        Ok(written) => {
            let revision = i64::try_from(written.sequence).map_err(|error| error.to_string())?;
            Ok(Some(FencingToken { epoch: before.epoch, revision }))
        }
        Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Subscribes to changes of the ledger and renewals of nodes. Some may be missed, so callers have to poll too.
pub async fn changes(connection: &BusConnection) -> Result<async_nats::Subscriber, String> {
    connection.client().subscribe(subjects::keys_of(LEASES)).await.map_err(|error| error.to_string())
}

fn text(ledger: &PartitionLedger) -> Result<Vec<u8>, String> {
    let numbers = |owned: &PartitionSet| owned.iter().map(Partition::number).collect();
    let owners = ledger.owners.iter().map(|(node, owned)| (node.to_string(), numbers(owned)));
    let leaving = ledger.leaving.iter().map(ToString::to_string).collect();
    let text = LedgerText { owners: owners.collect(), leaving };
    serde_json::to_vec(&text).map_err(|error| error.to_string())
}

fn parse(text: &[u8]) -> Result<PartitionLedger, String> {
    let bad = |problem: &dyn std::fmt::Display| format!("the ledger of partitions cannot be read: {problem}");
    let text: LedgerText = serde_json::from_slice(text).map_err(|error| bad(&error))?;
    let name = |text: &String| text.parse::<NodeName>().map_err(|error| bad(&error));
    let mut ledger = PartitionLedger::default();
    for (node, numbers) in &text.owners {
        let owned: Option<PartitionSet> = numbers.iter().map(|number| Partition::new(*number)).collect();
        ledger.owners.insert(name(node)?, owned.ok_or_else(|| bad(&"unknown partition"))?);
    }
    for node in &text.leaving {
        ledger.leaving.insert(name(node)?);
    }
    Ok(ledger)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn a_ledger_is_read_as_it_was_written() {
        let (a, b): (NodeName, NodeName) = ("a".parse().unwrap(), "b".parse().unwrap());
        let some: PartitionSet = [0, 63].into_iter().filter_map(Partition::new).collect();
        let ledger = PartitionLedger::default().taken(&a, some).without_leaving_node(&b);
        let written = text(&ledger).unwrap();
        assert_eq!(String::from_utf8_lossy(&written), r#"{"owners":{"a":[0,63]},"leaving":["b"]}"#);
        assert_eq!(parse(&written), Ok(ledger));
    }

    #[rstest]
    #[case("")]
    #[case(r#"{"owners":{"a":[64]}}"#)]
    #[case(r#"{"owners":{"A":[1]}}"#)]
    fn a_malformed_ledger_is_refused(#[case] text: &str) {
        assert!(parse(text.as_bytes()).is_err());
    }
}
