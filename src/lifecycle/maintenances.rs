//! New, changed and deleted maintenances, with everything that follows from the change: events, facts for
//! subscribers, reminders, and the windows that exclude the time of covered services from uptime.
//!
//! Functions return the services that the engine must update after the commit.

use crate::clock::Timestamp;
use crate::lifecycle::effects;
use crate::model::event::{EventAction, EventSubjectKind};
use crate::model::maintenance::transition::MaintenanceTransition;
use crate::model::maintenance::{Maintenance, MaintenanceKey};
use crate::model::maintenance_effects::{maintenance_effects, reminder_effect};
use crate::model::service::{Service, ServiceKey};
use crate::model::timeline_size::TimelineSize;
use crate::store::maintenances::reminders::DueReminder;
use crate::store::maintenances::{due, effect, links, reminders, row_changes, timeline};
use crate::store::subscriber_facts::pages;
use crate::store::{MainError, Transaction, events, organisations, outages};

/// Stores a new maintenance of these services, shown on these status pages; its `key` is assigned by the database and
/// returned in the result.
pub async fn insert(
    transaction: &Transaction,
    maintenance: Maintenance,
    services: &[ServiceKey],
    statuspages: &[i64],
) -> Result<Maintenance, MainError> {
    let stored = row_changes::insert(transaction, maintenance).await?;
    links::cover(transaction, stored.key, services).await?;
    links::show_on(transaction, stored.key, statuspages).await?;
    events::of_keys(transaction, EventSubjectKind::Maintenance, EventAction::Created, &[stored.key], &[])
        .await?;
    Ok(stored)
}

/// Stores the result of an action on a maintenance: row, timeline, facts for subscribers, reminders and windows. No entry
/// is added to a full timeline, and subscribers are notified only of entries that were added.
pub async fn carry_out(
    transaction: &Transaction,
    step: &MaintenanceTransition,
    now: Timestamp,
) -> Result<Vec<Service>, MainError> {
    let size = match step.entries.is_empty() {
        true => TimelineSize::default(),
        false => TimelineSize::of(&timeline::of(transaction, step.after.key).await?),
    };
    let step = &step.clone().fitted(size);
    let maintenance = &step.after;
    row_changes::update(transaction, maintenance).await?;
    let entries = timeline::add(transaction, maintenance.key, &step.entries).await?;
    let shown = if step.entries.iter().any(|entry| entry.notify_subscribers) {
        pages::that_show_maintenance(transaction, maintenance.key).await?
    } else {
        Vec::new()
    };
    effects::carry_out(transaction, maintenance_effects(step, &entries, &shown), now).await?;
    let planned = reminders::planned(transaction, maintenance.key).await?;
    let wanted = maintenance.reminders_to_plan(&planned, now);
    reminders::replace(transaction, maintenance.key, &planned, &wanted).await?;
    let touched = align(transaction, maintenance, now).await?;
    if maintenance.is_over() {
        release_outages(transaction, maintenance.key, now).await?;
    }
    Ok(touched)
}

/// Makes outages due that the maintenance has held back.
async fn release_outages(
    transaction: &Transaction,
    maintenance: MaintenanceKey,
    now: Timestamp,
) -> Result<(), MainError> {
    let covered = links::covered_by(transaction, maintenance).await?;
    outages::evaluate_now(transaction, &covered, now).await
}

/// Makes the maintenance cover exactly these services. Outages of services that are no longer covered become due at `now`.
pub async fn cover(
    transaction: &Transaction,
    maintenance: MaintenanceKey,
    services: &[ServiceKey],
    now: Timestamp,
) -> Result<(), MainError> {
    let mut former = links::covered_by(transaction, maintenance).await?;
    former.retain(|service| !services.contains(service));
    if !former.is_empty() {
        let this = [maintenance];
        events::of_keys(transaction, EventSubjectKind::Maintenance, EventAction::Updated, &this, &former)
            .await?;
        outages::evaluate_now(transaction, &former, now).await?;
    }
    links::cover(transaction, maintenance, services).await
}

/// Brings the windows of the maintenance in line with its current state and services.
pub async fn align(
    transaction: &Transaction,
    maintenance: &Maintenance,
    now: Timestamp,
) -> Result<Vec<Service>, MainError> {
    let wanted = if maintenance.leaves_time_out() {
        links::covered_by(transaction, maintenance.key).await?
    } else {
        Vec::new()
    };
    effect::set_windows(transaction, maintenance.key, &wanted, now).await
}

/// Ends every effect of a maintenance on services, and makes outages due that it has held back.
pub async fn end_effect(
    transaction: &Transaction,
    maintenance: MaintenanceKey,
    now: Timestamp,
) -> Result<Vec<Service>, MainError> {
    let touched = effect::set_windows(transaction, maintenance, &[], now).await?;
    release_outages(transaction, maintenance, now).await?;
    Ok(touched)
}

/// Ends the effect of a maintenance on services and deletes it with its timeline and its links.
pub async fn delete(
    transaction: &Transaction,
    maintenance: MaintenanceKey,
    now: Timestamp,
) -> Result<Vec<Service>, MainError> {
    let touched = end_effect(transaction, maintenance, now).await?;
    delete_all(transaction, &[maintenance]).await?;
    Ok(touched)
}

/// Deletes maintenances that have no effect on services, with their timelines and links.
pub(super) async fn delete_all(
    transaction: &Transaction,
    maintenances: &[MaintenanceKey],
) -> Result<(), MainError> {
    events::of_keys(transaction, EventSubjectKind::Maintenance, EventAction::Deleted, maintenances, &[])
        .await?;
    row_changes::delete(transaction, maintenances).await
}

/// Assigns a maintenance to another window of its series.
pub(super) async fn set_occurrence(
    transaction: &Transaction,
    maintenance: MaintenanceKey,
    occurrence: Timestamp,
) -> Result<(), MainError> {
    row_changes::set_occurrence(transaction, maintenance, occurrence).await?;
    events::of_keys(transaction, EventSubjectKind::Maintenance, EventAction::Updated, &[maintenance], &[])
        .await
}

/// Removes maintenances from their series: they are independent from now on.
pub(super) async fn leave_series(
    transaction: &Transaction,
    maintenances: &[MaintenanceKey],
) -> Result<(), MainError> {
    events::of_keys(transaction, EventSubjectKind::Maintenance, EventAction::Updated, maintenances, &[])
        .await?;
    row_changes::clear_series(transaction, maintenances).await
}

/// Turns a reminder into a fact for subscribers, if it is still due and useful. Returns true if it did.
pub async fn remind(transaction: &Transaction, due: DueReminder, now: Timestamp) -> Result<bool, MainError> {
    let Some(maintenance) = due::claim(transaction, due.maintenance).await? else { return Ok(false) };
    let is_taken = reminders::take_due(transaction, due, now).await?;
    let owner = organisations::get(transaction, maintenance.organisation).await?;
    let Some(owner) = owner.filter(|_| is_taken && maintenance.is_reminded(due.reminder, now)) else {
        return Ok(false);
    };
    let shown = pages::that_show_maintenance(transaction, maintenance.key).await?;
    let effect = reminder_effect(&maintenance, due.reminder, now, &owner.default_locale, &shown);
    effects::carry_out(transaction, vec![effect], now).await?;
    Ok(true)
}
