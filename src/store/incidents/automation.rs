//! Which incidents the engine has opened, and what people have edited in them.

use std::collections::{HashMap, HashSet};

use sea_orm::sea_query::{Query, SelectStatement};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, ExprTrait as _, JoinType,
    QueryFilter, QueryOrder, QuerySelect,
};
use watchkeeper_entities::incident_automation::{ActiveModel, Column, Entity};
use watchkeeper_entities::{incident, incident_service};

use crate::clock::Timestamp;
use crate::model::automation::{Automation, Edited};
use crate::model::incident::Affected;
use crate::model::incident_policy::IncidentPolicy;
use crate::store::MainError;
use crate::store::incidents::links;

/// The automation of an incident; `None` when a person has made it.
pub(super) async fn find(
    connection: &impl ConnectionTrait,
    incident: i64,
) -> Result<Option<Automation>, MainError> {
    let row = Entity::find_by_id(incident).one(connection).await?;
    let automation = |row: watchkeeper_entities::incident_automation::Model| Automation {
        policy: row.policy_id,
        edited: Edited::from_words(&row.edited.unwrap_or_default()),
    };
    Ok(row.map(automation))
}

/// Those of these incidents that the engine has opened and whose title no person has written.
///
/// # Errors
/// When the database fails.
pub async fn with_own_titles(
    connection: &impl ConnectionTrait,
    incidents: &[i64],
) -> Result<HashSet<i64>, MainError> {
    let rows = Entity::find().filter(Column::IncidentId.is_in(incidents.iter().copied()));
    let rows = rows.all(connection).await?;
    let is_ours = |row: &&watchkeeper_entities::incident_automation::Model| {
        !Edited::from_words(row.edited.as_deref().unwrap_or_default()).title
    };
    Ok(rows.iter().filter(is_ours).map(|row| row.incident_id).collect())
}

/// The services of those of these incidents that the engine has opened and whose title no person has written: all that such a
/// title may name, by name.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn titled_services(
    connection: &impl ConnectionTrait,
    incidents: &[i64],
) -> Result<HashMap<i64, Vec<Affected>>, MainError> {
    let ours = with_own_titles(connection, incidents).await?;
    let keys: Vec<i64> = ours.iter().copied().collect();
    let mut found = links::affected_in_full(connection, &keys).await?;
    Ok(ours.into_iter().map(|key| (key, found.remove(&key).unwrap_or_default())).collect())
}

/// Stores a change of it.
pub(super) async fn save(
    connection: &impl ConnectionTrait,
    incident: i64,
    (before, after): (Option<Automation>, Option<Automation>),
) -> Result<(), MainError> {
    let Some(Automation { policy, edited }) = after.filter(|_| before != after) else { return Ok(()) };
    let row = ActiveModel {
        incident_id: Set(incident),
        policy_id: Set(policy),
        edited: Set(Some(edited.to_words())),
    };
    if before.is_some() {
        row.update(connection).await?;
    } else {
        Entity::insert(row).exec_without_returning(connection).await?;
    }
    Ok(())
}

/// Keys of the open incidents that the engine has opened by this policy, or by one that is gone, and that have grown since
/// `from`, the newest first.
///
/// # Errors
/// When the database fails.
pub async fn open_of_policy(
    connection: &impl ConnectionTrait,
    policy: &IncidentPolicy,
    from: Timestamp,
) -> Result<Vec<i64>, MainError> {
    let to_incident =
        Entity::belongs_to(incident::Entity).from(Column::IncidentId).to(incident::Column::Id).into();
    let keys = Entity::find()
        .select_only()
        .column(Column::IncidentId)
        .join(JoinType::InnerJoin, to_incident)
        .filter(Column::PolicyId.eq(policy.key).or(Column::PolicyId.is_null()))
        .filter(incident::Column::OrganisationId.eq(policy.organisation))
        .filter(incident::Column::ResolvedAt.is_null())
        .filter(Column::IncidentId.in_subquery(grown_since(from)))
        .order_by_desc(incident::Column::StartedAt)
        .order_by_desc(incident::Column::Id);
    Ok(keys.into_tuple().all(connection).await?)
}

/// Incidents that a service has joined since then.
fn grown_since(from: Timestamp) -> SelectStatement {
    Query::select()
        .column(incident_service::Column::IncidentId)
        .from(incident_service::Entity)
        .and_where(incident_service::Column::AddedAt.gte(from.ms()))
        .to_owned()
}
