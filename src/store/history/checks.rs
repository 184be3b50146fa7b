//! The check history of a service, newest first (contract 4.8), read from rows and blocks as if they were one table.
//!
//! A page shows a consistent snapshot of rows and blocks, whatever is sealed or merged meanwhile. An unreadable block is
//! an error, never a shorter page. `descent` decides in which order blocks are read.

mod descent;
mod query;

use std::collections::BTreeSet;

use crate::model::history::StoredCheck;
use crate::model::service::ServiceKey;
use crate::store::error::HistoryError;
use crate::store::history::checks::descent::HistoryDescent;
use crate::store::history::checks::query::CheckQuery;
use crate::store::history::locations::LocationNumbers;
use crate::store::history::segments::{self, Segment, SegmentId};
use crate::store::history::{History, HistorySnapshot};

pub use query::{CheckFilter, CheckPosition};

/// Maximum number of attempts to read a page. An attempt fails if a segment is dropped while it is read. A segment stays
/// for a minute after its last new reader, so even one retry is rare.
const TRIES: usize = 3;

/// The newest checks of the service that match the filter, newest first, at most `limit`.
pub async fn page(
    history: &History,
    service: ServiceKey,
    filter: &CheckFilter,
    limit: u64,
) -> Result<Vec<StoredCheck>, HistoryError> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut tries = 1;
    loop {
        let HistorySnapshot { rows, segments, storage } = history.snapshot().await?;
        let numbers = LocationNumbers::read(&rows).await?;
        let question = CheckQuery::new(service, filter, &numbers, limit);
        let fresh = question.fresh(&rows).await?;
        // The transaction ends before the segments are read: pages that hold a connection while waiting could block each
        // other.
        rows.end_reading().await?;
        let known: BTreeSet<SegmentId> = ids(&segments);
        match HistoryDescent::new(&storage, &question, segments, fresh).page().await {
            Ok(page) => return Ok(page),
            Err(error) if tries == TRIES => return Err(error),
            Err(error) => {
                let now = segments::visible(history.reader()).await?;
                if known.is_subset(&ids(&now)) {
                    return Err(error);
                }
                tries += 1;
            }
        }
    }
}

fn ids(segments: &[Segment]) -> BTreeSet<SegmentId> {
    segments.iter().map(|segment| segment.id).collect()
}
