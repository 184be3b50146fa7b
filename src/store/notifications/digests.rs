//! Messages that a digest may include and replace.

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Select};
use watchkeeper_entities::notification_delivery::{Column, Entity};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::notification::delivery::{Delivery, DeliveryStatus};
use crate::store::error::MainError;
use crate::store::notifications::from_row;

/// Number of rows per statement.
const CHUNK: usize = 500;

/// Selects the waiting messages of a channel, except those for a contact, which are never part of a digest.
fn waiting(channel: i64) -> Select<Entity> {
    Entity::find()
        .filter(Column::ChannelId.eq(channel))
        .filter(Column::EndedAt.is_null())
        .filter(Column::ContactId.is_null())
}

/// The waiting messages of a channel whose hold has ended at `now`, oldest first.
pub async fn released_by(
    connection: &dyn StoreConnection,
    channel: i64,
    now: Timestamp,
    limit: u64,
) -> Result<Vec<Delivery>, MainError> {
    let due = waiting(channel).filter(Column::HeldUntil.lte(now.ms())).order_by_asc(Column::Id).limit(limit);
    due.all(&connection).await?.iter().map(from_row).collect()
}

/// The subjects of the messages of a channel that wait without a hold.
pub async fn subjects_not_held(
    connection: &dyn StoreConnection,
    channel: i64,
) -> Result<Vec<String>, MainError> {
    let free = waiting(channel).select_only().column(Column::Subject).distinct();
    Ok(free.filter(Column::HeldUntil.is_null()).into_tuple().all(&connection).await?)
}

/// Ends messages that a digest replaces.
pub async fn end_gathered(
    connection: &dyn StoreConnection,
    keys: &[i64],
    digest: Id,
    now: Timestamp,
) -> Result<(), MainError> {
    for some in keys.chunks(CHUNK) {
        Entity::update_many()
            .col_expr(Column::Status, Expr::value(DeliveryStatus::Gathered.as_str()))
            .col_expr(Column::DueAt, Expr::value(None::<i64>))
            .col_expr(Column::EndedAt, Expr::value(now.ms()))
            .col_expr(Column::DigestId, Expr::value(digest.as_str()))
            .filter(Column::Id.is_in(some.iter().copied()))
            .exec(&connection)
            .await?;
    }
    Ok(())
}
