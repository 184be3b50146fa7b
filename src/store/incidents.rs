//! Incidents with their timelines, the services that they affect and the pages chosen for them.
//!
//! What is written is the difference between two [`WholeIncident`]s, so that whoever changes one need not read it again.
//! Lists are in `list`, what hangs on an incident in `links`, a deleted service in `departure`, measured recovery in
//! `recovery`. Every finder is scoped by organisation, except those of `recovery`.

pub mod automation;
pub mod departure;
pub mod downtime;
mod evidence;
mod links;
pub mod list;
pub mod recovery;
mod rows;

use std::collections::HashSet;

use sea_orm::{
    ActiveModelTrait, ActiveValue::NotSet, ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter,
    QuerySelect, Select,
};
use watchkeeper_entities::incident::{Column, Entity};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::event::Act;
use crate::model::incident::{Incident, TimelineEntry, WholeIncident};
use crate::model::service::ServiceKey;
use crate::model::sight::Sight;
use crate::store::incidents::links::Audience;
use crate::store::notifications::outbox;
use crate::store::scoped::{Rows, narrowed};
use crate::store::{MainError, escalations, events, subscriber_facts};

fn of_organisation(organisation: i64) -> Select<Entity> {
    Entity::find().filter(Column::OrganisationId.eq(organisation))
}

fn seen(sight: Sight) -> Select<Entity> {
    narrowed(of_organisation(sight.organisation()), Rows::Incidents, sight)
}

/// The incident that the sight shows with this id.
///
/// # Errors
/// When the database fails or the row cannot be read.
pub async fn find(
    connection: &impl ConnectionTrait,
    sight: Sight,
    id: Id,
) -> Result<Option<Incident>, MainError> {
    let row = seen(sight).filter(Column::PublicId.eq(id.as_str())).one(connection).await?;
    row.map(rows::from_row).transpose()
}

/// Like [`find`], with everything that hangs on it, seen or not; others cannot change the incident until the transaction ends.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn find_for_update(
    connection: &impl ConnectionTrait,
    sight: Sight,
    id: Id,
) -> Result<Option<WholeIncident>, MainError> {
    let query = seen(sight).filter(Column::PublicId.eq(id.as_str())).lock_exclusive();
    match query.one(connection).await? {
        Some(row) => {
            let everything = Sight::whole(sight.organisation());
            Ok(Some(whole(connection, everything, rows::from_row(row)?).await?))
        }
        None => Ok(None),
    }
}

/// Like [`find_for_update`], by the key of the row, for whoever works for every organisation.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn of_key_for_update(
    connection: &impl ConnectionTrait,
    key: i64,
) -> Result<Option<WholeIncident>, MainError> {
    match Entity::find_by_id(key).lock_exclusive().one(connection).await? {
        Some(row) => {
            let incident = rows::from_row(row)?;
            Ok(Some(whole(connection, Sight::whole(incident.organisation), incident).await?))
        }
        None => Ok(None),
    }
}

/// The incident with everything that hangs on it, as far as the sight shows it.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn whole(
    connection: &impl ConnectionTrait,
    sight: Sight,
    incident: Incident,
) -> Result<WholeIncident, MainError> {
    let mut affected = links::affected(connection, sight, &[incident.key]).await?;
    let links::Timeline { public, internal } = links::timeline(connection, sight, incident.key).await?;
    Ok(WholeIncident {
        services: affected.remove(&incident.key).unwrap_or_default(),
        statuspages: links::pages(connection, sight, incident.key).await?,
        updates: public,
        internal_updates: internal,
        automation: automation::find(connection, incident.key).await?,
        incident,
    })
}

/// Stores a new incident with everything that hangs on it; its `key` is given by the database.
///
/// # Errors
/// When the database fails.
pub async fn insert(connection: &impl ConnectionTrait, whole: &mut WholeIncident) -> Result<(), MainError> {
    let mut row = rows::to_row(&whole.incident);
    row.id = NotSet;
    let key = Entity::insert(row).exec(connection).await?.last_insert_id;
    whole.incident.key = key;
    links::add_updates(connection, key, &whole.updates, Audience::Everybody).await?;
    links::add_updates(connection, key, &whole.internal_updates, Audience::Members).await?;
    links::add_services(connection, key, whole.services.iter()).await?;
    automation::save(connection, key, (None, whole.automation)).await?;
    links::set_pages(connection, key, &[], &whole.statuspages).await?;
    outbox::tell_of_incident(connection, None, whole, whole.incident.updated_at).await?;
    subscriber_facts::of_incident(connection, None, whole).await?;
    escalations::follow(connection, None, whole, whole.incident.updated_at).await?;
    events::of_incidents(connection, Act::Created, Condition::all().add(Column::Id.eq(key)), &[]).await
}

/// Adds an entry to the timeline of an incident in which the engine names services: members see it who see every service.
///
/// # Errors
/// When the database fails.
pub async fn add_reasons(
    connection: &impl ConnectionTrait,
    incident: i64,
    entry: &TimelineEntry,
) -> Result<(), MainError> {
    links::add_updates(connection, incident, std::slice::from_ref(entry), Audience::MembersWhoSeeAll).await
}

/// Stores what has changed at `at` from `before` to `after`.
///
/// # Errors
/// When the database fails.
pub async fn save(
    connection: &impl ConnectionTrait,
    before: &WholeIncident,
    after: &WholeIncident,
    at: Timestamp,
) -> Result<(), MainError> {
    if before.incident != after.incident {
        rows::to_row(&after.incident).update(connection).await?;
    }
    let key = after.incident.key;
    // A timeline only grows.
    let new = after.updates.get(before.updates.len()..).unwrap_or_default();
    links::add_updates(connection, key, new, Audience::Everybody).await?;
    let new = after.internal_updates.get(before.internal_updates.len()..).unwrap_or_default();
    links::add_updates(connection, key, new, Audience::Members).await?;
    links::set_services(connection, key, &before.services, &after.services).await?;
    automation::save(connection, key, (before.automation, after.automation)).await?;
    links::set_pages(connection, key, &before.statuspages, &after.statuspages).await?;
    if before == after {
        return Ok(());
    }
    outbox::tell_of_incident(connection, Some(before), after, at).await?;
    subscriber_facts::of_incident(connection, Some(before), after).await?;
    escalations::follow(connection, Some(before), after, at).await?;
    let is_end = after.incident.is_resolved() && !before.incident.is_resolved();
    let act = if is_end { Act::Resolved } else { Act::Updated };
    let kept: HashSet<ServiceKey> = after.services.iter().map(|affected| affected.service).collect();
    let mut former: Vec<ServiceKey> = before.services.iter().map(|affected| affected.service).collect();
    former.retain(|service| !kept.contains(service));
    events::of_incidents(connection, act, Condition::all().add(Column::Id.eq(key)), &former).await
}

/// Deletes the incident with everything that hangs on it. `false` when there is no such incident.
///
/// # Errors
/// When the database fails.
pub async fn delete(connection: &impl ConnectionTrait, sight: Sight, id: Id) -> Result<bool, MainError> {
    let wanted = Condition::all()
        .add(Column::OrganisationId.eq(sight.organisation()))
        .add(Column::PublicId.eq(id.as_str()))
        .add_option(Rows::Incidents.condition(sight));
    events::of_incidents(connection, Act::Deleted, wanted.clone(), &[]).await?;
    outbox::drop_held(connection, sight.organisation(), id).await?;
    let deleted = Entity::delete_many().filter(wanted).exec(connection).await?;
    Ok(deleted.rows_affected > 0)
}
