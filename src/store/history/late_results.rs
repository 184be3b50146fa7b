//! Late results: results whose time is already sealed. They may have been sealed themselves, so they are looked up in the
//! blocks before they are stored as rows. Rows and blocks thus never contain the same check, and no figure counts a
//! check twice.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::clock::Timestamp;
use crate::model::history::CheckRecord;
use crate::model::service::ServiceKey;
use crate::model::time_range::TimeRange;
use crate::store::connection::StoreConnection;
use crate::store::error::HistoryError;
use crate::store::history::blocks::BlockBody;
use crate::store::history::insert::chunks;
use crate::store::history::locations::LocationNumbers;
use crate::store::history::progress;
use crate::store::history::sealed::{self, CheckSeries};
use crate::store::history::segments::storage::SegmentStorage;
use crate::store::history::segments::{self, Segment};

/// Number of services per query of a segment.
const SERVICES_AT_ONCE: usize = 512;

/// The start times of late results, by series.
type Late = BTreeMap<CheckSeries, BTreeSet<Timestamp>>;

/// The results that are not contained in a block. Nothing else is sealed before the transaction ends, so the answer stays
/// valid until then.
pub(super) async fn unsealed<'a>(
    connection: &dyn StoreConnection,
    storage: &SegmentStorage,
    records: &'a [CheckRecord],
    locations: &LocationNumbers,
) -> Result<Cow<'a, [CheckRecord]>, HistoryError> {
    let boundary = progress::lock_sealing_horizon(connection).await?;
    let mut late = Late::new();
    for record in records.iter().filter(|record| record.checked_at < boundary) {
        let series = CheckSeries { service: record.service, location: locations.number(&record.location)? };
        late.entry(series).or_default().insert(record.checked_at);
    }
    if late.is_empty() {
        return Ok(Cow::Borrowed(records));
    }
    progress::hold_off_moves(connection).await?;
    let sealed_already = sealed_times(storage, &segments::visible(connection).await?, &late).await?;
    if sealed_already.is_empty() {
        return Ok(Cow::Borrowed(records));
    }
    let is_new = |record: &&CheckRecord| {
        let location = locations.number(&record.location).unwrap_or_default();
        !sealed_already.contains(&(CheckSeries { service: record.service, location }, record.checked_at))
    };
    Ok(Cow::Owned(records.iter().filter(is_new).cloned().collect()))
}

/// The checks in `late` that are sealed. Segments are queried for many services at a time. Only blocks whose time range
/// contains one of the requested times are read.
async fn sealed_times(
    storage: &SegmentStorage,
    segments: &[Segment],
    late: &Late,
) -> Result<HashSet<(CheckSeries, Timestamp)>, HistoryError> {
    let mut found = HashSet::new();
    for segment in segments {
        let Some((services, span)) = wanted_of(segment, late) else { continue };
        let opened = match storage.connect(segment.id).await {
            // Results in a missing segment cannot be compared. Losing new results would be worse than storing them twice.
            Err(error) if storage.is_lost(segment.id) => {
                tracing::error!(segment = segment.id, %error, "segment is missing; late results of its time may be stored twice");
                continue;
            }
            opened => opened?,
        };
        for some in chunks(&services, SERVICES_AT_ONCE) {
            for summary in sealed::summaries_of(&opened, segment, some, span).await? {
                let Some(times) = late.get(&summary.series) else { continue };
                if times.range(summary.first_at..=summary.last_at).next().is_none() {
                    continue;
                }
                let bytes = sealed::body(&opened, segment, &summary).await?;
                let votes = BlockBody::open(&bytes).and_then(|body| body.votes());
                let sealed: Vec<Timestamp> = match votes {
                    Ok(votes) => votes.iter().map(|vote| vote.checked_at).collect(),
                    // One unreadable block must not keep all other results from being written. The late results from its
                    // period are treated as contained in it, which is most likely.
                    Err(error) => {
                        tracing::error!(
                            error = %sealed::damaged(&summary, &error),
                            "block unreadable; late results from its period are dropped as already stored"
                        );
                        times.range(summary.first_at..=summary.last_at).copied().collect()
                    }
                };
                let known = sealed.into_iter().filter(|at| times.contains(at));
                found.extend(known.map(|at| (summary.series, at)));
            }
        }
    }
    Ok(found)
}

/// The services with late results in the time of this segment, and the range of their times; `None` if there are none.
fn wanted_of(segment: &Segment, late: &Late) -> Option<(Vec<ServiceKey>, TimeRange)> {
    let (from, to) = (segment.purpose.from, segment.purpose.to);
    let mut services = Vec::new();
    let (mut first, mut last) = (to, from);
    for (series, times) in late {
        let mut inside = times.range(from..to);
        let Some(earliest) = inside.next() else { continue };
        first = first.min(*earliest);
        last = last.max(*inside.next_back().unwrap_or(earliest));
        services.push(series.service);
    }
    services.dedup();
    (!services.is_empty()).then_some((services, TimeRange { from: first, to: last.plus_ms(1) }))
}
