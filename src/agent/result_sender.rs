//! Sends results to the engine. A result is delivered once the bus has it on its disk; until then the recorder keeps it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use futures_util::{FutureExt as _, StreamExt as _};

use crate::agent::catalogue::ServiceCatalogue;
use crate::bus::connection::BusConnection;
use crate::bus::messages::results::{BatchMessage, ResultBatch};
use crate::bus::result_stream::send;
use crate::bus::subjects::BusSubject;
use crate::clock::Clock;
use crate::engine::aggregator::RecordBatch;
use crate::model::history::CheckRecord;
use crate::model::location::LocationCode;
use crate::model::partition::Partition;
use crate::record::recorder::{BatchDestination, BatchStoreError};

/// Maximum number of unacknowledged batches.
const AT_ONCE: usize = 64;

#[derive(Clone)]
pub(super) struct ResultSender(Arc<ResultSenderParts>);

struct ResultSenderParts {
    connection: BusConnection,
    code: LocationCode,
    catalogue: Arc<ServiceCatalogue>,
    clock: Clock,
}

impl fmt::Debug for ResultSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Uplink({})", self.0.code)
    }
}

impl ResultSender {
    pub(super) fn new(
        connection: BusConnection,
        code: LocationCode,
        catalogue: Arc<ServiceCatalogue>,
        clock: Clock,
    ) -> Self {
        Self(Arc::new(ResultSenderParts { connection, code, catalogue, clock }))
    }

    async fn send(&self, batch: &RecordBatch) -> Result<(), BatchStoreError> {
        let ResultSenderParts { connection, code, catalogue, .. } = &*self.0;
        if !connection.state().is_connected() {
            return Err(BatchStoreError("the bus is not connected".into()));
        }
        // Services and versions are known only when all definitions have been received.
        if !catalogue.is_complete() {
            return Err(BatchStoreError("waiting for the first definitions from the engine".into()));
        }
        let messages = self.messages(&batch.checks).into_iter().map(|(partition, message)| {
            let subject = BusSubject::Results { location: code.clone(), partition };
            async move { send(connection, &subject, message).await }
        });
        let mut sent = futures_util::stream::iter(messages).buffer_unordered(AT_ONCE);
        while let Some(done) = sent.next().await {
            done.map_err(BatchStoreError)?;
        }
        Ok(())
    }

    /// Returns the messages with these results, by partition. Results of services that this process never checked are dropped.
    fn messages(&self, checks: &[CheckRecord]) -> Vec<(Partition, BatchMessage)> {
        let ResultSenderParts { catalogue, clock, .. } = &*self.0;
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

impl BatchDestination for ResultSender {
    /// Sends the checks. Status changes are not sent: the engine decides the status of a service.
    fn store(&self, batch: Arc<RecordBatch>) -> LocalBoxFuture<'static, Result<(), BatchStoreError>> {
        let uplink = self.clone();
        async move { uplink.send(&batch).await }.boxed_local()
    }
}
