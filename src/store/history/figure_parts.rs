//! The parts of figures: fresh results one by one, rollups of the sealed ones, and the sealed results of the time
//! that no rollup covers. Together they include each result once.
//!
//! Which time that is depends on the request, so the caller passes it; few results of it are read.

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

/// Attempts to read before giving up, because segments were dropped meanwhile. They stay for a minute, so a single
/// retry is rare.
const ATTEMPTS: u32 = 3;

/// Selects the results to read.
#[derive(Clone, Copy)]
pub struct ResultScope<'a> {
    /// Time of the results.
    pub span: TimeRange,
    /// Only of these locations, unless `None`.
    pub locations: Option<&'a [i32]>,
    /// The time of a rollup (its length and start) that it cannot cover.
    pub slivers: &'a (dyn Fn(RollupLevel, Timestamp) -> Vec<TimeRange> + Sync),
}

/// The parts of the figures of one service.
#[derive(Clone, Debug, Default)]
pub struct FigureParts {
    /// Single results: fresh ones, and sealed ones of the slivers.
    pub samples: Vec<CheckSample>,
    /// Rollups with their lengths. They may reach beyond the span.
    pub rollups: Vec<(RollupLevel, SealedRollup)>,
}

/// The segments of a snapshot whose rows have been read: it holds no connection of the history database.
#[derive(Debug)]
pub struct SegmentView {
    segments: Vec<Segment>,
    storage: SegmentStorage,
}

/// Returns the parts of a service's figures over a span.
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
    /// The segments of a snapshot, whose rows are not needed any more.
    pub async fn of(
        HistorySnapshot { rows, segments, storage }: HistorySnapshot,
    ) -> Result<Self, HistoryError> {
        // Reading a segment takes a connection; a task that kept one here as well could wait for itself.
        rows.end_reading().await?;
        Ok(Self { segments, storage })
    }

    /// Returns true when some of the segments do not count any more: a failure to read them means nothing then.
    pub async fn is_outdated(&self, history: &History) -> Result<bool, HistoryError> {
        let visible = segments::visible(history.reader()).await?;
        let known: BTreeSet<_> = visible.iter().map(|segment| segment.id).collect();
        Ok(self.segments.iter().any(|segment| !known.contains(&segment.id)))
    }

    /// Returns the sealed parts of these services, by service. One statement for segments that are read together, and
    /// a few for slivers.
    ///
    /// # Errors
    ///
    /// Also when a segment was dropped meanwhile.
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
        // Rollups of one start share their slivers.
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

/// Spans in order, those that adjoin as one.
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
