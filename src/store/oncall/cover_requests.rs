//! Cover requests. Every finder is scoped by organisation.
//!
//! An answer is stored in the same transaction as the override that it creates, under the lock of the organisation. Of two
//! concurrent acceptances, the second one thus finds the request accepted.

use crate::store::connection::StoreConnection;
use sea_orm::{
    ActiveModelTrait, ActiveValue::NotSet, ActiveValue::Set, ColumnTrait, EntityTrait, PaginatorTrait,
    QueryFilter, QueryOrder, QuerySelect, Select,
};
use serde::{Deserialize, Serialize};
use watchkeeper_entities::oncall_cover_request::{ActiveModel, Column, Entity, Model};
use watchkeeper_entities::oncall_override;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::notification::routing::ResourceReference;
use crate::model::oncall::cover::{CoverCandidate, CoverRequest, CoverStatus};
use crate::model::oncall::entry::RETENTION_MS;
use crate::model::time_range::TimeRange;
use crate::model::visibility::Visibility;
use crate::store::contacts;
use crate::store::error::MainError;
use crate::store::oncall::schedules;
use crate::store::oncall::window::{OncallColumns, OncallFilter, narrowed};
use crate::store::page_window::PageWindow;

const COLUMNS: OncallColumns<Column> = OncallColumns {
    schedule: Some(Column::ScheduleId),
    contact: Column::ContactId,
    starts_at: Column::StartsAt,
    ends_at: Column::EndsAt,
};

/// The requests on this page of the list, newest first, and their total number. Without statuses, requests of any status.
pub async fn list(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    filter: &OncallFilter,
    statuses: &[CoverStatus],
    now: Timestamp,
    window: PageWindow,
) -> Result<(Vec<CoverRequest>, u64), MainError> {
    let mut wanted = narrowed(of_organisation(visibility.organisation()), filter, &COLUMNS);
    if !statuses.is_empty() {
        let any = statuses.iter().fold(sea_orm::Condition::any(), |any, status| any.add(is(*status, now)));
        wanted = wanted.filter(any);
    }
    let total = wanted.clone().count(&connection).await?;
    let rows = wanted.order_by_desc(Column::Id).offset(window.offset).limit(window.limit);
    Ok((with_names(connection, visibility.organisation(), rows.all(&connection).await?).await?, total))
}

/// The request of the organisation with this id.
pub async fn find(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    id: Id,
) -> Result<Option<CoverRequest>, MainError> {
    let wanted = of_organisation(visibility.organisation()).filter(Column::PublicId.eq(id.as_str()));
    let row = wanted.one(&connection).await?;
    Ok(with_names(connection, visibility.organisation(), row.into_iter().collect()).await?.pop())
}

/// Deletes requests whose time ended too long ago to be shown, and returns the number of remaining ones of the
/// organisation. Without a trusted time, nothing is deleted.
pub async fn make_room(
    connection: &dyn StoreConnection,
    organisation: i64,
    trusted_now: Option<Timestamp>,
) -> Result<u64, MainError> {
    if let Some(now) = trusted_now {
        let old = Column::EndsAt.lt(now.plus_ms(-RETENTION_MS).ms());
        let of_owner = Column::OrganisationId.eq(organisation);
        Entity::delete_many().filter(of_owner).filter(old).exec(&connection).await?;
    }
    Ok(of_organisation(organisation).count(&connection).await?)
}

/// Stores a new request; its `key` is assigned by the database.
pub async fn insert(
    connection: &dyn StoreConnection,
    request: CoverRequest,
) -> Result<CoverRequest, MainError> {
    let row = ActiveModel { id: NotSet, ..to_row(&request)? };
    let key = Entity::insert(row).exec(&connection).await?.last_insert_id;
    Ok(CoverRequest { key, ..request })
}

/// Stores all fields of a changed request, such as its outcome.
pub async fn update(connection: &dyn StoreConnection, request: &CoverRequest) -> Result<(), MainError> {
    to_row(request)?.update(&connection).await?;
    Ok(())
}

/// Names of the schedules with an open request that a contact made or is asked to accept.
pub(in crate::store) async fn schedules_of_contact(
    connection: &dyn StoreConnection,
    organisation: i64,
    contact: i64,
    now: Timestamp,
) -> Result<Vec<String>, MainError> {
    let open = of_organisation(organisation).filter(is(CoverStatus::Open, now));
    let rows = open.order_by_asc(Column::Id).all(&connection).await?;
    let all = with_names(connection, organisation, rows).await?.into_iter();
    let names = |request: &CoverRequest| {
        request.contact.key == contact || request.asked.iter().any(|asked| asked.contact.key == contact)
    };
    Ok(all.filter(names).map(|request| request.schedule.name).collect())
}

fn of_organisation(organisation: i64) -> Select<Entity> {
    Entity::find().filter(Column::OrganisationId.eq(organisation))
}

/// Condition for requests with this status. An open request expires when its time range has ended.
fn is(status: CoverStatus, now: Timestamp) -> sea_orm::Condition {
    let stored = |status: CoverStatus| Column::Status.eq(status.as_str());
    let all = sea_orm::Condition::all();
    match status {
        CoverStatus::Open => all.add(stored(CoverStatus::Open)).add(Column::EndsAt.gt(now.ms())),
        CoverStatus::Expired => all.add(stored(CoverStatus::Open)).add(Column::EndsAt.lte(now.ms())),
        CoverStatus::Accepted | CoverStatus::Declined | CoverStatus::Cancelled => all.add(stored(status)),
    }
}

async fn with_names(
    connection: &dyn StoreConnection,
    organisation: i64,
    rows: Vec<Model>,
) -> Result<Vec<CoverRequest>, MainError> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let schedules = schedules::by_key(connection, organisation).await?;
    let named = rows.iter().flat_map(|row| [Some(row.contact_id), row.accepted_by_id]).flatten();
    let contacts = contacts::by_key(connection, named).await?;
    let placed = placed(connection, rows.iter().filter_map(|row| row.override_id)).await?;
    let read = |row: Model| {
        let corrupt = |problem: &str| MainError::corrupt("oncall_cover_request", &row.id, &problem);
        let asked: Option<Vec<StoredCoverContact>> = serde_json::from_str(&row.asked).ok();
        let asked = asked.and_then(|asked| asked.into_iter().map(StoredCoverContact::read).collect());
        let (schedule, contact) = (schedules.get(&row.schedule_id), contacts.get(&row.contact_id));
        let placed = row.override_id.and_then(|key| placed.iter().find(|placed| placed.key == key));
        Ok(CoverRequest {
            key: row.id,
            id: row.public_id.parse().map_err(|_| corrupt("its id is malformed"))?,
            organisation: row.organisation_id,
            schedule: schedule.cloned().ok_or_else(|| corrupt("its schedule is not there"))?,
            contact: contact.cloned().ok_or_else(|| corrupt("its contact is not there"))?,
            range: TimeRange { from: Timestamp::from_ms(row.starts_at), to: Timestamp::from_ms(row.ends_at) },
            asked: asked.ok_or_else(|| corrupt("the asked contacts cannot be read"))?,
            outcome: row.status.parse().map_err(|_| corrupt("unknown status"))?,
            accepted_by: row.accepted_by_id.and_then(|key| contacts.get(&key).cloned()),
            placed: placed.copied(),
            note: row.note,
            created_at: Timestamp::from_ms(row.created_at),
            updated_at: Timestamp::from_ms(row.updated_at),
        })
    };
    rows.into_iter().map(read).collect()
}

/// Id and key of each of these overrides.
async fn placed(
    connection: &dyn StoreConnection,
    keys: impl Iterator<Item = i64>,
) -> Result<Vec<ResourceReference>, MainError> {
    use oncall_override::Column as Placed;
    let wanted = oncall_override::Entity::find().select_only().columns([Placed::Id, Placed::PublicId]);
    let rows: Vec<(i64, String)> =
        wanted.filter(Placed::Id.is_in(keys)).into_tuple().all(&connection).await?;
    let corrupt = |key: &i64| MainError::corrupt("oncall_override", key, &"its id is malformed");
    rows.into_iter()
        .map(|(key, id)| Ok(ResourceReference { key, id: id.parse().map_err(|_| corrupt(&key))? }))
        .collect()
}

/// Stored form of a contact who is asked to take over.
#[derive(Serialize, Deserialize)]
struct StoredCoverContact {
    key: i64,
    id: String,
    declined_at: Option<i64>,
}

impl StoredCoverContact {
    fn of(asked: &CoverCandidate) -> Self {
        Self {
            key: asked.contact.key,
            id: asked.contact.id.to_string(),
            declined_at: asked.declined_at.map(Timestamp::ms),
        }
    }

    fn read(self) -> Option<CoverCandidate> {
        let contact = ResourceReference { key: self.key, id: self.id.parse::<Id>().ok()? };
        Some(CoverCandidate { contact, declined_at: self.declined_at.map(Timestamp::from_ms) })
    }
}

fn to_row(request: &CoverRequest) -> Result<ActiveModel, MainError> {
    let unwritable = |problem| MainError::corrupt("oncall_cover_request", &request.id, &problem);
    let asked: Vec<StoredCoverContact> = request.asked.iter().map(StoredCoverContact::of).collect();
    Ok(ActiveModel {
        id: Set(request.key),
        public_id: Set(request.id.to_string()),
        organisation_id: Set(request.organisation),
        schedule_id: Set(request.schedule.key),
        contact_id: Set(request.contact.key),
        starts_at: Set(request.range.from.ms()),
        ends_at: Set(request.range.to.ms()),
        note: Set(request.note.clone()),
        asked: Set(serde_json::to_string(&asked).map_err(unwritable)?),
        status: Set(request.outcome.to_string()),
        accepted_by_id: Set(request.accepted_by.as_ref().map(|contact| contact.key)),
        override_id: Set(request.placed.map(|placed| placed.key)),
        created_at: Set(request.created_at.ms()),
        updated_at: Set(request.updated_at.ms()),
    })
}
