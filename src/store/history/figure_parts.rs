//! The parts of figures: fresh results, rollups of sealed results, and single sealed results for times that no rollup
//! covers (slivers). Together they contain each result exactly once.
//!
//! Which times are slivers depends on the request, so the caller decides it. Slivers are short, so few results are read.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use crate::clock::Timestamp;
use crate::model::history::CheckSample;
use crate::model::rollup::RollupLevel;
use crate::model::service::ServiceKey;
use crate::model::time_range::TimeRange;
use crate::store::error::HistoryError;
use crate::store::history::sealed::SealedRollup;
use crate::store::history::sealed::combined_reads::{self, SegmentItem};
use crate::store::history::segments::storage::{ReadingPace, SegmentStorage};
use crate::store::history::segments::{self, Segment};
use crate::store::history::{History, HistorySnapshot, samples};

/// Maximum number of attempts. An attempt fails if a segment is dropped while it is read; segments stay for a minute
/// after their retirement, so even one retry is rare.
const ATTEMPTS: u32 = 3;

/// Selects the results from which figures are computed.
#[derive(Clone, Copy)]
pub struct ResultScope<'a> {
    /// Time range of the results.
    pub span: TimeRange,
    /// Numbers of the locations whose results are included; `None` = all.
    pub locations: Option<&'a [i32]>,
    /// Returns the slivers of a rollup with this level and start: the time ranges for which the rollup cannot be used.
    pub slivers: &'a (dyn Fn(RollupLevel, Timestamp) -> Vec<TimeRange> + Sync),
}

/// The parts of the figures of one service.
#[derive(Clone, Debug, Default)]
pub struct FigureParts {
    /// Single results: unsealed ones, and sealed ones from slivers.
    pub samples: Vec<CheckSample>,
    /// Rollups with their levels. They may extend beyond the requested time range.
    pub rollups: Vec<(RollupLevel, SealedRollup)>,
}

/// The segments of a snapshot whose rows have already been read. Holds no connection to the history database.
#[derive(Debug)]
pub struct SegmentView {
    segments: Vec<Segment>,
    storage: SegmentStorage,
}

/// Reads the parts of the figures of a service.
pub async fn of_service(
    history: &History,
    service: ServiceKey,
    scope: &ResultScope<'_>,
) -> Result<FigureParts, HistoryError> {
    let mut attempt = 1;
    loop {
        let snapshot = history.snapshot().await?;
        let fresh = samples::fresh(&snapshot.rows, service, scope.span, scope.locations).await?;
        let view = SegmentView::of(snapshot).await?;
        match view.sealed(&[service], scope).await {
            Ok(mut found) => {
                let mut parts = found.remove(&service).unwrap_or_default();
                parts.samples.extend(fresh);
                return Ok(parts);
            }
            Err(error) if attempt == ATTEMPTS || !view.is_outdated(history).await? => return Err(error),
            Err(_) => attempt += 1,
        }
    }
}

impl SegmentView {
    /// Ends the snapshot's transaction, because its rows are no longer needed, and keeps its segments.
    pub async fn of(
        HistorySnapshot { rows, segments, storage }: HistorySnapshot,
    ) -> Result<Self, HistoryError> {
        // Reading a segment takes a connection. A task that kept a connection here could wait forever for a second one.
        rows.end_reading().await?;
        Ok(Self { segments, storage })
    }

    /// Returns true if some of the segments have been retired, so that a failure to read them is no damage.
    pub async fn is_outdated(&self, history: &History) -> Result<bool, HistoryError> {
        let visible = segments::visible(history.reader()).await?;
        let known: BTreeSet<_> = visible.iter().map(|segment| segment.id).collect();
        Ok(self.segments.iter().any(|segment| !known.contains(&segment.id)))
    }

    /// Returns the sealed parts of these services, by service. Uses one statement for all segments that can be read
    /// together, and additional ones for slivers.
    ///
    /// # Errors
    ///
    /// Also when a segment is dropped meanwhile.
    pub async fn sealed(
        &self,
        services: &[ServiceKey],
        scope: &ResultScope<'_>,
    ) -> Result<BTreeMap<ServiceKey, FigureParts>, HistoryError> {
        let TimeRange { from, to } = scope.span;
        let overlaps = |segment: &&Segment| segment.purpose.from < to && from < segment.purpose.to;
        let segments: Vec<Segment> = self.segments.iter().filter(overlaps).copied().collect();
        let ReadingPace { together, at_once } = self.storage.pace();
        let mut found: BTreeMap<ServiceKey, FigureParts> = BTreeMap::new();
        let mut read = stream::iter(segments.chunks(together))
            .map(|segments| self.of_segments(segments, services, scope))
            .buffered(at_once);
        while let Some(of_segments) = read.try_next().await? {
            for (service, parts) in of_segments {
                let known = found.entry(service).or_default();
                known.rollups.extend(parts.rollups);
                known.samples.extend(parts.samples);
            }
        }
        Ok(found)
    }

    async fn of_segments(
        &self,
        segments: &[Segment],
        services: &[ServiceKey],
        scope: &ResultScope<'_>,
    ) -> Result<BTreeMap<ServiceKey, FigureParts>, HistoryError> {
        let mut found: BTreeMap<ServiceKey, FigureParts> = BTreeMap::new();
        let open = self.storage.open(segments).await?;
        // Rollups with the same start have the same slivers.
        let mut starts_of: BTreeMap<(usize, ServiceKey), BTreeSet<Timestamp>> = BTreeMap::new();
        for SegmentItem { index, item: rollup } in
            combined_reads::rollups(&open, services, scope.span).await?
        {
            if scope.takes(rollup.series.location) {
                let level = segments[index].purpose.level.rollups();
                starts_of.entry((index, rollup.series.service)).or_default().insert(rollup.start);
                found.entry(rollup.series.service).or_default().rollups.push((level, rollup));
            }
        }
        for ((index, service), starts) in starts_of {
            let level = segments[index].purpose.level.rollups();
            let slivers = starts.into_iter().flat_map(|start| (scope.slivers)(level, start));
            for span in joined(slivers) {
                let samples = samples::sealed(&open[index], service, span).await?;
                let wanted = samples.into_iter().filter(|sample| scope.takes(sample.location));
                found.entry(service).or_default().samples.extend(wanted);
            }
        }
        Ok(found)
    }
}

impl ResultScope<'_> {
    fn takes(&self, location: i32) -> bool {
        self.locations.is_none_or(|wanted| wanted.contains(&location))
    }
}

impl fmt::Debug for ResultScope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("span", &self.span)
            .field("locations", &self.locations)
            .finish_non_exhaustive()
    }
}

/// Time ranges in their order, with adjacent ones joined into one.
fn joined(spans: impl Iterator<Item = TimeRange>) -> Vec<TimeRange> {
    let mut joined: Vec<TimeRange> = Vec::new();
    for span in spans {
        match joined.last_mut() {
            Some(last) if last.to == span.from => last.to = span.to,
            _ => joined.push(span),
        }
    }
    joined
}
