//! Slugs of status pages. They are unique in the installation; a slug that is given up is held for its organisation for 30
//! days (contract 4.13.2).
//!
//! The unique index decides between two concurrent claims of a slug. When a page is created, the loser gets `None` and
//! can continue its transaction; when a page is renamed, the loser must roll it back. Held slugs are checked after the
//! index has decided, so that a slug that was given up meanwhile is seen.

use std::collections::HashSet;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::OnConflict;
use sea_orm::{
    ActiveModelTrait, ActiveValue::NotSet, ActiveValue::Set, ColumnTrait, Condition, DbErr, EntityTrait,
    PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, SqlErr,
};
use watchkeeper_entities::slug_hold;
use watchkeeper_entities::statuspage::{ActiveModel, Column, Entity};

use crate::clock::Timestamp;
use crate::clock::guard::JudgedTime;
use crate::model::slug::{HOLD_MS, HOLDS_PER_PAGE, holds_of_organisation};
use crate::model::statuspage::Statuspage;
use crate::store::error::MainError;
use crate::store::statuspages::row::to_row;

/// Maximum number of held slugs that one statement frees. The rest is freed by later calls.
const RELEASED_AT_ONCE: u64 = 1_000;

/// Returns true if an organisation must not take this slug: a page has it, or it is held for another organisation.
pub async fn is_taken(
    connection: &dyn StoreConnection,
    organisation: i64,
    slug: &str,
    now: JudgedTime,
) -> Result<bool, MainError> {
    let pages = Entity::find().filter(Column::Slug.eq(slug)).count(&connection).await?;
    Ok(pages > 0 || is_held(connection, organisation, slug, now).await?)
}

/// The slugs among `slugs` that an organisation must not take.
pub async fn taken_among(
    connection: &dyn StoreConnection,
    organisation: i64,
    slugs: &[String],
    now: JudgedTime,
) -> Result<HashSet<String>, MainError> {
    let pages: Vec<String> = Entity::find()
        .select_only()
        .column(Column::Slug)
        .filter(Column::Slug.is_in(slugs))
        .into_tuple()
        .all(&connection)
        .await?;
    let held: Vec<String> = slug_hold::Entity::find()
        .select_only()
        .column(slug_hold::Column::Slug)
        .filter(slug_hold::Column::Slug.is_in(slugs))
        .filter(held_from(organisation, now))
        .into_tuple()
        .all(&connection)
        .await?;
    Ok(pages.into_iter().chain(held).collect())
}

/// Stores a new page with its slug; the `key` is assigned by the database and returned in the result. Returns `None`, and
/// stores nothing, if another page has the slug, or it is held for another organisation.
pub async fn insert(
    connection: &dyn StoreConnection,
    page: Statuspage,
    now: JudgedTime,
) -> Result<Option<Statuspage>, MainError> {
    let mut row = to_row(&page);
    row.id = NotSet;
    let unless_taken = OnConflict::column(Column::Slug).do_nothing().to_owned();
    let key = match Entity::insert(row).on_conflict(unless_taken).exec(&connection).await {
        Ok(inserted) => inserted.last_insert_id,
        Err(DbErr::RecordNotInserted) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if is_held(connection, page.organisation, &page.slug, now).await? {
        Entity::delete_by_id(key).exec(&connection).await?;
        return Ok(None);
    }
    release(connection, &page.slug).await?;
    Ok(Some(Statuspage { key, ..page }))
}

/// Changes the slug of a stored page; the old one is held for the organisation. Returns false if the slug is taken; the
/// transaction must then be rolled back.
pub async fn rename(
    connection: &dyn StoreConnection,
    page: &Statuspage,
    slug: &str,
    now: JudgedTime,
) -> Result<bool, MainError> {
    let row =
        ActiveModel { id: Set(page.key), slug: Set(slug.to_owned()), ..<ActiveModel as Default>::default() };
    match row.update(&connection).await {
        Ok(_) => {}
        Err(error) if matches!(error.sql_err(), Some(SqlErr::UniqueConstraintViolation(_))) => {
            return Ok(false);
        }
        Err(error) => return Err(error.into()),
    }
    if is_held(connection, page.organisation, slug, now).await? {
        return Ok(false);
    }
    release(connection, slug).await?;
    hold(connection, page, now.best).await?;
    Ok(true)
}

/// Holds the current slug of a page for its organisation. Frees the oldest held slugs beyond the limits per page and per
/// organisation.
pub async fn hold(
    connection: &dyn StoreConnection,
    page: &Statuspage,
    now: Timestamp,
) -> Result<(), MainError> {
    release(connection, &page.slug).await?;
    let row = slug_hold::ActiveModel {
        slug: Set(page.slug.clone()),
        organisation_id: Set(page.organisation),
        statuspage_id: Set(Some(page.key)),
        freed_at: Set(now.ms()),
    };
    slug_hold::Entity::insert(row).exec_without_returning(&connection).await?;
    let of_organisation = Condition::all().add(slug_hold::Column::OrganisationId.eq(page.organisation));
    let of_page = of_organisation.clone().add(slug_hold::Column::StatuspageId.eq(page.key));
    release_beyond(connection, of_page, HOLDS_PER_PAGE).await?;
    let pages =
        Entity::find().filter(Column::OrganisationId.eq(page.organisation)).count(&connection).await?;
    release_beyond(connection, of_organisation, holds_of_organisation(pages)).await
}

/// Frees the held slugs that match `rows`, except the `most` newest ones.
async fn release_beyond(
    connection: &dyn StoreConnection,
    rows: Condition,
    most: u64,
) -> Result<(), MainError> {
    let beyond: Vec<String> = slug_hold::Entity::find()
        .select_only()
        .column(slug_hold::Column::Slug)
        .filter(rows)
        .order_by_desc(slug_hold::Column::FreedAt)
        .order_by_desc(slug_hold::Column::Slug)
        .offset(most)
        .limit(RELEASED_AT_ONCE)
        .into_tuple()
        .all(&connection)
        .await?;
    if !beyond.is_empty() {
        let released = slug_hold::Entity::delete_many().filter(slug_hold::Column::Slug.is_in(beyond));
        released.exec(&connection).await?;
    }
    Ok(())
}

async fn release(connection: &dyn StoreConnection, slug: &str) -> Result<(), MainError> {
    slug_hold::Entity::delete_by_id(slug.to_owned()).exec(&connection).await?;
    Ok(())
}

async fn is_held(
    connection: &dyn StoreConnection,
    organisation: i64,
    slug: &str,
    now: JudgedTime,
) -> Result<bool, MainError> {
    let holds = slug_hold::Entity::find_by_id(slug.to_owned()).filter(held_from(organisation, now));
    Ok(holds.count(&connection).await? > 0)
}

/// Condition that a slug is held for another organisation and the hold has not expired. While the time is not trusted, no
/// hold expires.
fn held_from(organisation: i64, now: JudgedTime) -> Condition {
    let held_since = now.at.plus_ms(-HOLD_MS);
    let is_recent = now.is_trusted.then(|| slug_hold::Column::FreedAt.gt(held_since.ms()));
    Condition::all().add(slug_hold::Column::OrganisationId.ne(organisation)).add_option(is_recent)
}
