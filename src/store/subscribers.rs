//! Subscribers of status pages. Every finder is scoped by page, which the caller has found in its organisation.
//!
//! To add a subscriber, the caller must hold the lock of the organisation, so that neither the page nor the components
//! are deleted meanwhile.

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{Expr, LockType};
use sea_orm::{
    ActiveValue::NotSet, ActiveValue::Set, ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder,
    QuerySelect, Select,
};
use watchkeeper_entities::subscriber::{ActiveModel, Column, Entity, Model};
use watchkeeper_entities::{component, subscriber_component};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::statuspage::word::SubscriberChannel;
use crate::model::subscriber::{ChosenComponent, PageSubscriber, SubscriberAddress, SubscriberStatus};
use crate::store::error::MainError;
use crate::store::page_window::PageWindow;

/// Number of subscribers whose components are read with one statement.
const CHUNK: usize = 500;

/// The subscribers that a list shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubscriberFilter {
    /// Only these channels; empty = all.
    pub channels: Vec<SubscriberChannel>,
    /// Only these states; empty = all.
    pub statuses: Vec<SubscriberStatus>,
}

fn of_page(page: i64) -> Select<Entity> {
    Entity::find().filter(Column::StatuspageId.eq(page))
}

impl SubscriberFilter {
    fn narrow(&self, query: Select<Entity>) -> Select<Entity> {
        let mut query = query;
        if !self.channels.is_empty() {
            query = query.filter(Column::Channel.is_in(self.channels.iter().map(|channel| channel.as_str())));
        }
        if !self.statuses.is_empty() {
            query = query.filter(Column::Status.is_in(self.statuses.iter().map(|status| status.as_str())));
        }
        query
    }
}

/// The subscribers on this page of the list, oldest first, and their total number.
pub async fn list(
    connection: &dyn StoreConnection,
    page: i64,
    filter: &SubscriberFilter,
    window: PageWindow,
) -> Result<(Vec<PageSubscriber>, u64), MainError> {
    let wanted = filter.narrow(of_page(page));
    let total = wanted.clone().count(&connection).await?;
    let rows = wanted.order_by_asc(Column::Id).offset(window.offset).limit(window.limit);
    Ok((read_all(connection, rows.all(&connection).await?).await?, total))
}

/// At most `most` subscribers of the page with keys above `key`, in ascending order.
pub async fn after(
    connection: &dyn StoreConnection,
    page: i64,
    key: i64,
    most: u64,
) -> Result<Vec<PageSubscriber>, MainError> {
    let rows = of_page(page).filter(Column::Id.gt(key)).order_by_asc(Column::Id).limit(most);
    read_all(connection, rows.all(&connection).await?).await
}

/// The subscriber of the page with this id.
pub async fn find(
    connection: &dyn StoreConnection,
    page: i64,
    id: Id,
) -> Result<Option<PageSubscriber>, MainError> {
    let row = of_page(page).filter(Column::PublicId.eq(id.as_str())).one(&connection).await?;
    Ok(read_all(connection, row.into_iter().collect()).await?.pop())
}

/// The subscriber of the page with this address.
pub async fn find_address(
    connection: &dyn StoreConnection,
    page: i64,
    hash: &[u8; 32],
) -> Result<Option<PageSubscriber>, MainError> {
    let row = of_page(page).filter(Column::AddressHash.eq(hash.to_vec())).one(&connection).await?;
    Ok(read_all(connection, row.into_iter().collect()).await?.pop())
}

/// Returns the number of subscribers of the page, which counts towards the quota `subscribers`.
pub async fn count(connection: &dyn StoreConnection, page: i64) -> Result<u64, MainError> {
    Ok(of_page(page).count(&connection).await?)
}

/// The subscribers with these keys, of any page, by key.
pub async fn with_keys(
    connection: &dyn StoreConnection,
    keys: &[i64],
) -> Result<HashMap<i64, PageSubscriber>, MainError> {
    let mut found = HashMap::with_capacity(keys.len());
    for some in keys.chunks(CHUNK) {
        let rows = Entity::find().filter(Column::Id.is_in(some.iter().copied())).all(&connection).await?;
        let read = read_all(connection, rows).await?;
        found.extend(read.into_iter().map(|subscriber| (subscriber.key, subscriber)));
    }
    Ok(found)
}

/// The subscriber with this id, of any page; locked until the transaction ends.
pub async fn find_for_update(
    connection: &dyn StoreConnection,
    id: Id,
) -> Result<Option<PageSubscriber>, MainError> {
    let row =
        Entity::find().filter(Column::PublicId.eq(id.as_str())).lock_exclusive().one(&connection).await?;
    Ok(read_all(connection, row.into_iter().collect()).await?.pop())
}

/// At most `most` active subscribers of the page with keys above `key`, in ascending order.
pub async fn active_after(
    connection: &dyn StoreConnection,
    page: i64,
    key: i64,
    most: u64,
) -> Result<Vec<PageSubscriber>, MainError> {
    let active = of_page(page).filter(Column::Status.eq(SubscriberStatus::Active.as_str()));
    let rows = active.filter(Column::Id.gt(key)).order_by_asc(Column::Id).limit(most);
    // Messages to them are stored in the same transaction, so that none may be deleted meanwhile.
    let rows = rows.lock(LockType::KeyShare);
    read_all(connection, rows.all(&connection).await?).await
}

/// Makes a subscriber active.
pub async fn activate(connection: &dyn StoreConnection, key: i64, now: Timestamp) -> Result<(), MainError> {
    Entity::update_many()
        .col_expr(Column::Status, Expr::value(SubscriberStatus::Active.as_str()))
        .col_expr(Column::ConfirmedAt, Expr::value(now.ms()))
        .col_expr(Column::AskedAt, Expr::value(None::<i64>))
        .col_expr(Column::DisabledReason, Expr::value(None::<String>))
        .col_expr(Column::Refusals, Expr::value(0))
        .filter(Column::Id.eq(key))
        .exec(&connection)
        .await?;
    Ok(())
}

/// Stores the number of consecutive refusals.
pub async fn count_refusals(
    connection: &dyn StoreConnection,
    key: i64,
    refusals: u32,
) -> Result<(), MainError> {
    let refusals = i32::try_from(refusals).unwrap_or(i32::MAX);
    let update = Entity::update_many().col_expr(Column::Refusals, Expr::value(refusals));
    update.filter(Column::Id.eq(key)).exec(&connection).await?;
    Ok(())
}

/// Disables a subscriber for this reason.
pub async fn disable(connection: &dyn StoreConnection, key: i64, reason: &str) -> Result<(), MainError> {
    Entity::update_many()
        .col_expr(Column::Status, Expr::value(SubscriberStatus::Disabled.as_str()))
        .col_expr(Column::DisabledReason, Expr::value(reason))
        .filter(Column::Id.eq(key))
        .exec(&connection)
        .await?;
    Ok(())
}

/// Stores the time of a new request for confirmation; a disabled subscriber waits for it again.
pub async fn ask_again(connection: &dyn StoreConnection, key: i64, now: Timestamp) -> Result<(), MainError> {
    Entity::update_many()
        .col_expr(Column::AskedAt, Expr::value(now.ms()))
        .col_expr(Column::Status, Expr::value(SubscriberStatus::Pending.as_str()))
        .col_expr(Column::DisabledReason, Expr::value(None::<String>))
        .col_expr(Column::Refusals, Expr::value(0))
        .filter(Column::Id.eq(key))
        .exec(&connection)
        .await?;
    Ok(())
}

/// Deletes pending subscribers whose request for confirmation is older than `before`; returns their number.
pub async fn forget_unconfirmed(
    connection: &dyn StoreConnection,
    before: Timestamp,
) -> Result<u64, MainError> {
    let old = Entity::delete_many()
        .filter(Column::Status.eq(SubscriberStatus::Pending.as_str()))
        .filter(Column::AskedAt.lt(before.ms()));
    Ok(old.exec(&connection).await?.rows_affected)
}

/// Stores a new subscriber; its `key` is assigned by the database.
pub async fn insert(
    connection: &dyn StoreConnection,
    subscriber: PageSubscriber,
) -> Result<PageSubscriber, MainError> {
    let key = Entity::insert(to_row(&subscriber)).exec(&connection).await?.last_insert_id;
    store_components(connection, key, subscriber.components.as_deref().unwrap_or_default()).await?;
    Ok(PageSubscriber { key, ..subscriber })
}

/// Deletes a subscriber, with its messages.
pub async fn delete(connection: &dyn StoreConnection, key: i64) -> Result<(), MainError> {
    Entity::delete_by_id(key).exec(&connection).await?;
    Ok(())
}

async fn store_components(
    connection: &dyn StoreConnection,
    subscriber: i64,
    chosen: &[ChosenComponent],
) -> Result<(), MainError> {
    if chosen.is_empty() {
        return Ok(());
    }
    let rows = chosen.iter().map(|component| subscriber_component::ActiveModel {
        subscriber_id: Set(subscriber),
        component_id: Set(component.key),
    });
    subscriber_component::Entity::insert_many(rows).exec_without_returning(&connection).await?;
    Ok(())
}

/// Turns rows into subscribers, with the components that they have chosen.
async fn read_all(
    connection: &dyn StoreConnection,
    rows: Vec<Model>,
) -> Result<Vec<PageSubscriber>, MainError> {
    let mut chosen: HashMap<i64, Vec<ChosenComponent>> = HashMap::new();
    let some: Vec<i64> = rows.iter().filter(|row| !row.is_for_all).map(|row| row.id).collect();
    for keys in some.chunks(CHUNK) {
        let found: Vec<(i64, i64, String)> = subscriber_component::Entity::find()
            .select_only()
            .column(subscriber_component::Column::SubscriberId)
            .column(subscriber_component::Column::ComponentId)
            .column(component::Column::PublicId)
            .join(
                sea_orm::JoinType::InnerJoin,
                subscriber_component::Entity::belongs_to(component::Entity)
                    .from(subscriber_component::Column::ComponentId)
                    .to(component::Column::Id)
                    .into(),
            )
            .filter(subscriber_component::Column::SubscriberId.is_in(keys.iter().copied()))
            .order_by_asc(subscriber_component::Column::ComponentId)
            .into_tuple()
            .all(&connection)
            .await?;
        for (subscriber, key, id) in found {
            let id = id.parse().map_err(|_| MainError::corrupt("component", &key, &"its id is malformed"))?;
            chosen.entry(subscriber).or_default().push(ChosenComponent { key, id });
        }
    }
    rows.into_iter()
        .map(|row| {
            let components = (!row.is_for_all).then(|| chosen.remove(&row.id).unwrap_or_default());
            from_row(row, components)
        })
        .collect()
}

fn to_row(subscriber: &PageSubscriber) -> ActiveModel {
    ActiveModel {
        id: NotSet,
        public_id: Set(subscriber.id.to_string()),
        statuspage_id: Set(subscriber.page),
        channel: Set(subscriber.channel.to_string()),
        address: Set(subscriber.address.shown.clone()),
        sealed_address: Set(subscriber.address.sealed.clone()),
        address_hash: Set(subscriber.address.hash.to_vec()),
        is_for_all: Set(subscriber.components.is_none()),
        language: Set(subscriber.language.clone()),
        status: Set(subscriber.status.to_string()),
        disabled_reason: Set(subscriber.disabled_reason.clone()),
        refusals: Set(i32::try_from(subscriber.refusals).unwrap_or(i32::MAX)),
        secret: Set(subscriber.secret.clone()),
        origin: Set(subscriber.origin.to_string()),
        asked_at: Set(subscriber.asked_at.map(Timestamp::ms)),
        confirmed_at: Set(subscriber.confirmed_at.map(Timestamp::ms)),
        created_at: Set(subscriber.created_at.ms()),
    }
}

fn from_row(row: Model, components: Option<Vec<ChosenComponent>>) -> Result<PageSubscriber, MainError> {
    let key = row.id;
    let corrupt = |problem: &str| MainError::corrupt("subscriber", &key, &problem);
    let hash =
        row.address_hash.try_into().map_err(|_| corrupt("the hash of its address has another length"))?;
    Ok(PageSubscriber {
        key,
        id: row.public_id.parse().map_err(|_| corrupt("its id is malformed"))?,
        page: row.statuspage_id,
        channel: row.channel.parse().map_err(|_| corrupt("unknown channel"))?,
        address: SubscriberAddress { shown: row.address, sealed: row.sealed_address, hash },
        components,
        language: row.language,
        status: row.status.parse().map_err(|_| corrupt("unknown status"))?,
        disabled_reason: row.disabled_reason,
        refusals: u32::try_from(row.refusals).unwrap_or_default(),
        secret: row.secret,
        origin: row.origin.parse().map_err(|_| corrupt("unknown origin"))?,
        asked_at: row.asked_at.map(Timestamp::from_ms),
        confirmed_at: row.confirmed_at.map(Timestamp::from_ms),
        created_at: Timestamp::from_ms(row.created_at),
    })
}
