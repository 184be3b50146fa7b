//! SLA targets. Every finder takes a visibility: a token confined to an access scope sees the targets of the services that
//! the scope shows, and the targets of the scope's own tags, whose services are all visible to it.
//!
//! A writer of a target holds the lock of the organisation, so that the target's tag or service is not deleted meanwhile.

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::{
    ActiveModelTrait, ActiveValue::NotSet, ActiveValue::Set, ColumnTrait, EntityTrait, PaginatorTrait,
    QueryFilter, QueryOrder, QuerySelect, Select,
};
use watchkeeper_entities::sla_target::{ActiveModel, Column, Entity, Model};
use watchkeeper_entities::{service, tag};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::incident_policy::PolicyTag;
use crate::model::service::NamedService;
use crate::model::service::ServiceKey;
use crate::model::sla::calendar::SlaPeriod;
use crate::model::sla::objective::SlaObjective;
use crate::model::sla::{SlaSubject, SlaTarget, SlaTerms};
use crate::model::tag::TagName;
use crate::model::visibility::Visibility;
use crate::store::error::MainError;
use crate::store::named_services;
use crate::store::page_window::PageWindow;
use crate::store::scope_filter::{ScopedResource, narrowed};

/// Maximum number of keys bound in one statement.
const CHUNK: usize = 1_000;

fn seen(visibility: Visibility) -> Select<Entity> {
    let owned = Entity::find().filter(Column::OrganisationId.eq(visibility.organisation()));
    narrowed(owned, ScopedResource::SlaTargets, visibility)
}

/// The visible target with this id.
pub async fn find(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    id: Id,
) -> Result<Option<SlaTarget>, MainError> {
    let row = seen(visibility).filter(Column::PublicId.eq(id.as_str())).one(&connection).await?;
    Ok(with_subjects(connection, row.into_iter().collect()).await?.pop())
}

/// The visible targets on this page of the list, oldest first, and their total number.
pub async fn list(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    window: PageWindow,
) -> Result<(Vec<SlaTarget>, u64), MainError> {
    let total = seen(visibility).count(&connection).await?;
    let rows = seen(visibility)
        .order_by_asc(Column::CreatedAt)
        .order_by_asc(Column::PublicId)
        .offset(window.offset)
        .limit(window.limit)
        .all(&connection)
        .await?;
    Ok((with_subjects(connection, rows).await?, total))
}

/// Database keys of the organisations that have targets.
pub async fn organisations_with_targets(connection: &dyn StoreConnection) -> Result<Vec<i64>, MainError> {
    let owners = Entity::find().select_only().column(Column::OrganisationId).distinct();
    Ok(owners.order_by_asc(Column::OrganisationId).into_tuple().all(&connection).await?)
}

/// The targets for a service alone, oldest first, at most this number.
pub async fn of_service(
    connection: &dyn StoreConnection,
    organisation: i64,
    service: ServiceKey,
    most: u64,
) -> Result<Vec<SlaTarget>, MainError> {
    let rows = seen(Visibility::whole(organisation))
        .filter(Column::ServiceId.eq(service))
        .order_by_asc(Column::CreatedAt)
        .order_by_asc(Column::PublicId)
        .limit(most);
    with_subjects(connection, rows.all(&connection).await?).await
}

/// Returns the number of targets of an organisation.
pub async fn count(connection: &dyn StoreConnection, organisation: i64) -> Result<u64, MainError> {
    Ok(seen(Visibility::whole(organisation)).count(&connection).await?)
}

/// Stores a new target; its `key` is assigned by the database.
pub async fn insert(connection: &dyn StoreConnection, target: SlaTarget) -> Result<SlaTarget, MainError> {
    let row = ActiveModel { id: NotSet, ..to_row(&target) };
    let key = Entity::insert(row).exec(&connection).await?.last_insert_id;
    Ok(SlaTarget { key, ..target })
}

/// Stores all fields of a changed target.
pub async fn update(connection: &dyn StoreConnection, target: &SlaTarget) -> Result<(), MainError> {
    to_row(target).update(&connection).await?;
    Ok(())
}

/// Deletes the target with this key.
pub async fn delete(connection: &dyn StoreConnection, key: i64) -> Result<(), MainError> {
    Entity::delete_by_id(key).exec(&connection).await?;
    Ok(())
}

/// Names of the targets for this tag.
pub(super) async fn names_of_tag(
    connection: &dyn StoreConnection,
    tag: i64,
) -> Result<Vec<String>, MainError> {
    let names = Entity::find().select_only().column(Column::Name).filter(Column::TagId.eq(tag));
    Ok(names.order_by_asc(Column::Id).into_tuple().all(&connection).await?)
}

async fn with_subjects(
    connection: &dyn StoreConnection,
    rows: Vec<Model>,
) -> Result<Vec<SlaTarget>, MainError> {
    let mut subjects = SlaSubjects::default();
    let services: Vec<i64> = rows.iter().filter_map(|row| row.service_id).collect();
    for keys in services.chunks(CHUNK) {
        let query = service::Entity::find().filter(service::Column::Id.is_in(keys.iter().copied()));
        let found = named_services::services(connection, query).await?;
        subjects.services.extend(found.into_iter().map(|service| (service.key, service)));
    }
    let tags: Vec<i64> = rows.iter().filter_map(|row| row.tag_id).collect();
    for keys in tags.chunks(CHUNK) {
        let query = tag::Entity::find().filter(tag::Column::Id.is_in(keys.iter().copied()));
        for row in query.all(&connection).await? {
            subjects.tags.insert(row.id, read_tag(&row)?);
        }
    }
    rows.into_iter().map(|row| from_row(row, &subjects)).collect()
}

/// The services and tags that targets refer to, by database key.
#[derive(Default)]
struct SlaSubjects {
    services: HashMap<i64, NamedService>,
    tags: HashMap<i64, PolicyTag>,
}

fn read_tag(row: &tag::Model) -> Result<PolicyTag, MainError> {
    let corrupt = || MainError::corrupt("tag", &row.id, &"its name or id cannot be read");
    let id = row.public_id.parse().map_err(|_| corrupt())?;
    let label = TagName::new(&row.key, Some(&row.value)).map_err(|_| corrupt())?.label();
    Ok(PolicyTag { key: row.id, id, label })
}

fn to_row(target: &SlaTarget) -> ActiveModel {
    let (service, tag) = match &target.subject {
        SlaSubject::Service(service) => (Some(service.key), None),
        SlaSubject::Tag(tag) => (None, Some(tag.key)),
    };
    let SlaTerms { objective, period, zone, business_hours } = &target.terms;
    ActiveModel {
        id: Set(target.key),
        public_id: Set(target.id.to_string()),
        organisation_id: Set(target.organisation),
        name: Set(target.name.clone()),
        service_id: Set(service),
        tag_id: Set(tag),
        objective: Set(i32::try_from(objective.millionths()).unwrap_or(i32::MAX)),
        period: Set(period.kind().as_str().into()),
        rolling_days: Set(period.rolling_days().map(i32::from)),
        time_zone: Set(zone.name().into()),
        business_hours: Set(business_hours.as_ref().map(ToString::to_string)),
        created_at: Set(target.created_at.ms()),
        updated_at: Set(target.updated_at.ms()),
    }
}

fn from_row(row: Model, subjects: &SlaSubjects) -> Result<SlaTarget, MainError> {
    let corrupt = |problem: &str| MainError::corrupt("sla_target", &row.id, &problem);
    let subject = match (row.service_id, row.tag_id) {
        (Some(key), None) => subjects.services.get(&key).cloned().map(SlaSubject::Service),
        (None, Some(key)) => subjects.tags.get(&key).cloned().map(SlaSubject::Tag),
        _ => None,
    };
    let kind = row.period.parse().map_err(|_| corrupt("unknown period"))?;
    let days = row.rolling_days.and_then(|days| u16::try_from(days).ok());
    let objective = u32::try_from(row.objective).ok().and_then(SlaObjective::from_millionths);
    let hours = row.business_hours.as_deref().map(str::parse).transpose();
    let terms = SlaTerms {
        objective: objective.ok_or_else(|| corrupt("impossible objective"))?,
        period: SlaPeriod::new(kind, days).ok_or_else(|| corrupt("a rolling period without days"))?,
        zone: row.time_zone.parse().map_err(|_| corrupt("unknown time zone"))?,
        business_hours: hours.map_err(|_| corrupt("unreadable business hours"))?,
    };
    Ok(SlaTarget {
        key: row.id,
        id: row.public_id.parse().map_err(|_| corrupt("its id is malformed"))?,
        organisation: row.organisation_id,
        subject: subject.ok_or_else(|| corrupt("its service or tag is missing"))?,
        terms,
        created_at: Timestamp::from_ms(row.created_at),
        updated_at: Timestamp::from_ms(row.updated_at),
        name: row.name,
    })
}
