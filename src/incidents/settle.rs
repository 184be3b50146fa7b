//! Incidents of which everything works again: they are watched for a while, then resolved; those that people have taken
//! over are left to them.

use std::collections::BTreeSet;

use crate::clock::Timestamp;
use crate::incidents::desk::Desk;
use crate::incidents::following::policy_of;
use crate::incidents::prose;
use crate::lifecycle;
use crate::model::incident::{IncidentStatus, WholeIncident};
use crate::model::incident_policy::IncidentRules;
use crate::model::outage::Outage;
use crate::model::service::ServiceKey;
use crate::store::{MainError, incidents, outages};

/// Milliseconds between two looks at an incident that waits for people, or for others to recover.
const LATER_MS: i64 = 60_000;

/// Settles the incidents of these outages, which are over or may be; returns how many were written.
pub(super) async fn all(desk: &Desk<'_>, told: Vec<Outage>) -> Result<usize, MainError> {
    let mut written = 0;
    let (recovered, lasting): (Vec<Outage>, Vec<Outage>) =
        told.into_iter().partition(|outage| outage.recovered_at.is_some());
    // Of what lasts and was told there is nothing to be seen before the next change.
    let lasting: Vec<Outage> = lasting.into_iter().map(|outage| Outage { look_at: None, ..outage }).collect();
    outages::save(desk.transaction, &lasting).await?;
    let of_incidents: BTreeSet<i64> = recovered.iter().filter_map(|outage| outage.incident).collect();
    // Whose incident is gone has nothing left to wait for.
    let alone: Vec<ServiceKey> =
        recovered.iter().filter(|outage| outage.incident.is_none()).map(|outage| outage.service).collect();
    outages::forget(desk.transaction, &alone).await?;
    for incident in of_incidents {
        written += usize::from(settle(desk, incident).await?);
    }
    Ok(written)
}

/// Settles one incident, if everything works again; returns true if it was written.
async fn settle(desk: &Desk<'_>, key: i64) -> Result<bool, MainError> {
    let of_incident = outages::of_incident(desk.transaction, key).await?;
    let later = desk.now.plus_ms(LATER_MS);
    let last = of_incident.iter().map(|outage| outage.recovered_at).collect::<Option<Vec<Timestamp>>>();
    let Some(recovered_at) = last.and_then(|all| all.into_iter().max()) else {
        // Whoever recovers last looks at once; this is for when that one is deleted.
        outages::postpone_recovered(desk.transaction, &keys(&of_incident), later).await?;
        return Ok(false);
    };
    let Some(stored) = incidents::of_key_for_update(desk.transaction, key).await? else { return Ok(false) };
    let recovered_at = stored.last_recovery().max(Some(recovered_at)).unwrap_or(recovered_at);
    let is_ours = stored.follows_outages() && !is_anything_failing(desk, &stored).await?;
    let resolves_at = if is_ours { resolves_at(desk, &stored, recovered_at).await? } else { None };
    let mut changed = stored.clone();
    match resolves_at {
        _ if stored.incident.is_resolved() => {
            outages::forget_recovered(desk.transaction, &keys(&of_incident)).await?;
        }
        Some(at) if at <= desk.now => {
            let entry = prose::entry(IncidentStatus::Resolved, prose::resolved(desk.organisation), desk.now);
            changed.resolve(entry, recovered_at.max(changed.incident.started_at));
            outages::forget_recovered(desk.transaction, &keys(&of_incident)).await?;
        }
        resolves_at => {
            if is_ours {
                watch(desk, &mut changed);
            }
            // Whoever resolves it instead, or recovers as well, is noticed then.
            let look_at = resolves_at.unwrap_or(later);
            outages::postpone_recovered(desk.transaction, &keys(&of_incident), look_at).await?;
        }
    }
    lifecycle::incidents::save(desk.transaction, &stored, &changed, desk.now).await?;
    Ok(changed != stored)
}

/// Returns true if a service that has not recovered from the incident is in trouble. One that never was has nothing to recover
/// from: a person has added it, and nobody waits for it.
async fn is_anything_failing(desk: &Desk<'_>, incident: &WholeIncident) -> Result<bool, MainError> {
    let unrecovered: Vec<ServiceKey> = incident.unrecovered().collect();
    let outages = outages::of_services(desk.transaction, &unrecovered).await?;
    Ok(outages.iter().any(|outage| outage.recovered_at.is_none()))
}

/// The time at which an incident is resolved of which everything works since `recovered_at`; `None` = people resolve it. Without
/// a policy that decides it is resolved as by a policy that nobody has changed.
async fn resolves_at(
    desk: &Desk<'_>,
    incident: &WholeIncident,
    recovered_at: Timestamp,
) -> Result<Option<Timestamp>, MainError> {
    let policy = policy_of(desk, incident).await?;
    Ok(policy.map_or_else(IncidentRules::default, |policy| policy.rules.clone()).resolves_at(recovered_at))
}

/// Says once that everything works again.
fn watch(desk: &Desk<'_>, incident: &mut WholeIncident) {
    if incident.incident.status != IncidentStatus::Monitoring {
        let message = prose::monitoring(desk.organisation);
        incident.post(prose::entry(IncidentStatus::Monitoring, message, desk.now));
    }
}

fn keys(some: &[Outage]) -> Vec<ServiceKey> {
    some.iter().map(|outage| outage.service).collect()
}
