//! One transaction of the recorder: a batch becomes rows, all of them or none.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::engine::aggregator::Batch;
use crate::model::location::LocationCode;
use crate::store::HistoryError;
use crate::store::history::locations::LocationNumbers;
use crate::store::history::{History, append};

/// A batch to be written, and what is known of the dictionary of locations.
pub(super) struct Work {
    pub(super) history: History,
    pub(super) locations: LocationNumbers,
    pub(super) codes: Arc<[LocationCode]>,
    pub(super) batch: Arc<Batch>,
}

impl Work {
    /// Writes it; the dictionary comes back whatever happens.
    pub(super) async fn commit(mut self) -> (LocationNumbers, Result<(), HistoryError>) {
        let result = self.try_commit().await;
        (self.locations, result)
    }

    async fn try_commit(&mut self) -> Result<(), HistoryError> {
        let transaction = self.history.begin().await?;
        let mut locations = self.locations.clone();
        // What comes from the spool may name a location that this process does not have.
        let named = self.codes.iter().chain(self.batch.checks.iter().map(|check| &check.location));
        let unknown: BTreeSet<&LocationCode> = named.filter(|code| !locations.knows(code)).collect();
        if !unknown.is_empty() {
            let codes: Vec<LocationCode> = unknown.into_iter().cloned().collect();
            locations = LocationNumbers::ensure(&transaction, &codes).await?;
        }
        append::checks(&transaction, self.history.storage(), &self.batch.checks, &locations).await?;
        append::changes(&transaction, &self.batch.changes).await?;
        transaction.commit().await?;
        // Not before: a number that is rolled back may be given to another location.
        self.locations = locations;
        Ok(())
    }
}
