//! Services that recover from open incidents: each incident is told once a transaction, however many services recover.

use std::collections::{BTreeMap, BTreeSet};

use crate::clock::Timestamp;
use crate::lifecycle::{audience, effects};
use crate::model::incident_effects::recovery_effects;
use crate::model::incident_effects::transition::IncidentTransition;
use crate::model::notification::Event;
use crate::model::service::ServiceKey;
use crate::store::incidents::of_key_for_update;
use crate::store::incidents::recovery::{incidents_to_mark, mark_service};
use crate::store::{MainError, Transaction, notification_channels};

/// A service that works again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveredService {
    /// The service.
    pub service: ServiceKey,
    /// The time since which it works.
    pub at: Timestamp,
    /// Key of the incident that its outage belongs to.
    pub incident: Option<i64>,
}

/// Marks services as recovered from every open incident that they were in by then, and from their own in any case; those who were
/// told of an incident that others have not recovered from are told, if they want that. Returns the services that have recovered
/// from other incidents than their own.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn mark_recovered(
    transaction: &Transaction,
    recovered: &[RecoveredService],
    now: Timestamp,
) -> Result<Vec<ServiceKey>, MainError> {
    let mut in_others = Vec::new();
    if recovered.is_empty() {
        return Ok(in_others);
    }
    let listening = notification_channels::wanting(transaction, Event::IncidentServiceRecovered).await?;
    let mut incidents: BTreeMap<i64, BTreeSet<ServiceKey>> = BTreeMap::new();
    for RecoveredService { service, at, incident } in recovered {
        if !listening.is_empty() {
            for key in incidents_to_mark(transaction, *service, (*at, *incident)).await? {
                incidents.entry(key).or_default().insert(*service);
            }
        }
        if mark_service(transaction, *service, (*at, *incident)).await? > u64::from(incident.is_some()) {
            in_others.push(*service);
        }
    }
    for (incident, services) in incidents {
        tell(transaction, (incident, &services), (&listening, now)).await?;
    }
    Ok(in_others)
}

async fn tell(
    transaction: &Transaction,
    (incident, services): (i64, &BTreeSet<ServiceKey>),
    (listening, now): (&[i64], Timestamp),
) -> Result<(), MainError> {
    let Some(after) = of_key_for_update(transaction, incident).await? else { return Ok(()) };
    if !listening.contains(&after.incident.organisation) {
        return Ok(());
    }
    let mut before = after.clone();
    let own = before.services.iter_mut().filter(|affected| services.contains(&affected.service));
    own.for_each(|affected| affected.recovered_at = None);
    let change = IncidentTransition { before: Some(&before), after: &after, leaving: None, at: now };
    let Some(audience) = audience::of_recovery(transaction, &change).await? else { return Ok(()) };
    effects::carry_out(transaction, recovery_effects(&change, &audience), now).await
}
