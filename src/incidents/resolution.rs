//! Incidents whose services all work again: they are monitored for a while, then resolved. Incidents that users have taken
//! over are left to them.

use std::collections::BTreeMap;

use crate::clock::Timestamp;
use crate::incidents::context::IncidentContext;
use crate::incidents::followed_policy::policy_of;
use crate::incidents::incident_texts;
use crate::lifecycle;
use crate::lifecycle::engine_entries;
use crate::model::incident::{IncidentStatus, WholeIncident};
use crate::model::incident_policy::IncidentRules;
use crate::model::outage::Outage;
use crate::model::service::ServiceKey;
use crate::store::incidents::excerpt;
use crate::store::outages::incident_end;
use crate::store::{MainError, outages};

/// Milliseconds between two checks of an incident that waits for people, or for other services to recover.
const LATER_MS: i64 = 60_000;
/// The additional wait of all but the first of the outages that wait together, in milliseconds: the first one checks for
/// all of them.
const RESTING_MS: i64 = 3_600_000;
/// Maximum number of outages that are deleted in one transaction.
const FORGOTTEN_AT_ONCE: u64 = 500;

/// Monitors or resolves the incidents of these outages if all their services work again; returns the number of incidents
/// that were written.
pub(super) async fn settle_incidents(
    context: &IncidentContext<'_>,
    reported: Vec<Outage>,
) -> Result<usize, MainError> {
    let mut written = 0;
    let (recovered, lasting): (Vec<Outage>, Vec<Outage>) =
        reported.into_iter().partition(|outage| outage.recovered_at.is_some());
    // A lasting outage with an incident need not be considered before the next change.
    let lasting: Vec<Outage> =
        lasting.into_iter().map(|outage| Outage { evaluate_at: None, ..outage }).collect();
    outages::save(context.transaction, &lasting).await?;
    let mut of_incidents: BTreeMap<i64, Vec<ServiceKey>> = BTreeMap::new();
    let mut alone: Vec<ServiceKey> = Vec::new();
    for outage in recovered {
        match outage.incident {
            Some(incident) => of_incidents.entry(incident).or_default().push(outage.service),
            // An outage without its incident has nothing left to wait for.
            None => alone.push(outage.service),
        }
    }
    outages::forget(context.transaction, &alone).await?;
    for (incident, services) in of_incidents {
        written += usize::from(settle(context, incident, &services).await?);
    }
    Ok(written)
}

/// Monitors or resolves one incident if all its services work again; returns true if it was written. `services` have just
/// recovered from the incident, or wait for its end.
async fn settle(context: &IncidentContext<'_>, key: i64, services: &[ServiceKey]) -> Result<bool, MainError> {
    let later = context.now.plus_ms(LATER_MS);
    let Some(recovered_at) = incident_end::last_recovery(context.transaction, key).await? else {
        // The last recovery is handled at once; this wait is for the case that the service that is still down is deleted.
        wait(context, services, later).await?;
        return Ok(false);
    };
    let Some(stored) = excerpt::of_key_for_update(context.transaction, key, &[]).await? else {
        return Ok(false);
    };
    let last_recovery = excerpt::last_recovery(context.transaction, key).await?;
    let recovered_at = last_recovery.max(Some(recovered_at)).unwrap_or(recovered_at);
    let is_ours = stored.follows_outages() && !incident_end::is_any_failing(context.transaction, key).await?;
    let resolves_at = if is_ours { resolves_at(context, &stored, recovered_at).await? } else { None };
    let mut changed = stored.clone();
    match resolves_at {
        _ if stored.incident.is_resolved() => forget(context, key).await?,
        Some(at) if at <= context.now => {
            let entry = incident_texts::entry(
                IncidentStatus::Resolved,
                incident_texts::resolved(context.organisation),
                context.now,
            );
            changed.resolve(entry, recovered_at.max(changed.incident.started_at));
            forget(context, key).await?;
        }
        resolves_at => {
            if is_ours {
                start_monitoring(context, &mut changed);
            }
            // A resolution by a user, or another recovery, is noticed at that time.
            wait(context, services, resolves_at.unwrap_or(later)).await?;
        }
    }
    lifecycle::incidents::save(context.transaction, &stored, &changed, context.now).await?;
    let (before, after) = (&stored.incident, &changed.incident);
    engine_entries::note_incident(context.transaction, Some(before), after, context.now).await?;
    Ok(changed != stored)
}

/// Lets the first of these outages be considered at `evaluate_at`, the others much later: all wait for the same event, so
/// one of them is enough.
async fn wait(
    context: &IncidentContext<'_>,
    services: &[ServiceKey],
    evaluate_at: Timestamp,
) -> Result<(), MainError> {
    let Some((first, others)) = services.split_first() else { return Ok(()) };
    outages::postpone_recovered(context.transaction, &[*first], evaluate_at).await?;
    outages::postpone_recovered(context.transaction, others, evaluate_at.plus_ms(RESTING_MS)).await
}

/// Deletes the outages of a closed incident. If there are more than one transaction deletes, the others are considered
/// again at once.
async fn forget(context: &IncidentContext<'_>, key: i64) -> Result<(), MainError> {
    incident_end::forget_recovered(context.transaction, key, FORGOTTEN_AT_ONCE, context.now).await
}

/// Returns the time at which an incident is resolved whose services have worked since `recovered_at`; `None` if only users
/// resolve it. Without a policy the default rules apply.
async fn resolves_at(
    context: &IncidentContext<'_>,
    incident: &WholeIncident,
    recovered_at: Timestamp,
) -> Result<Option<Timestamp>, MainError> {
    let policy = policy_of(context, incident).await?;
    Ok(policy.map_or_else(IncidentRules::default, |policy| policy.rules.clone()).resolves_at(recovered_at))
}

/// Adds the entry that all services work again, unless the incident is already monitored.
fn start_monitoring(context: &IncidentContext<'_>, incident: &mut WholeIncident) {
    if incident.incident.status != IncidentStatus::Monitoring {
        let message = incident_texts::monitoring(context.organisation);
        incident.post(incident_texts::entry(IncidentStatus::Monitoring, message, context.now));
    }
}
