//! Decides outages that may have to be reported: each becomes an incident, is added to an open one, or waits.
//!
//! Related failures that come close together are one incident: those of services with a common tag or a common parent, as
//! configured in the policy.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::clock::Timestamp;
use crate::incidents::context::IncidentContext;
use crate::incidents::parents::{
    ParentServices, RECHECK_POLL_MS, RequestedChecks, STILL_SO_MS, begin_unreachable, end_unreachable,
    request_own_check,
};
use crate::incidents::pending_incidents::{PendingIncident, PendingIncidents};
use crate::model::group_key::GroupKey;
use crate::model::incident_outages::ServiceOutage;
use crate::model::incident_policy::{IncidentPolicy, first_match};
use crate::model::outage::Outage;
use crate::model::outage::decision::{OutageCircumstances, OutageDecision};
use crate::model::service::{NamedService, ServiceAddress, ServiceKey};
use crate::model::service_outline::ServiceOutline;
use crate::model::tag::Tag;
use crate::store::incidents::group_keys;
use crate::store::maintenances::effect::covered;
use crate::store::services::outlines;
use crate::store::{MainError, outages, tags};

/// The result of deciding outages.
#[derive(Debug, Default)]
pub(super) struct OutageDecisions {
    /// Number of outages that were written to incidents.
    pub(super) written: usize,
    /// Services to check at once.
    pub(super) asked: RequestedChecks,
    /// Services that have become reachable again.
    pub(super) reachable: Vec<ServiceAddress>,
    /// Unreachable services, including those that were unreachable before, because an engine that has just started to
    /// watch them does not know this.
    pub(super) unreachable: Vec<ServiceAddress>,
}

/// Decides these outages of one organisation.
pub(super) async fn decide_outages(
    context: &IncidentContext<'_>,
    mut undecided: Vec<Outage>,
) -> Result<OutageDecisions, MainError> {
    let mut result = OutageDecisions::default();
    if undecided.is_empty() {
        return Ok(result);
    }
    let before: HashMap<ServiceKey, Outage> = undecided.iter().map(|one| (one.service, *one)).collect();
    let keys: Vec<ServiceKey> = undecided.iter().map(|outage| outage.service).collect();
    let mut facts = OutageContext::read(context, &keys).await?;
    undecided.sort_by_cached_key(|outage| (facts.start_of(context, outage), outage.service));
    facts.parents.propagate_unreachable(&undecided);
    let (mut drafts, mut waiting) = (PendingIncidents::of_services(keys), Vec::new());
    for outage in undecided {
        let Some(service) = facts.services.get(&outage.service).cloned() else { continue };
        let is_hidden = outage.is_measured && facts.parents.is_unreachable(outage.service);
        if is_hidden && !outage.is_unreported() {
            // The incident of this service is about instability. That the service is down now is caused by a dependency.
            waiting.push(Outage { evaluate_at: Some(context.now.plus_ms(STILL_SO_MS)), ..outage });
            continue;
        }
        if is_hidden || outage.is_unreachable() {
            let dependent = DependentOutage { outage, service, is_hidden };
            waiting.push(decide_dependent(context, &facts.parents, &mut result, dependent).await?);
            continue;
        }
        if context.missed.contains(&outage.service) {
            waiting.push(facts.parents.hold_for_parents(context, outage, &mut result.asked).await?);
            continue;
        }
        let outage = Outage { held_until: context.held_until(&outage), ..outage };
        let policy = first_match(context.policies, &facts.tags_of(outage.service));
        let open = match outage.incident {
            Some(key) => drafts.load_stored(context, key).await?.filter(|draft| draft.is_open()),
            None => None,
        };
        let circumstances = OutageCircumstances {
            rules: policy.map(|policy| &policy.rules),
            is_held_back: facts.held_back.contains(&outage.service),
            has_open_incident: open.is_some(),
        };
        if let Some(ended) = recover_harmless(context, &outage, circumstances, open.as_deref()) {
            waiting.push(ended);
            continue;
        }
        let judged = outage.judged(circumstances.rules, context.now);
        let (severity, policy) = match (judged.decide(circumstances, context.now), policy) {
            (OutageDecision::Report(severity), Some(policy)) => (severity, policy),
            (OutageDecision::Wait(evaluate_at), _) => {
                let soon = outage.held_until.map(|_| context.now.plus_ms(RECHECK_POLL_MS));
                let evaluate_at = evaluate_at.into_iter().chain(soon).min();
                waiting.push(Outage { evaluate_at, ..outage });
                continue;
            }
            (OutageDecision::Report(_), None) => continue,
        };
        let ServiceOutline { key, id, name, .. } = service;
        let service = NamedService { key, id, name };
        let (kind, began_at) = (judged.kind, judged.started_at(&policy.rules));
        let service_outage = ServiceOutage { service, kind, began_at, severity };
        if let Some(draft) = open {
            draft.add_outage(&service_outage, judged);
        } else {
            assign_incident(context, &facts, &mut drafts, policy, service_outage, judged).await?;
        }
    }
    let reported = drafts.store(context).await?;
    let changed = waiting.iter().filter(|outage| before.get(&outage.service) != Some(outage));
    outages::save(context.transaction, changed.chain(&reported)).await?;
    result.written = reported.len();
    Ok(result)
}

/// The outage of a service whose dependency is or was down.
struct DependentOutage {
    outage: Outage,
    service: ServiceOutline,
    /// True if a dependency is down; false if one was down.
    is_hidden: bool,
}

/// Handles a service with a failing dependency: it is unreachable while the dependency is down, and until its own next
/// check after that.
async fn decide_dependent(
    context: &IncidentContext<'_>,
    parents: &ParentServices,
    result: &mut OutageDecisions,
    DependentOutage { outage, service, is_hidden }: DependentOutage,
) -> Result<Outage, MainError> {
    let address = service.address();
    let was_asked = outage.asked_at.is_some() && !context.missed.contains(&outage.service);
    let is_held = context.held_until(&outage).is_some();
    if !is_hidden && was_asked && !is_held {
        result.reachable.push(address);
        return end_unreachable(context, parents, outage, &mut result.asked).await;
    }
    result.unreachable.push(address);
    if !outage.is_unreachable() {
        return begin_unreachable(context, outage).await;
    }
    if is_hidden {
        return Ok(outage.keep_unreachable(context.now.plus_ms(STILL_SO_MS)));
    }
    if was_asked {
        let evaluate_at = Some(context.now.plus_ms(RECHECK_POLL_MS));
        return Ok(Outage { evaluate_at, ..outage });
    }
    result.asked.add([address]);
    Ok(request_own_check(context, outage, &service))
}

/// Handles the outage of a service that has recovered from its incident and fails again in a way that no policy reports:
/// it counts as recovered, so that the incident can end. `None` for any other outage.
fn recover_harmless(
    context: &IncidentContext<'_>,
    outage: &Outage,
    circumstances: OutageCircumstances<'_>,
    open: Option<&PendingIncident>,
) -> Option<Outage> {
    let recovered_at = open?.recovered_at(outage.service)?;
    let is_harmless = !circumstances.is_held_back && outage.is_unwanted(circumstances.rules);
    let (reported_at, recovered_at, evaluate_at) = (Some(context.now), Some(recovered_at), Some(context.now));
    is_harmless.then_some(Outage { reported_at, recovered_at, evaluate_at, ..*outage })
}

/// Adds the outage to a related incident, or creates one for it.
async fn assign_incident(
    context: &IncidentContext<'_>,
    facts: &OutageContext,
    drafts: &mut PendingIncidents,
    policy: &IncidentPolicy,
    service_outage: ServiceOutage,
    outage: Outage,
) -> Result<(), MainError> {
    let since = service_outage.began_at.plus_ms(-policy.rules.group_window_ms());
    let keys = facts.group_keys(policy, service_outage.service.key);
    if drafts.is_first_search(policy.key) {
        let found = group_keys::find(context.transaction, policy, &facts.all_keys()).await?;
        drafts.add_leads(policy.key, found);
    }
    let index = match drafts.find(context, policy.key, &keys, since).await? {
        Some(index) => index,
        None => drafts.add(PendingIncident::new(context, policy, &service_outage)),
    };
    // All group keys of the service are stored, not only those of the policy, because the policy may be changed or
    // replaced.
    drafts.add_outage_at(
        index,
        &service_outage,
        outage,
        policy.key,
        &facts.keys_of(service_outage.service.key),
    );
    Ok(())
}

/// The data about the services whose outages are decided.
#[derive(Default)]
struct OutageContext {
    services: HashMap<ServiceKey, ServiceOutline>,
    /// The tags of each service; a service without tags is absent.
    tags: HashMap<ServiceKey, Vec<Tag>>,
    /// Services under a maintenance in progress, or with a status that a user has set.
    held_back: HashSet<ServiceKey>,
    /// The dependencies of the services.
    parents: ParentServices,
}

impl OutageContext {
    async fn read(context: &IncidentContext<'_>, keys: &[ServiceKey]) -> Result<Self, MainError> {
        let found = outlines::by_keys(context.transaction, keys).await?;
        let mut held_back = covered(context.transaction, keys).await?;
        held_back.extend(found.iter().filter(|one| one.status_override.is_some()).map(|one| one.key));
        let services = found.into_iter().map(|service| (service.key, service)).collect();
        let parents = ParentServices::read(context.transaction, keys).await?;
        let tags = tags::of_services(context.transaction, keys).await?;
        Ok(Self { services, held_back, parents, tags })
    }

    /// Returns the keys of the tag rows of a service.
    fn tags_of(&self, service: ServiceKey) -> Vec<i64> {
        self.tags.get(&service).into_iter().flatten().map(|tag| tag.row).collect()
    }

    /// Returns the start of the trouble by the policy that matches the service.
    fn start_of(&self, context: &IncidentContext<'_>, outage: &Outage) -> Timestamp {
        let policy = first_match(context.policies, &self.tags_of(outage.service));
        policy.map_or(outage.began_at, |policy| outage.started_at(&policy.rules))
    }

    /// Returns the group keys of the service under this policy; empty if it has none.
    fn group_keys(&self, policy: &IncidentPolicy, service: ServiceKey) -> Vec<GroupKey> {
        let tags = self.tags.get(&service).into_iter().flatten();
        let tags = tags.filter(|tag| policy.rules.groups_by_tag(tag.name.key()));
        let mut keys: Vec<GroupKey> = tags.map(|tag| GroupKey::Tag(tag.row)).collect();
        if policy.rules.group_by.considers_parents() {
            keys.extend(self.parents.lineage(service).into_iter().map(GroupKey::Service));
        }
        keys
    }

    /// Returns all possible group keys of the service, for any policy.
    fn keys_of(&self, service: ServiceKey) -> Vec<GroupKey> {
        let tags = self.tags.get(&service).into_iter().flatten().map(|tag| GroupKey::Tag(tag.row));
        tags.chain(self.parents.lineage(service).into_iter().map(GroupKey::Service)).collect()
    }

    /// Returns all possible group keys of all these services, without duplicates.
    fn all_keys(&self) -> Vec<GroupKey> {
        let keys: BTreeSet<GroupKey> =
            self.services.keys().flat_map(|service| self.keys_of(*service)).collect();
        keys.into_iter().collect()
    }
}
