//! Creates the maintenances of series over time: each series is planned once a day, thirty days ahead.
//!
//! Existing maintenances are not created again, so several processes may plan at the same time, and an interrupted
//! planning is repeated. After a stop, windows that are over are skipped; a window that is running starts.

use std::sync::Arc;

use crate::clock::Timestamp;
use crate::clock::guard::ClockGuard;
use crate::lifecycle::maintenance_series;
use crate::model::maintenance::origin::SeriesKey;
use crate::model::maintenance::series::SeriesStatus;
use crate::model::maintenance::transition::OperationContext;
use crate::service_router::ServiceRouter;
use crate::store::maintenances::series;
use crate::store::{MainError, organisations};

/// Maximum number of series read at a time.
const PAGE: u64 = 100;

/// Plans the series that are due.
#[derive(Clone, Debug)]
pub struct SeriesPlanner {
    /// The router, with the databases of the series and the engine, for a window that starts at once.
    pub router: ServiceRouter,
    /// The guard of the wall clock. While the clock is not trusted nothing is planned; existing maintenances reach thirty
    /// days ahead.
    pub guard: Arc<ClockGuard>,
}

impl SeriesPlanner {
    /// Plans every due series. Returns the number of created maintenances.
    ///
    /// # Errors
    /// When the database fails; finished series are kept, and one failing series does not stop the others.
    pub async fn run_due(&self) -> Result<usize, MainError> {
        let Some(now) = self.guard.trusted_now() else { return Ok(0) };
        let (mut created, mut failed, mut after) = (0, None, SeriesKey::MIN);
        loop {
            let main = self.router.databases.main.reader();
            let keys = series::due(main, now, after, PAGE).await?;
            let Some(last) = keys.last() else { return failed.map_or(Ok(created), Err) };
            after = *last;
            for key in keys {
                match self.extend_series(key, now).await {
                    Ok(count) => created += count,
                    Err(error) if error.is_unreachable() => return Err(error),
                    Err(error) => failed = Some(error),
                }
            }
        }
    }

    async fn extend_series(&self, key: SeriesKey, now: Timestamp) -> Result<usize, MainError> {
        let transaction = self.router.databases.main.begin().await?;
        let Some(owner) = series::organisation_of(&transaction, key).await? else { return Ok(0) };
        // The organisation is locked first, as in every change of the coverage of maintenances.
        organisations::lock(&transaction, owner).await?;
        let Some(organisation) = organisations::get(&transaction, owner).await? else { return Ok(0) };
        let Some(series) = series::claim(&transaction, key).await? else { return Ok(0) };
        if series.status != SeriesStatus::Active {
            return Ok(0);
        }
        let stamp = OperationContext { at: now, locale: &organisation.default_locale };
        let planned = maintenance_series::extend_series(&transaction, series, stamp).await?;
        transaction.commit().await?;
        self.router.announce(&planned.touched, organisation.id).await;
        Ok(planned.created.len())
    }
}
