//! Settles incidents when one of their services is deleted (contract 4.3.9, incident rows).
//!
//! It runs in the transaction of the delete, before the service's row goes; the links of the service go with that row.

use std::collections::HashSet;

use sea_orm::sea_query::{CaseStatement, Expr, Query, SelectStatement};
use sea_orm::{ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use watchkeeper_entities::incident::{Column, Entity};
use watchkeeper_entities::{incident_service, incident_update};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::event::Act;
use crate::model::incident::{IncidentStatus, TimelineEntry};
use crate::model::service::ServiceKey;
use crate::model::translated::Translated;
use crate::store::incidents::links::Audience;
use crate::store::incidents::{links, of_key_for_update, of_organisation};
use crate::store::notifications::outbox;
use crate::store::{MainError, events, outages};

/// Most incidents in one statement: far below what a statement may bind.
const INCIDENTS_PER_STATEMENT: usize = 1_000;

/// A service on its way out.
#[derive(Clone, Debug)]
pub struct Departure<'a> {
    /// Its organisation.
    pub organisation: i64,
    /// The service.
    pub service: ServiceKey,
    /// Now.
    pub at: Timestamp,
    /// True if incidents that concern no other service are deleted.
    pub deletes_orphans: bool,
    /// The message of the entry that ends the timeline of a resolved incident.
    pub message: &'a Translated,
}

/// The numbers of incidents that were resolved, deleted or detached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleanup {
    /// Were open, concerned this service alone, and are resolved.
    pub resolved: usize,
    /// Concerned this service alone, and are deleted.
    pub deleted: usize,
    /// Go on without the service.
    pub detached: usize,
}

/// Settles the incidents of a service that is about to be deleted.
///
/// # Errors
/// When the database fails.
pub async fn leave_service(
    connection: &impl ConnectionTrait,
    departure: &Departure<'_>,
) -> Result<Cleanup, MainError> {
    let linked: Vec<(i64, Option<i64>)> = of_organisation(departure.organisation)
        .select_only()
        .columns([Column::Id, Column::ResolvedAt])
        .filter(Column::Id.in_subquery(incidents_of(departure.service)))
        .order_by_asc(Column::Id)
        .lock_exclusive()
        .into_tuple()
        .all(connection)
        .await?;
    if linked.is_empty() {
        return Ok(Cleanup::default());
    }
    let shared = shared_incidents(connection, departure.service).await?;
    let (lone, others): (Vec<i64>, Vec<i64>) =
        linked.iter().map(|(incident, _)| *incident).partition(|incident| !shared.contains(incident));
    let former = [departure.service];
    note(connection, Act::Updated, &others, &former).await?;
    outages::look_at_recovered(connection, &others, departure.at).await?;
    let orphans = || linked.iter().filter(|(incident, _)| !shared.contains(incident));
    if departure.deletes_orphans {
        note(connection, Act::Deleted, &lone, &[]).await?;
        delete(connection, &lone).await?;
        return Ok(Cleanup { deleted: lone.len(), detached: others.len(), ..Cleanup::default() });
    }
    let (open, over): (Vec<_>, Vec<_>) = orphans().partition(|(_, end)| end.is_none());
    let [open, over] =
        [open, over].map(|some| some.iter().map(|(incident, _)| *incident).collect::<Vec<i64>>());
    for incident in &open {
        tell_of_end(connection, departure, *incident).await?;
    }
    resolve(connection, &open, departure).await?;
    note(connection, Act::Resolved, &open, &former).await?;
    note(connection, Act::Updated, &over, &former).await?;
    Ok(Cleanup { resolved: open.len(), detached: linked.len() - open.len(), ..Cleanup::default() })
}

fn incidents_of(service: ServiceKey) -> SelectStatement {
    Query::select()
        .column(incident_service::Column::IncidentId)
        .from(incident_service::Entity)
        .and_where(incident_service::Column::ServiceId.eq(service))
        .to_owned()
}

/// The incidents of this service that concern others, too.
async fn shared_incidents(
    connection: &impl ConnectionTrait,
    service: ServiceKey,
) -> Result<HashSet<i64>, MainError> {
    let rows: Vec<i64> = incident_service::Entity::find()
        .select_only()
        .column(incident_service::Column::IncidentId)
        .distinct()
        .filter(incident_service::Column::IncidentId.in_subquery(incidents_of(service)))
        .filter(incident_service::Column::ServiceId.ne(service))
        .into_tuple()
        .all(connection)
        .await?;
    Ok(rows.into_iter().collect())
}

async fn note(
    connection: &impl ConnectionTrait,
    act: Act,
    incidents: &[i64],
    former: &[ServiceKey],
) -> Result<(), MainError> {
    for chunk in incidents.chunks(INCIDENTS_PER_STATEMENT) {
        let these = Condition::all().add(Column::Id.is_in(chunk.iter().copied()));
        events::of_incidents(connection, act, these, former).await?;
    }
    Ok(())
}

async fn delete(connection: &impl ConnectionTrait, incidents: &[i64]) -> Result<(), MainError> {
    for chunk in incidents.chunks(INCIDENTS_PER_STATEMENT) {
        Entity::delete_many().filter(Column::Id.is_in(chunk.iter().copied())).exec(connection).await?;
    }
    Ok(())
}

/// Writes the messages for those who were told of an incident that ends with its last service.
async fn tell_of_end(
    connection: &impl ConnectionTrait,
    departure: &Departure<'_>,
    incident: i64,
) -> Result<(), MainError> {
    let Some(before) = of_key_for_update(connection, incident).await? else { return Ok(()) };
    let mut after = before.clone();
    after.resolve(last_entry(departure), departure.at);
    outbox::tell_of_incident(connection, Some(&before), &after, departure.at).await
}

/// Ends open incidents with an entry that tells no subscriber.
async fn resolve(
    connection: &impl ConnectionTrait,
    incidents: &[i64],
    departure: &Departure<'_>,
) -> Result<(), MainError> {
    let now = departure.at.ms();
    for chunk in incidents.chunks(INCIDENTS_PER_STATEMENT) {
        // Clocks differ a little: an incident must not end before it began.
        let end = CaseStatement::new()
            .case(Column::StartedAt.gt(now), Expr::col(Column::StartedAt))
            .finally(Expr::value(now));
        Entity::update_many()
            .col_expr(Column::Status, Expr::value(IncidentStatus::Resolved.as_str()))
            .col_expr(Column::ResolvedAt, end.into())
            .col_expr(Column::UpdatedAt, Expr::value(now))
            .filter(Column::Id.is_in(chunk.iter().copied()))
            .exec(connection)
            .await?;
        let entries = chunk
            .iter()
            .map(|incident| links::update_row(*incident, &last_entry(departure), Audience::Everybody));
        incident_update::Entity::insert_many(entries).exec_without_returning(connection).await?;
    }
    Ok(())
}

fn last_entry(departure: &Departure<'_>) -> TimelineEntry {
    TimelineEntry {
        id: Id::random(),
        status: IncidentStatus::Resolved,
        message: departure.message.clone(),
        notify_subscribers: false,
        created_at: departure.at,
    }
}
