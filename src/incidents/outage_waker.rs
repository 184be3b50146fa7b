//! Outages that wait for a user's change: held back by a maintenance or an overridden status, or of a kind for which no
//! policy wants an incident.
//!
//! A change that ends the wait wakes these outages in the same transaction. Once a minute they are checked for changes
//! without a wake-up, such as new tags of a service that lead to another policy. Nothing is written without a change.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use tokio::time::Instant;

use crate::clock::Timestamp;
use crate::model::incident_policy::{IncidentPolicy, first_match};
use crate::model::outage::Outage;
use crate::model::outage::decision::{OutageCircumstances, OutageDecision};
use crate::model::partition::PartitionSet;
use crate::model::service::ServiceKey;
use crate::service_router::ServiceRouter;
use crate::store::changes::ChangeScope;
use crate::store::maintenances::effect::covered;
use crate::store::services::outlines;
use crate::store::{MainError, incident_policies, organisations, outages, tags};

/// Outages read at a time.
const AT_ONCE: u64 = 500;
/// Time between two checks.
const INTERVAL: Duration = Duration::from_secs(60);

/// Wakes outages that no longer have anything to wait for.
#[derive(Debug, Default)]
pub(super) struct OutageWaker {
    last: Option<Instant>,
}

impl OutageWaker {
    /// Checks all waiting outages of these partitions, if a minute has passed.
    pub(super) async fn wake_if_due(
        &mut self,
        router: &ServiceRouter,
        partitions: PartitionSet,
        now: Timestamp,
    ) -> Result<(), MainError> {
        if self.last.is_some_and(|last| last.elapsed() < INTERVAL) {
            return Ok(());
        }
        let main = router.databases.main.reader();
        let (mut after, mut policies) = (ServiceKey::MIN, HashMap::new());
        loop {
            let resting = outages::resting(main, partitions, after, AT_ONCE).await?;
            let Some(last) = resting.last() else { break };
            after = last.service;
            for (organisation, woken) in find_decidable(router, &resting, now, &mut policies).await? {
                wake(router, organisation, &woken, now).await?;
            }
        }
        self.last = Some(Instant::now());
        Ok(())
    }
}

/// Returns the outages that can be decided now, by organisation.
async fn find_decidable(
    router: &ServiceRouter,
    resting: &[Outage],
    now: Timestamp,
    policies: &mut HashMap<i64, Vec<IncidentPolicy>>,
) -> Result<BTreeMap<i64, Vec<ServiceKey>>, MainError> {
    let main = router.databases.main.reader();
    let keys: Vec<ServiceKey> = resting.iter().map(|outage| outage.service).collect();
    let mut held_back: HashSet<ServiceKey> = covered(main, &keys).await?;
    let stated = outlines::by_keys(main, &keys).await?;
    held_back.extend(stated.iter().filter(|one| one.status_override.is_some()).map(|one| one.key));
    let free: Vec<&Outage> = resting.iter().filter(|outage| !held_back.contains(&outage.service)).collect();
    let keys: Vec<ServiceKey> = free.iter().map(|outage| outage.service).collect();
    let tags = tags::of_services(main, &keys).await?;
    let mut awake: BTreeMap<i64, Vec<ServiceKey>> = BTreeMap::new();
    for outage in free {
        let known = match policies.entry(outage.organisation) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                unknown.insert(incident_policies::list(main, outage.organisation).await?)
            }
        };
        let tags: Vec<i64> = tags.get(&outage.service).into_iter().flatten().map(|tag| tag.row).collect();
        let rules = first_match(known, &tags).map(|policy| &policy.rules);
        let circumstances = OutageCircumstances { rules, is_held_back: false, has_open_incident: true };
        if outage.judged(rules, now).decide(circumstances, now) != OutageDecision::Wait(None) {
            awake.entry(outage.organisation).or_default().push(outage.service);
        }
    }
    Ok(awake)
}

async fn wake(
    router: &ServiceRouter,
    organisation: i64,
    woken: &[ServiceKey],
    now: Timestamp,
) -> Result<(), MainError> {
    let transaction = router.databases.main.begin().await?;
    organisations::lock(&transaction, organisation).await?;
    woken.iter().for_each(|service| transaction.concerns(ChangeScope::Service(*service)));
    outages::evaluate_now(&transaction, woken, now).await?;
    transaction.commit().await?;
    Ok(())
}
