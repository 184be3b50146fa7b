//! The occurrences of series: the maintenance for each window, and the windows that members skipped.

use std::collections::BTreeSet;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ActiveValue::Set, ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use watchkeeper_entities::{maintenance, maintenance_skip};

use crate::clock::Timestamp;
use crate::model::maintenance::origin::{SeriesKey, SeriesOrigin};
use crate::model::maintenance::series::replan::{ReplanRole, SeriesMember};
use crate::model::maintenance::{Maintenance, MaintenanceKey, MaintenanceStatus};
use crate::store::error::MainError;
use crate::store::maintenances::from_row;

const SCHEDULED: &str = MaintenanceStatus::Scheduled.as_str();

/// A window of a series that has a maintenance or is skipped, by its start as given by the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SettledOccurrence {
    /// Key of the series.
    pub series: SeriesKey,
    /// Start of the window.
    pub start: Timestamp,
}

/// The maintenances of the series that are scheduled, or whose window starts at or after `from`, in the order of their
/// keys. They are locked until the transaction ends.
pub async fn list_for_update(
    connection: &dyn StoreConnection,
    series: SeriesKey,
    from: Option<Timestamp>,
) -> Result<Vec<SeriesMember>, MainError> {
    use maintenance::{Column, Entity};
    let waiting = Condition::any().add(Column::Status.eq(SCHEDULED));
    let rows: Vec<(i64, i64, String, bool)> = Entity::find()
        .select_only()
        .columns([Column::Id, Column::Occurrence, Column::Status, Column::IsAdjusted])
        .filter(Column::SeriesId.eq(series))
        .filter(waiting.add_option(from.map(|from| Column::Occurrence.gte(from.ms()))))
        .order_by_asc(Column::Id)
        .lock_exclusive()
        .into_tuple()
        .all(&connection)
        .await?;
    let standing = |(key, occurrence, status, is_adjusted): (i64, i64, String, bool)| {
        let role = match (status == SCHEDULED, is_adjusted) {
            (true, false) => ReplanRole::Follows,
            (true, true) => ReplanRole::Stays,
            (false, _) => ReplanRole::Past,
        };
        SeriesMember { key, occurrence: Timestamp::from_ms(occurrence), role }
    };
    Ok(rows.into_iter().map(standing).collect())
}

/// The maintenances of the series that are scheduled, or whose window starts at or after `from`, sorted by their window.
pub async fn of(
    connection: &dyn StoreConnection,
    series: SeriesKey,
    from: Option<Timestamp>,
) -> Result<Vec<Maintenance>, MainError> {
    use maintenance::{Column, Entity};
    let waiting = Condition::any().add(Column::Status.eq(SCHEDULED));
    let rows = Entity::find()
        .filter(Column::SeriesId.eq(series))
        .filter(waiting.add_option(from.map(|from| Column::Occurrence.gte(from.ms()))))
        .order_by_asc(Column::Occurrence)
        .all(&connection)
        .await?;
    rows.iter().map(from_row).collect()
}

/// The windows of these series that start from `from` to `to`, both included, and that have a maintenance or are skipped.
pub async fn settled(
    connection: &dyn StoreConnection,
    series: &[SeriesKey],
    from: Timestamp,
    to: Timestamp,
) -> Result<BTreeSet<SettledOccurrence>, MainError> {
    let keys = || series.iter().copied();
    let created = maintenance::Entity::find()
        .select_only()
        .columns([maintenance::Column::SeriesId, maintenance::Column::Occurrence])
        .filter(maintenance::Column::SeriesId.is_in(keys()))
        .filter(maintenance::Column::Occurrence.between(from.ms(), to.ms()));
    let skipped = maintenance_skip::Entity::find()
        .select_only()
        .columns([maintenance_skip::Column::SeriesId, maintenance_skip::Column::Occurrence])
        .filter(maintenance_skip::Column::SeriesId.is_in(keys()))
        .filter(maintenance_skip::Column::Occurrence.between(from.ms(), to.ms()));
    let mut found: Vec<(i64, i64)> = created.into_tuple().all(&connection).await?;
    found.extend(skipped.into_tuple::<(i64, i64)>().all(&connection).await?);
    let window = |(series, start)| SettledOccurrence { series, start: Timestamp::from_ms(start) };
    Ok(found.into_iter().map(window).collect())
}

/// The keys of the maintenances of the series: only of scheduled ones if `are_waiting` is true, otherwise of all.
pub async fn keys(
    connection: &dyn StoreConnection,
    series: SeriesKey,
    are_waiting: bool,
) -> Result<Vec<MaintenanceKey>, MainError> {
    use maintenance::{Column, Entity};
    let mut mine = Entity::find().select_only().column(Column::Id).filter(Column::SeriesId.eq(series));
    if are_waiting {
        mine = mine.filter(Column::Status.eq(SCHEDULED));
    }
    Ok(mine.order_by_asc(Column::Id).into_tuple().all(&connection).await?)
}

/// Skips the window of this maintenance, so that the series does not create it again. Does nothing without a series.
pub async fn skip(connection: &dyn StoreConnection, maintenance: &Maintenance) -> Result<(), MainError> {
    match maintenance.origin {
        Some(SeriesOrigin { series, occurrence, .. }) => skip_all(connection, &[(series, occurrence)]).await,
        None => Ok(()),
    }
}

/// Skips windows of series, so that no maintenances are created for them.
pub async fn skip_all(
    connection: &dyn StoreConnection,
    windows: &[(SeriesKey, Timestamp)],
) -> Result<(), MainError> {
    use maintenance_skip::{ActiveModel, Column, Entity};
    let row = |(series, occurrence): &(SeriesKey, Timestamp)| ActiveModel {
        series_id: Set(*series),
        occurrence: Set(occurrence.ms()),
    };
    if windows.is_empty() {
        return Ok(());
    }
    let known = OnConflict::columns([Column::SeriesId, Column::Occurrence]).do_nothing().to_owned();
    let rows = Entity::insert_many(windows.iter().map(row)).on_conflict(known);
    rows.exec_without_returning(&connection).await?;
    Ok(())
}

/// The skipped windows of the series, in ascending order.
pub async fn skips(connection: &dyn StoreConnection, series: SeriesKey) -> Result<Vec<Timestamp>, MainError> {
    use maintenance_skip::{Column, Entity};
    let skips = Entity::find()
        .select_only()
        .column(Column::Occurrence)
        .filter(Column::SeriesId.eq(series))
        .order_by_asc(Column::Occurrence);
    let skips: Vec<i64> = skips.into_tuple().all(&connection).await?;
    Ok(skips.into_iter().map(Timestamp::from_ms).collect())
}

/// Deletes the records of these skipped windows.
pub async fn forget_skips(
    connection: &dyn StoreConnection,
    series: SeriesKey,
    windows: &[Timestamp],
) -> Result<(), MainError> {
    use maintenance_skip::{Column, Entity};
    let moments = windows.iter().map(|window| window.ms());
    let mine = Entity::delete_many().filter(Column::SeriesId.eq(series));
    mine.filter(Column::Occurrence.is_in(moments)).exec(&connection).await?;
    Ok(())
}
