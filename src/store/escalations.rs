//! How far incidents have come in the escalation policies that they follow.
//!
//! There is a row for an incident while it is open, nobody has acknowledged it, and a policy matches. It begins and ends in
//! the transaction of the incident. What is due is in `escalation_steps`.

use sea_orm::{ActiveModelTrait, ActiveValue::Set, ConnectionTrait, EntityTrait};
use watchkeeper_entities::escalation::{ActiveModel, Entity, Model};

use crate::clock::Timestamp;
use crate::model::escalation::{Case, EscalationPolicy, Progress, first_match};
use crate::model::incident::WholeIncident;
use crate::store::notifications::outbox;
use crate::store::{MainError, escalation_policies};

/// An incident follows the first policy that matches, from now on until somebody acknowledges it or it is over. One that
/// follows a policy stays with it.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub(in crate::store) async fn follow(
    connection: &impl ConnectionTrait,
    before: Option<&WholeIncident>,
    after: &WholeIncident,
    now: Timestamp,
) -> Result<(), MainError> {
    let incident = &after.incident;
    if !waits_for_somebody(after) {
        if before.is_some() {
            Entity::delete_by_id(incident.key).exec(connection).await?;
        }
        return Ok(());
    }
    let policies = escalation_policies::list(connection, incident.organisation).await?;
    if policies.is_empty() || Entity::find_by_id(incident.key).one(connection).await?.is_some() {
        return Ok(());
    }
    let case = Case {
        severity: incident.severity,
        concerned: outbox::concerned(connection, after).await?,
        incident_policy: after.automation.and_then(|automation| automation.policy),
    };
    let Some(policy) = first_match(&policies, &case) else { return Ok(()) };
    let progress = Progress::begin(policy, now);
    let row = ActiveModel {
        incident_id: Set(incident.key),
        organisation_id: Set(incident.organisation),
        policy_id: Set(policy.key),
        ..to_row(progress)
    };
    Entity::insert(row).exec_without_returning(connection).await?;
    Ok(())
}

/// The policy that an incident follows, and how far it has come; `None` when it follows none.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn find(
    connection: &impl ConnectionTrait,
    incident: i64,
) -> Result<Option<(EscalationPolicy, Progress)>, MainError> {
    let Some(row) = Entity::find_by_id(incident).one(connection).await? else { return Ok(None) };
    let policy = escalation_policies::with_key(connection, row.policy_id).await?;
    let progress = from_row(&row)?;
    Ok(policy.map(|policy| (policy, progress)))
}

pub(super) fn to_row(progress: Progress) -> ActiveModel {
    ActiveModel {
        round: Set(i32::try_from(progress.round).unwrap_or(i32::MAX)),
        next_step: Set(i32::try_from(progress.next_step).unwrap_or(i32::MAX)),
        due_at: Set(progress.due_at.map(Timestamp::ms)),
        ..<ActiveModel as ActiveModelTrait>::default()
    }
}

pub(super) fn from_row(row: &Model) -> Result<Progress, MainError> {
    let corrupt = |problem: &str| MainError::corrupt("escalation", &row.incident_id, &problem);
    Ok(Progress {
        round: u32::try_from(row.round).map_err(|_| corrupt("its round is below 0"))?,
        next_step: usize::try_from(row.next_step).map_err(|_| corrupt("its step is below 0"))?,
        due_at: row.due_at.map(Timestamp::from_ms),
    })
}

pub(super) fn waits_for_somebody(whole: &WholeIncident) -> bool {
    !whole.incident.is_resolved() && whole.incident.acknowledgement.is_none()
}
