//! Creates the maintenances of series as time goes on: each series is looked at once a day, and has thirty days of
//! maintenances ahead of it.
//!
//! What stands is not created again, so any number of processes may look at once, and a look that was interrupted is made
//! again. After a stop the windows that are over by then are not made up for; one that is running begins.

use std::sync::Arc;

use crate::announcer::Announcer;
use crate::clock::Timestamp;
use crate::clock::guard::ClockGuard;
use crate::lifecycle::maintenance_series;
use crate::model::maintenance::origin::SeriesKey;
use crate::model::maintenance::series::SeriesStatus;
use crate::model::maintenance::step::Stamp;
use crate::store::maintenances::series;
use crate::store::{MainError, organisations};

/// Series looked up at a time.
const PAGE: u64 = 100;

/// Plans the series that are due.
#[derive(Clone, Debug)]
pub struct SeriesPlanner {
    /// The databases of the series, and the way to tell the engine about a window that begins at once.
    pub announcer: Announcer,
    /// Wall time. While it is in doubt nothing is planned: what was created before reaches thirty days ahead.
    pub guard: Arc<ClockGuard>,
}

impl SeriesPlanner {
    /// Looks at every series that is due. Gives the number of maintenances that were created.
    ///
    /// # Errors
    /// When the database fails; what was done stays done, and one series that fails does not stop the others.
    pub async fn run_due(&self) -> Result<usize, MainError> {
        let Some(now) = self.guard.trusted_now() else { return Ok(0) };
        let (mut created, mut failed, mut after) = (0, None, SeriesKey::MIN);
        loop {
            let main = self.announcer.databases.main.reader();
            let keys = series::due(main, now, (after, PAGE)).await?;
            let Some(last) = keys.last() else { return failed.map_or(Ok(created), Err) };
            after = *last;
            for key in keys {
                match self.look_at(key, now).await {
                    Ok(count) => created += count,
                    Err(error) if error.is_unreachable() => return Err(error),
                    Err(error) => failed = Some(error),
                }
            }
        }
    }

    async fn look_at(&self, key: SeriesKey, now: Timestamp) -> Result<usize, MainError> {
        let transaction = self.announcer.databases.main.begin().await?;
        let Some(owner) = series::organisation_of(&transaction, key).await? else { return Ok(0) };
        // The organisation first, as everybody locks who changes what maintenances cover.
        organisations::lock(&transaction, owner).await?;
        let Some(organisation) = organisations::get(&transaction, owner).await? else { return Ok(0) };
        let Some(series) = series::claim(&transaction, key).await? else { return Ok(0) };
        if series.status != SeriesStatus::Active {
            return Ok(0);
        }
        let stamp = Stamp { at: now, locale: &organisation.default_locale };
        let planned = maintenance_series::look(&transaction, series, stamp).await?;
        transaction.commit().await?;
        self.announcer.announce(&planned.touched, organisation.id).await;
        Ok(planned.created.len())
    }
}
