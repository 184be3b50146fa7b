//! Steps of escalations that are due, of every organisation; nothing that answers a client may use it.
//!
//! A step is taken in one transaction with its messages: whatever is killed when, it happens once. Whoever takes one locks the
//! organisation first, as everybody does who writes incidents.

use std::collections::BTreeSet;

use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder,
    QuerySelect,
};
use watchkeeper_entities::escalation::{ActiveModel, Column, Entity, Model};

use crate::clock::Timestamp;
use crate::model::contact::Contact;
use crate::model::escalation::Step;
use crate::model::time_range::TimeRange;
use crate::store::escalations::{from_row, to_row, waits_for_somebody};
use crate::store::notifications::outbox;
use crate::store::notifications::people::Reached;
use crate::store::oncall::{rosters, schedules};
use crate::store::{MainError, contacts, escalation_policies, incidents, organisations};

/// An incident whose next step is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueStep {
    /// Key of the incident.
    pub incident: i64,
    /// Key of its organisation.
    pub organisation: i64,
}

/// The incidents whose next step is due, the longest due ones first; of every organisation.
///
/// # Errors
/// When the database fails.
pub async fn due(
    connection: &impl ConnectionTrait,
    now: Timestamp,
    limit: u64,
) -> Result<Vec<DueStep>, MainError> {
    let rows = Entity::find()
        .filter(Column::DueAt.lte(now.ms()))
        .order_by_asc(Column::DueAt)
        .limit(limit)
        .all(connection)
        .await?;
    let due = |row: Model| DueStep { incident: row.incident_id, organisation: row.organisation_id };
    Ok(rows.into_iter().map(due).collect())
}

/// Takes the step that is due, if it still is: writes its messages, and when the next one comes. Returns the number of
/// messages that leave now.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn take_step(
    connection: &impl ConnectionTrait,
    due: DueStep,
    now: Timestamp,
) -> Result<usize, MainError> {
    organisations::lock(connection, due.organisation).await?;
    let wanted = Entity::find_by_id(due.incident).filter(Column::DueAt.lte(now.ms())).lock_exclusive();
    let Some(row) = wanted.one(connection).await? else { return Ok(0) };
    let whole = incidents::of_key_for_update(connection, due.incident).await?;
    let policy = escalation_policies::with_key(connection, row.policy_id).await?;
    let (Some(whole), Some(policy)) = (whole.filter(waits_for_somebody), policy) else {
        Entity::delete_by_id(due.incident).exec(connection).await?;
        return Ok(0);
    };
    let progress = from_row(&row)?;
    let messages = match progress.step(&policy) {
        Some(step) => {
            let channels: Vec<i64> = step.channels.iter().map(|told| told.key).collect();
            let people = people_of(connection, step, now).await?;
            outbox::tell_of_escalation(connection, &whole, (&channels, &people), now).await?
        }
        None => 0,
    };
    let next = progress.after_step(&policy, now, messages > 0);
    let row = ActiveModel { incident_id: Set(row.incident_id), ..to_row(next) };
    row.update(connection).await?;
    Ok(messages)
}

/// The people of a step: whoever is on duty now in its schedules, and the contacts that it names. A contact that is both is on
/// duty.
async fn people_of(
    connection: &impl ConnectionTrait,
    step: &Step,
    now: Timestamp,
) -> Result<Vec<Reached>, MainError> {
    let keys: Vec<i64> = step.schedules.iter().map(|schedule| schedule.key).collect();
    let schedules = schedules::with_keys(connection, &keys).await?;
    let moment = TimeRange { from: now, to: now.plus_ms(1) };
    let kept = rosters::of_schedules(connection, schedules, moment).await?;
    let on_duty = kept.iter().filter_map(|kept| kept.roster().on_duty(now)).map(|shift| shift.contact);
    let on_duty: BTreeSet<i64> = on_duty.collect();
    let named = step.contacts.iter().map(|contact| contact.key);
    let all: BTreeSet<i64> = on_duty.iter().copied().chain(named).collect();
    let all: Vec<i64> = all.into_iter().collect();
    let contacts = contacts::with_keys(connection, &all).await?;
    let reached = |contact: Contact| Reached { is_on_duty: on_duty.contains(&contact.key), contact };
    Ok(contacts.into_iter().map(reached).collect())
}
