//! Sums of a service's measurements: from rollups as far as they fit, and from single results for the rest.

use crate::http::kit::error::ApiError;
use crate::http::v1::state::AppState;
use crate::model::service::ServiceKey;
use crate::stats::rollup::{Buckets, Root, Wanted};
use crate::store::HistoryError;
use crate::store::history::parts::{self, Parts, Scope};
use crate::store::history::sealed::damaged_rollup;

/// The sums of a service, restricted to these locations unless `None`.
pub(super) async fn of(
    state: &AppState,
    service: ServiceKey,
    wanted: Wanted,
    locations: Option<&[i32]>,
) -> Result<Buckets, ApiError> {
    let slivers = |level, start| wanted.slivers(level, start).iter().collect();
    let scope = Scope { span: wanted.range(), locations, slivers: &slivers };
    let parts = parts::of_service(&state.databases.history, service, &scope).await?;
    Ok(add_up(wanted, &parts)?)
}

fn add_up(wanted: Wanted, parts: &Parts) -> Result<Buckets, HistoryError> {
    let mut buckets = Buckets::new(wanted);
    for (level, rollup) in &parts.rollups {
        let root = Root { level: *level, start: rollup.start };
        let added = buckets.add_rollup(root, &rollup.body);
        added.map_err(|error| damaged_rollup(rollup, &error))?;
    }
    for sample in &parts.samples {
        buckets.add_sample(sample);
    }
    Ok(buckets)
}
