//! The check history of a service, newest first (contract 4.8): rows and blocks read as one.
//!
//! A page shows the contents of rows and blocks as of one moment, whatever is sealed or merged meanwhile. An
//! unreadable block is an error, never a shorter page. `descent` decides in which order blocks are read.

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

/// Attempts to read a page, which starts over when a segment was dropped while it was read. A segment stays for a
/// minute after its last new reader, so a single retry is rare already.
const TRIES: usize = 3;

/// At most `limit` entries of the service, newest first.
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
        // A page waits for segments without holding a connection; otherwise pages could wait for each other.
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
