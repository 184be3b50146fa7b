//! Incidents whose services all work again: they are monitored for a while, then resolved; incidents that people have taken
//! over are left to them.

use std::collections::BTreeMap;

use crate::clock::Timestamp;
use crate::incidents::context::IncidentContext;
use crate::incidents::followed_policy::policy_of;
use crate::incidents::incident_texts;
use crate::lifecycle;
use crate::model::incident::{IncidentStatus, WholeIncident};
use crate::model::incident_policy::IncidentRules;
use crate::model::outage::Outage;
use crate::model::service::ServiceKey;
use crate::store::incidents::excerpt;
use crate::store::outages::incident_end;
use crate::store::{MainError, outages};

/// Milliseconds between two checks of an incident that waits for people, or for other services to recover.
const LATER_MS: i64 = 60_000;
/// The interval for all but one of the outages that wait together: that one checks for all of them.
const RESTING_MS: i64 = 3_600_000;
/// Maximum number of outages that are deleted in one transaction.
const FORGOTTEN_AT_ONCE: u64 = 500;

/// Settles the incidents of these outages, which are over or may be; returns the number of written ones.
pub(super) async fn settle_incidents(
    desk: &IncidentContext<'_>,
    reported: Vec<Outage>,
) -> Result<usize, MainError> {
    let mut written = 0;
    let (recovered, lasting): (Vec<Outage>, Vec<Outage>) =
        reported.into_iter().partition(|outage| outage.recovered_at.is_some());
    // A lasting outage with an incident need not be considered before the next change.
    let lasting: Vec<Outage> = lasting.into_iter().map(|outage| Outage { look_at: None, ..outage }).collect();
    outages::save(desk.transaction, &lasting).await?;
    let mut of_incidents: BTreeMap<i64, Vec<ServiceKey>> = BTreeMap::new();
    let mut alone: Vec<ServiceKey> = Vec::new();
    for outage in recovered {
        match outage.incident {
            Some(incident) => of_incidents.entry(incident).or_default().push(outage.service),
            // An outage without its incident has nothing left to wait for.
            None => alone.push(outage.service),
        }
    }
    outages::forget(desk.transaction, &alone).await?;
    for (incident, services) in of_incidents {
        written += usize::from(settle(desk, incident, &services).await?);
    }
    Ok(written)
}

/// Settles one incident, if everything works again; returns true if it was written. These services have just recovered from it,
/// or wait for its end.
async fn settle(desk: &IncidentContext<'_>, key: i64, services: &[ServiceKey]) -> Result<bool, MainError> {
    let later = desk.now.plus_ms(LATER_MS);
    let Some(recovered_at) = incident_end::last_recovery(desk.transaction, key).await? else {
        // The last recovery is handled at once; this covers the deletion of that service.
        wait(desk, services, later).await?;
        return Ok(false);
    };
    let Some(stored) = excerpt::of_key_for_update(desk.transaction, key, &[]).await? else {
        return Ok(false);
    };
    let last_recovery = excerpt::last_recovery(desk.transaction, key).await?;
    let recovered_at = last_recovery.max(Some(recovered_at)).unwrap_or(recovered_at);
    let is_ours = stored.follows_outages() && !incident_end::is_any_failing(desk.transaction, key).await?;
    let resolves_at = if is_ours { resolves_at(desk, &stored, recovered_at).await? } else { None };
    let mut changed = stored.clone();
    match resolves_at {
        _ if stored.incident.is_resolved() => forget(desk, key).await?,
        Some(at) if at <= desk.now => {
            let entry = incident_texts::entry(
                IncidentStatus::Resolved,
                incident_texts::resolved(desk.organisation),
                desk.now,
            );
            changed.resolve(entry, recovered_at.max(changed.incident.started_at));
            forget(desk, key).await?;
        }
        resolves_at => {
            if is_ours {
                start_monitoring(desk, &mut changed);
            }
            // A resolution by people, or another recovery, is noticed then.
            wait(desk, services, resolves_at.unwrap_or(later)).await?;
        }
    }
    lifecycle::incidents::save(desk.transaction, &stored, &changed, desk.now).await?;
    Ok(changed != stored)
}

/// Lets the first of these outages be considered at `look_at`, the others much later: they wait for the same, and one of them
/// is enough.
async fn wait(
    desk: &IncidentContext<'_>,
    services: &[ServiceKey],
    look_at: Timestamp,
) -> Result<(), MainError> {
    let Some((first, others)) = services.split_first() else { return Ok(()) };
    outages::postpone_recovered(desk.transaction, &[*first], look_at).await?;
    outages::postpone_recovered(desk.transaction, others, look_at.plus_ms(RESTING_MS)).await
}

/// Deletes outages of a closed incident; if there are more than one transaction takes, the next one is considered now.
async fn forget(desk: &IncidentContext<'_>, key: i64) -> Result<(), MainError> {
    incident_end::forget_recovered(desk.transaction, key, (FORGOTTEN_AT_ONCE, desk.now)).await
}

/// Returns the time at which an incident is resolved that works since `recovered_at`; `None` = people resolve it. Without a
/// policy the default policy applies.
async fn resolves_at(
    desk: &IncidentContext<'_>,
    incident: &WholeIncident,
    recovered_at: Timestamp,
) -> Result<Option<Timestamp>, MainError> {
    let policy = policy_of(desk, incident).await?;
    Ok(policy.map_or_else(IncidentRules::default, |policy| policy.rules.clone()).resolves_at(recovered_at))
}

/// Adds the entry that everything works again, once.
fn start_monitoring(desk: &IncidentContext<'_>, incident: &mut WholeIncident) {
    if incident.incident.status != IncidentStatus::Monitoring {
        let message = incident_texts::monitoring(desk.organisation);
        incident.post(incident_texts::entry(IncidentStatus::Monitoring, message, desk.now));
    }
}
