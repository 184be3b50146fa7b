//! Sums of a service's measurements: from rollups where these fit the range, and from single results for the rest.

use crate::http::kit::error::ApiError;
use crate::http::v1::state::AppState;
use crate::model::service::ServiceKey;
use crate::stats::rollup::{RollupQuery, RollupRoot, TimeBuckets};
use crate::store::HistoryError;
use crate::store::history::figure_parts::{self, FigureParts, ResultScope};
use crate::store::history::sealed::damaged_rollup;

/// Reads the sums of a service, of these locations only (`None` = all).
pub(super) async fn of(
    state: &AppState,
    service: ServiceKey,
    wanted: RollupQuery,
    locations: Option<&[i32]>,
) -> Result<TimeBuckets, ApiError> {
    let slivers = |level, start| wanted.slivers(level, start).iter().collect();
    let scope = ResultScope { span: wanted.range(), locations, slivers: &slivers };
    let parts = figure_parts::of_service(&state.databases.history, service, &scope).await?;
    Ok(add_up(wanted, &parts)?)
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
