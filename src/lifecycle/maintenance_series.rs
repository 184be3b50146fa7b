//! Brings the maintenances of a series in line with it, in one transaction: each missing maintenance is created once,
//! however often this runs and on however many nodes. The organisation and the series must be locked, in this order.
//!
//! Functions return the services that the engine must update after the commit, because a window that is already running
//! starts at once.

use crate::clock::Timestamp;
use crate::lifecycle::maintenances::{self, carry_out};
use crate::model::maintenance::origin::SeriesKey;
use crate::model::maintenance::series::MaintenanceSeries;
use crate::model::maintenance::series::replan::{SeriesReplan, missing};
use crate::model::maintenance::transition::{MaintenanceTransition, OperationContext, RescheduleOptions};
use crate::model::maintenance::{Maintenance, MaintenanceKey};
use crate::model::recurrence::Occurrence;
use crate::model::service::Service;
use crate::store::maintenances::series::links::{self as series_links, SeriesLinks};
use crate::store::maintenances::series::{self as series_rows, occurrences};
use crate::store::maintenances::{due, links};
use crate::store::{MainError, Transaction};

/// The time for which removed windows in the past are remembered, in milliseconds.
const SKIPS_RETENTION_MS: i64 = 7 * crate::clock::DAY_MS;

/// The outcome of planning a series.
#[derive(Debug)]
pub struct PlannedMaintenances {
    /// The maintenances that were created, in the order of their windows.
    pub created: Vec<Maintenance>,
    /// Services that the engine must update.
    pub touched: Vec<Service>,
}

/// Creates the maintenances of the series that are missing at the time of the operation (`stamp.at`), and stores when
/// maintenances are created next.
pub async fn extend_series(
    transaction: &Transaction,
    series: MaintenanceSeries,
    stamp: OperationContext<'_>,
) -> Result<PlannedMaintenances, MainError> {
    let wanted = series.wanted_occurrences(stamp.at);
    let first = wanted.first().map(|window| window.start);
    let standing = occurrences::list_for_update(transaction, series.key, first).await?;
    let skips = occurrences::skips(transaction, series.key).await?;
    let over = skips.iter().copied().filter(|skip| stamp.at.ms_since(*skip) > SKIPS_RETENTION_MS);
    let over: Vec<Timestamp> = over.filter(|skip| first.is_none_or(|first| *skip < first)).collect();
    if !over.is_empty() {
        occurrences::forget_skips(transaction, series.key, &over).await?;
    }
    let missing = missing(&wanted, &standing, &skips);
    let planned = create(transaction, &series, &missing, stamp).await?;
    series_rows::update(transaction, &series.mark_planned(stamp.at, &wanted)).await?;
    Ok(planned)
}

/// Brings the maintenances that have not started in line with the changed series: they are moved, created and
/// deleted. Also stores the series.
pub async fn replan(
    transaction: &Transaction,
    series: MaintenanceSeries,
    announcement: RescheduleOptions,
    stamp: OperationContext<'_>,
) -> Result<(MaintenanceSeries, Vec<Service>), MainError> {
    let wanted = series.wanted_occurrences(stamp.at);
    let first = wanted.first().map(|window| window.start);
    let standing = occurrences::list_for_update(transaction, series.key, first).await?;
    let skips = occurrences::skips(transaction, series.key).await?;
    let plan = SeriesReplan::of(&series.recurrence, &wanted, &standing, &skips);
    for key in &plan.removed {
        maintenances::delete_all(transaction, &[*key]).await?;
    }
    let (old, new): (Vec<Timestamp>, Vec<Timestamp>) = plan.skipped.iter().copied().unzip();
    occurrences::forget_skips(transaction, series.key, &old).await?;
    let new: Vec<_> = new.into_iter().map(|window| (series.key, window)).collect();
    occurrences::skip_all(transaction, &new).await?;
    for (key, occurrence) in &plan.renamed {
        maintenances::set_occurrence(transaction, *key, *occurrence).await?;
    }
    let links = series_links::of(transaction, series.key).await?;
    let mut touched = Vec::new();
    for (key, window) in &plan.followed {
        let of = ChangedSeries { series: &series, links: &links, announcement };
        touched.extend(of.follow(transaction, *key, *window, stamp).await?);
    }
    touched.extend(create(transaction, &series, &plan.created, stamp).await?.touched);
    let series = series.mark_planned(stamp.at, &wanted);
    series_rows::update(transaction, &series).await?;
    Ok((series, touched))
}

/// A changed series, for updating one of its maintenances.
struct ChangedSeries<'a> {
    series: &'a MaintenanceSeries,
    links: &'a SeriesLinks,
    announcement: RescheduleOptions,
}

impl ChangedSeries<'_> {
    async fn follow(
        &self,
        transaction: &Transaction,
        key: MaintenanceKey,
        window: Occurrence,
        stamp: OperationContext<'_>,
    ) -> Result<Vec<Service>, MainError> {
        let Some(before) = due::claim(transaction, key).await? else { return Ok(Vec::new()) };
        maintenances::cover(transaction, key, &self.links.services, stamp.at).await?;
        links::show_on(transaction, key, &self.links.statuspages).await?;
        let after = self.series.follow(&before, window);
        let step = MaintenanceTransition::revise(
            &before,
            Maintenance { updated_at: stamp.at, ..after },
            self.announcement,
            stamp,
        );
        carry_out(transaction, &step, stamp.at).await
    }
}

async fn create(
    transaction: &Transaction,
    series: &MaintenanceSeries,
    windows: &[Occurrence],
    stamp: OperationContext<'_>,
) -> Result<PlannedMaintenances, MainError> {
    let mut planned = PlannedMaintenances { created: Vec::new(), touched: Vec::new() };
    if windows.is_empty() {
        return Ok(planned);
    }
    let with = series_links::of(transaction, series.key).await?;
    for window in windows {
        let new = series.maintenance(*window, stamp.at);
        let new = maintenances::insert(transaction, new, &with.services, &with.statuspages).await?;
        let step = MaintenanceTransition::announce(new, series.message.clone(), stamp);
        planned.touched.extend(carry_out(transaction, &step, stamp.at).await?);
        planned.created.push(step.after);
    }
    Ok(planned)
}

/// Deletes the maintenances of a series that wait for their start; none of them has an effect on services that would have
/// to end.
pub async fn delete_waiting(transaction: &Transaction, series: SeriesKey) -> Result<(), MainError> {
    let waiting = occurrences::keys(transaction, series, true).await?;
    maintenances::delete_all(transaction, &waiting).await
}

/// Deletes a series; its remaining maintenances are independent from now on.
pub async fn delete(transaction: &Transaction, series: SeriesKey) -> Result<(), MainError> {
    let left = occurrences::keys(transaction, series, false).await?;
    maintenances::leave_series(transaction, &left).await?;
    series_rows::delete(transaction, series).await
}
