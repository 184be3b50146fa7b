//! The newest trusted time. A wall clock that is wrong at the next start is detected by it (`clock::guard`).

use std::time::Duration;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ActiveValue::Set, EntityTrait};
use watchkeeper_entities::clock_mark::{ActiveModel, Column, Entity};

use crate::clock::Timestamp;
use crate::clock::judgement::{ClockMark, DoubtedMark};
use crate::store::error::MainError;

/// Id of the only row of the table.
const ONLY: i32 = 1;

/// Returns the stored mark; `None` if none has been stored yet.
pub async fn find(connection: &dyn StoreConnection) -> Result<Option<ClockMark>, MainError> {
    let row = Entity::find_by_id(ONLY).one(&connection).await?;
    Ok(row.map(|row| {
        let steady = Duration::from_millis(row.steady_ms.unsigned_abs());
        let doubted = row.doubted_at.map(|at| DoubtedMark { at: Timestamp::from_ms(at), steady });
        ClockMark { newest: Timestamp::from_ms(row.newest_at), doubted }
    }))
}

/// Stores the mark and replaces the former one.
pub async fn put(connection: &dyn StoreConnection, mark: ClockMark) -> Result<(), MainError> {
    let steady = mark.doubted.map_or(Duration::ZERO, |doubted| doubted.steady);
    let row = ActiveModel {
        id: Set(ONLY),
        newest_at: Set(mark.newest.ms()),
        doubted_at: Set(mark.doubted.map(|doubted| doubted.at.ms())),
        steady_ms: Set(i64::try_from(steady.as_millis()).unwrap_or(i64::MAX)),
    };
    let columns = [Column::NewestAt, Column::DoubtedAt, Column::SteadyMs];
    let replace = OnConflict::column(Column::Id).update_columns(columns).to_owned();
    Entity::insert(row).on_conflict(replace).exec_without_returning(&connection).await?;
    Ok(())
}
