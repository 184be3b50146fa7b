//! Sends results to the engine. A result is delivered once the bus has it on its disk; until then the recorder keeps it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use futures_util::{FutureExt as _, StreamExt as _};

use crate::agent::catalogue::Catalogue;
use crate::bus::connection::Connection;
use crate::bus::messages::results::{BatchMessage, ResultBatch};
use crate::bus::result_stream::send;
use crate::bus::subjects::Subject;
use crate::clock::Clock;
use crate::engine::aggregator::Batch;
use crate::model::history::CheckRecord;
use crate::model::location::LocationCode;
use crate::model::partition::Partition;
use crate::record::recorder::{Destination, NotStored};

/// Maximum number of unacknowledged batches.
const AT_ONCE: usize = 64;

/// Sends results.
#[derive(Clone)]
pub(super) struct Uplink(Arc<Parts>);

struct Parts {
    connection: Connection,
    code: LocationCode,
    catalogue: Arc<Catalogue>,
    clock: Clock,
}

impl fmt::Debug for Uplink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Uplink({})", self.0.code)
    }
}

impl Uplink {
    pub(super) fn new(
        connection: Connection,
        code: LocationCode,
        catalogue: Arc<Catalogue>,
        clock: Clock,
    ) -> Self {
        Self(Arc::new(Parts { connection, code, catalogue, clock }))
    }

    async fn send(&self, batch: &Batch) -> Result<(), NotStored> {
        let Parts { connection, code, catalogue, .. } = &*self.0;
        if !connection.state().is_connected() {
            return Err(NotStored("the bus is not connected".into()));
        }
        // Services and versions are known only when all definitions have been received.
        if !catalogue.is_complete() {
            return Err(NotStored("the engine has not told yet what to check".into()));
        }
        let messages = self.messages(&batch.checks).into_iter().map(|(partition, message)| {
            let subject = Subject::Results { location: code.clone(), partition };
            async move { send(connection, &subject, message).await }
        });
        let mut sent = futures_util::stream::iter(messages).buffer_unordered(AT_ONCE);
        while let Some(done) = sent.next().await {
            done.map_err(NotStored)?;
        }
        Ok(())
    }

    /// Returns the messages with these results, by partition. Results of services that this process never checked are dropped.
    fn messages(&self, checks: &[CheckRecord]) -> Vec<(Partition, BatchMessage)> {
        let Parts { catalogue, clock, .. } = &*self.0;
        let mut by_partition: BTreeMap<Partition, Vec<CheckRecord>> = BTreeMap::new();
        for record in checks {
            if catalogue.version_of(record).is_some() {
                by_partition.entry(Partition::of(record.service)).or_default().push(record.clone());
            }
        }
        let now = clock.now();
        let version = |record: &CheckRecord| catalogue.version_of(record).map_or(0, |(_, version)| version);
        let of_partition = |(partition, records): (Partition, Vec<CheckRecord>)| {
            let messages = ResultBatch::messages(&records, now, &version);
            messages.into_iter().map(move |message| (partition, message))
        };
        by_partition.into_iter().flat_map(of_partition).collect()
    }
}

impl Destination for Uplink {
    /// Sends the checks. Status changes are not sent: the engine decides the status of a service.
    fn store(&self, batch: Arc<Batch>) -> LocalBoxFuture<'static, Result<(), NotStored>> {
        let uplink = self.clone();
        async move { uplink.send(&batch).await }.boxed_local()
    }
}
