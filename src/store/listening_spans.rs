//! The time spans in which nodes listened for pings, each stored with the id of the node's data folder.

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::Expr;
use sea_orm::{
    ActiveValue::NotSet, ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect,
    Select,
};
use watchkeeper_entities::listening_span::{ActiveModel, Column, Entity};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::store::error::MainError;

/// The start of a span, and the last time at which the node was known to listen.
pub type ListeningSpan = (Timestamp, Timestamp);

/// Maximum number of spans that are read: the program remembers no more.
const READ_MAX: u64 = 64;
/// Maximum number of rows; older ones are deleted.
const SPANS_MAX: i64 = 1_000;

/// Stores a span of this node; returns its database key.
pub async fn insert(
    connection: &dyn StoreConnection,
    node: Id,
    (from, to): ListeningSpan,
) -> Result<i64, MainError> {
    let row =
        ActiveModel { id: NotSet, node: Set(node.to_string()), from_at: Set(from.ms()), to_at: Set(to.ms()) };
    let key = Entity::insert(row).exec(&connection).await?.last_insert_id;
    Entity::delete_many().filter(Column::Id.lte(key - SPANS_MAX)).exec(&connection).await?;
    Ok(key)
}

/// Extends a span to `to`; returns true if the span still exists.
pub async fn extend(connection: &dyn StoreConnection, key: i64, to: Timestamp) -> Result<bool, MainError> {
    let update = Entity::update_many().col_expr(Column::ToAt, Expr::value(to.ms()));
    Ok(update.filter(Column::Id.eq(key)).exec(&connection).await?.rows_affected > 0)
}

/// The newest spans of all nodes, newest first.
pub async fn newest(connection: &dyn StoreConnection) -> Result<Vec<ListeningSpan>, MainError> {
    read(connection, Entity::find()).await
}

/// The newest spans of one node, newest first.
pub async fn newest_of(connection: &dyn StoreConnection, node: Id) -> Result<Vec<ListeningSpan>, MainError> {
    read(connection, Entity::find().filter(Column::Node.eq(node.to_string()))).await
}

async fn read(
    connection: &dyn StoreConnection,
    wanted: Select<Entity>,
) -> Result<Vec<ListeningSpan>, MainError> {
    let rows = wanted.order_by_desc(Column::Id).limit(READ_MAX).all(&connection).await?;
    let span = |row: watchkeeper_entities::listening_span::Model| {
        (Timestamp::from_ms(row.from_at), Timestamp::from_ms(row.to_at))
    };
    Ok(rows.into_iter().map(span).collect())
}
