//! Sums of a service's measurements: from rollups where these fit the range, and from single results for the rest.

use crate::model::service::ServiceKey;
use crate::stats::rollup::{RollupQuery, RollupRoot, TimeBuckets};
use crate::store::HistoryError;
use crate::store::history::History;
use crate::store::history::figure_parts::{self, FigureParts, ResultScope};
use crate::store::history::sealed::damaged_rollup;

/// Reads the sums of a service, of these locations only (`None` = all).
///
/// # Errors
/// When the history database fails, or a stored rollup is damaged.
pub async fn of(
    history: &History,
    service: ServiceKey,
    wanted: RollupQuery,
    locations: Option<&[i32]>,
) -> Result<TimeBuckets, HistoryError> {
    let slivers = |level, start| wanted.slivers(level, start).iter().collect();
    let scope = ResultScope { span: wanted.range(), locations, slivers: &slivers };
    let parts = figure_parts::of_service(history, service, &scope).await?;
    add_up(wanted, &parts)
}

fn add_up(wanted: RollupQuery, parts: &FigureParts) -> Result<TimeBuckets, HistoryError> {
    let mut buckets = TimeBuckets::new(wanted);
    for (level, rollup) in &parts.rollups {
        let root = RollupRoot { level: *level, start: rollup.start };
        let added = buckets.add_rollup(root, &rollup.body);
        added.map_err(|error| damaged_rollup(rollup, &error))?;
    }
    for sample in &parts.samples {
        buckets.add_sample(sample);
    }
    Ok(buckets)
}
