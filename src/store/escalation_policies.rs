//! Escalation policies. Every finder is scoped by organisation, except the one by database key.
//!
//! To change the order, the caller must hold the lock of the organisation: positions are 1, 2, 3 …, without gaps.

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{Expr, ExprTrait as _};
use sea_orm::{
    ActiveModelTrait, ActiveValue::NotSet, ActiveValue::Set, ColumnTrait, EntityTrait, PaginatorTrait,
    QueryFilter, QueryOrder, QuerySelect, QueryTrait as _, Select,
};
use serde::{Deserialize, Serialize};
use watchkeeper_entities::escalation_policy::{ActiveModel, Column, Entity, Model};
use watchkeeper_entities::tag;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::escalation::{EscalationAssignment, EscalationPolicy, EscalationStep, IncidentSelection};
use crate::model::visibility::Visibility;
use crate::store::error::MainError;
use crate::store::selected_services::{StoredLink, StoredServices};

fn of_organisation(organisation: i64) -> Select<Entity> {
    Entity::find().filter(Column::OrganisationId.eq(organisation))
}

/// The policies of an organisation in their order.
pub async fn list(
    connection: &dyn StoreConnection,
    organisation: i64,
) -> Result<Vec<EscalationPolicy>, MainError> {
    let rows = of_organisation(organisation).order_by_asc(Column::Position).order_by_asc(Column::Id);
    rows.all(&connection).await?.into_iter().map(from_row).collect()
}

/// The policy of the organisation with this id.
pub async fn find(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    id: Id,
) -> Result<Option<EscalationPolicy>, MainError> {
    let wanted = of_organisation(visibility.organisation()).filter(Column::PublicId.eq(id.as_str()));
    wanted.one(&connection).await?.map(from_row).transpose()
}

/// The policy with this database key, of any organisation.
pub async fn with_key(
    connection: &dyn StoreConnection,
    key: i64,
) -> Result<Option<EscalationPolicy>, MainError> {
    Entity::find_by_id(key).one(&connection).await?.map(from_row).transpose()
}

/// Returns the number of policies of an organisation.
pub async fn count(connection: &dyn StoreConnection, organisation: i64) -> Result<u64, MainError> {
    Ok(of_organisation(organisation).count(&connection).await?)
}

/// Stores a new policy at its position; policies from this position on move down. The `key` is assigned by the database.
pub async fn insert(
    connection: &dyn StoreConnection,
    policy: EscalationPolicy,
) -> Result<EscalationPolicy, MainError> {
    move_those_from(connection, policy.organisation, policy.position, 1).await?;
    let row = ActiveModel { id: NotSet, ..to_row(&policy)? };
    let key = Entity::insert(row).exec(&connection).await?.last_insert_id;
    Ok(EscalationPolicy { key, ..policy })
}

/// Stores a changed policy, possibly at another position. Incidents that follow the policy continue with the changed
/// steps.
pub async fn update(
    connection: &dyn StoreConnection,
    before: &EscalationPolicy,
    policy: &EscalationPolicy,
) -> Result<(), MainError> {
    if before.position != policy.position {
        move_those_from(connection, before.organisation, before.position + 1, -1).await?;
        move_those_from(connection, policy.organisation, policy.position, 1).await?;
    }
    to_row(policy)?.update(&connection).await?;
    Ok(())
}

/// Deletes a policy; later ones move up. Incidents that followed it have no policy until they are changed.
pub async fn delete(connection: &dyn StoreConnection, policy: &EscalationPolicy) -> Result<(), MainError> {
    Entity::delete_by_id(policy.key).exec(&connection).await?;
    move_those_from(connection, policy.organisation, policy.position + 1, -1).await
}

/// Names of the policies that select services by this tag.
pub(super) async fn names_of_tag(
    connection: &dyn StoreConnection,
    tag: i64,
) -> Result<Vec<String>, MainError> {
    let owner = tag::Entity::find()
        .select_only()
        .column(tag::Column::OrganisationId)
        .filter(tag::Column::Id.eq(tag))
        .into_query();
    let wanted = Entity::find().filter(Column::OrganisationId.in_subquery(owner));
    let rows = wanted.order_by_asc(Column::Id).all(&connection).await?;
    let all: Vec<EscalationPolicy> = rows.into_iter().map(from_row).collect::<Result<_, _>>()?;
    let named = all.into_iter().filter(|policy| {
        let chosen = policy.assignment.selection.as_ref();
        chosen.is_some_and(|chosen| chosen.services.tags.iter().any(|named| named.key == tag))
    });
    Ok(named.map(|policy| policy.name).collect())
}

/// Names of the policies of an organisation with a step that notifies this channel.
pub async fn names_of_channel(
    connection: &dyn StoreConnection,
    organisation: i64,
    channel: i64,
) -> Result<Vec<String>, MainError> {
    let tells = |step: &EscalationStep| step.channels.iter().any(|linked| linked.key == channel);
    let all = list(connection, organisation).await?.into_iter();
    Ok(all.filter(|policy| policy.steps.iter().any(tells)).map(|policy| policy.name).collect())
}

/// Names of the policies of an organisation with a step that notifies this contact.
pub(in crate::store) async fn names_of_contact(
    connection: &dyn StoreConnection,
    organisation: i64,
    contact: i64,
) -> Result<Vec<String>, MainError> {
    let all = list(connection, organisation).await?.into_iter();
    Ok(all.filter(|policy| policy.names_contact(contact)).map(|policy| policy.name).collect())
}

/// Names of the policies of an organisation with a step that notifies the contacts who are on call in this schedule.
pub async fn names_of_schedule(
    connection: &dyn StoreConnection,
    organisation: i64,
    schedule: i64,
) -> Result<Vec<String>, MainError> {
    let all = list(connection, organisation).await?.into_iter();
    Ok(all.filter(|policy| policy.names_schedule(schedule)).map(|policy| policy.name).collect())
}

async fn move_those_from(
    connection: &dyn StoreConnection,
    organisation: i64,
    position: i32,
    by: i32,
) -> Result<(), MainError> {
    Entity::update_many()
        .col_expr(Column::Position, Expr::col(Column::Position).add(by))
        .filter(Column::OrganisationId.eq(organisation))
        .filter(Column::Position.gte(position))
        .exec(&connection)
        .await?;
    Ok(())
}

/// Stored form of `EscalationAssignment`: which incidents follow a policy.
#[derive(Serialize, Deserialize)]
struct StoredAssignment {
    min_severity: String,
    selection: Option<StoredSelection>,
}

#[derive(Serialize, Deserialize)]
struct StoredSelection {
    services: StoredServices,
    incident_policies: Vec<StoredLink>,
}

#[derive(Serialize, Deserialize)]
struct StoredStep {
    after_seconds: u32,
    channels: Vec<StoredLink>,
    #[serde(default)]
    contacts: Vec<StoredLink>,
    #[serde(default)]
    schedules: Vec<StoredLink>,
}

impl StoredAssignment {
    fn of(assignment: &EscalationAssignment) -> Self {
        let selection = assignment.selection.as_ref().map(|chosen| StoredSelection {
            services: StoredServices::of(&chosen.services),
            incident_policies: StoredLink::all(&chosen.incident_policies),
        });
        Self { min_severity: assignment.min_severity.to_string(), selection }
    }

    fn read(self) -> Option<EscalationAssignment> {
        let selection = match self.selection {
            Some(chosen) => Some(IncidentSelection {
                services: chosen.services.read()?,
                incident_policies: StoredLink::read(chosen.incident_policies)?,
            }),
            None => None,
        };
        Some(EscalationAssignment { min_severity: self.min_severity.parse().ok()?, selection })
    }
}

impl StoredStep {
    fn of(step: &EscalationStep) -> Self {
        Self {
            after_seconds: step.after_seconds,
            channels: StoredLink::all(&step.channels),
            contacts: StoredLink::all(&step.contacts),
            schedules: StoredLink::all(&step.schedules),
        }
    }

    fn read(self) -> Option<EscalationStep> {
        Some(EscalationStep {
            after_seconds: self.after_seconds,
            channels: StoredLink::read(self.channels)?,
            contacts: StoredLink::read(self.contacts)?,
            schedules: StoredLink::read(self.schedules)?,
        })
    }
}

fn to_row(policy: &EscalationPolicy) -> Result<ActiveModel, MainError> {
    let unwritable = |problem| MainError::corrupt("escalation_policy", &policy.id, &problem);
    let steps: Vec<StoredStep> = policy.steps.iter().map(StoredStep::of).collect();
    let repeat = policy.repeat_after_seconds.map(|seconds| i32::try_from(seconds).unwrap_or(i32::MAX));
    let assignment = StoredAssignment::of(&policy.assignment);
    Ok(ActiveModel {
        id: Set(policy.key),
        public_id: Set(policy.id.to_string()),
        organisation_id: Set(policy.organisation),
        position: Set(policy.position),
        name: Set(policy.name.clone()),
        assignment: Set(serde_json::to_string(&assignment).map_err(unwritable)?),
        steps: Set(serde_json::to_string(&steps).map_err(unwritable)?),
        repeat_after_seconds: Set(repeat),
        created_at: Set(policy.created_at.ms()),
        updated_at: Set(policy.updated_at.ms()),
    })
}

fn from_row(row: Model) -> Result<EscalationPolicy, MainError> {
    let corrupt = |problem: &str| MainError::corrupt("escalation_policy", &row.id, &problem);
    let assignment: Option<StoredAssignment> = serde_json::from_str(&row.assignment).ok();
    let steps: Option<Vec<StoredStep>> = serde_json::from_str(&row.steps).ok();
    let steps = steps.and_then(|steps| steps.into_iter().map(StoredStep::read).collect());
    let repeat = row.repeat_after_seconds.map(u32::try_from).transpose();
    Ok(EscalationPolicy {
        key: row.id,
        id: row.public_id.parse().map_err(|_| corrupt("its id is malformed"))?,
        organisation: row.organisation_id,
        position: row.position,
        assignment: assignment
            .and_then(StoredAssignment::read)
            .ok_or_else(|| corrupt("its assignment cannot be read"))?,
        steps: steps.ok_or_else(|| corrupt("its steps cannot be read"))?,
        repeat_after_seconds: repeat.map_err(|_| corrupt("seconds below 0"))?,
        name: row.name,
        created_at: Timestamp::from_ms(row.created_at),
        updated_at: Timestamp::from_ms(row.updated_at),
    })
}
