//! Recoveries of services from open incidents: at most one message per incident and transaction, however many
//! services recover.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::clock::Timestamp;
use crate::lifecycle::{audience, effects};
use crate::model::incident_effects::recovery_effects;
use crate::model::incident_effects::transition::IncidentTransition;
use crate::model::notification::NotificationEvent;
use crate::model::service::ServiceKey;
use crate::store::incidents::excerpt;
use crate::store::incidents::recovery::{RecoveredService, mark_services};
use crate::store::{MainError, Transaction, notification_channels};

/// Marks services as recovered from every open incident that they had joined by then, and from their own in any case.
/// Recipients of an incident with services that are still down are notified, if they have chosen this. Returns the
/// services that have recovered from incidents other than their own.
pub async fn mark_recovered(
    transaction: &Transaction,
    recovered: &[RecoveredService],
    now: Timestamp,
) -> Result<Vec<ServiceKey>, MainError> {
    if recovered.is_empty() {
        return Ok(Vec::new());
    }
    let own: HashMap<ServiceKey, Option<i64>> =
        recovered.iter().map(|recovered| (recovered.service, recovered.incident)).collect();
    let mut in_others: BTreeSet<ServiceKey> = BTreeSet::new();
    let mut incidents: BTreeMap<i64, BTreeSet<ServiceKey>> = BTreeMap::new();
    for (incident, service) in mark_services(transaction, recovered).await? {
        incidents.entry(incident).or_default().insert(service);
        if own.get(&service).copied().flatten() != Some(incident) {
            in_others.insert(service);
        }
    }
    let listening =
        notification_channels::wanting(transaction, NotificationEvent::IncidentServiceRecovered).await?;
    if !listening.is_empty() {
        for (incident, services) in incidents {
            tell(transaction, incident, services, &listening, now).await?;
        }
    }
    Ok(in_others.into_iter().collect())
}

async fn tell(
    transaction: &Transaction,
    incident: i64,
    services: BTreeSet<ServiceKey>,
    listening: &[i64],
    now: Timestamp,
) -> Result<(), MainError> {
    let recovered: Vec<ServiceKey> = services.iter().copied().collect();
    let after = excerpt::of_key_for_update(transaction, incident, &recovered).await?;
    let Some(after) = after else { return Ok(()) };
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
