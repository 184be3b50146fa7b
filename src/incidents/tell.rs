//! Outages that are to be told: each becomes an incident, or news for one that is open, or waits.
//!
//! Failures that come close together and belong together are one incident: those of services with a common tag or a common
//! parent, as the policy says.

use std::collections::{HashMap, HashSet};

use crate::clock::Timestamp;
use crate::incidents::desk::Desk;
use crate::incidents::parents::{
    Asked, HAVE_THEY_LOOKED_MS, Parents, STILL_SO_MS, ask_itself, begin_unreachable, end_unreachable,
};
use crate::incidents::told::{Draft, Drafts};
use crate::model::incident_news::Told as News;
use crate::model::incident_policy::{IncidentPolicy, first_match};
use crate::model::outage::Outage;
use crate::model::outage::decision::{Circumstances, Decision};
use crate::model::service::{NamedService, Service, ServiceAddress, ServiceKey};
use crate::model::tag::Tag;
use crate::store::incidents::automation::open_of_policy;
use crate::store::maintenances::effect::covered;
use crate::store::{MainError, outages, services, tags};

/// What came of outages that were to be told.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Those that became incidents or news.
    pub(super) written: usize,
    /// Services that are to look at once.
    pub(super) asked: Asked,
    /// Services that can be reached again.
    pub(super) reachable: Vec<ServiceAddress>,
    /// Services that cannot be reached, known before or not: an engine that has just begun to watch them does not know it.
    pub(super) unreachable: Vec<ServiceAddress>,
}

/// Tells these outages of one organisation.
pub(super) async fn all(desk: &Desk<'_>, mut undecided: Vec<Outage>) -> Result<Told, MainError> {
    let mut result = Told::default();
    if undecided.is_empty() {
        return Ok(result);
    }
    let before: HashMap<ServiceKey, Outage> = undecided.iter().map(|one| (one.service, *one)).collect();
    let keys: Vec<ServiceKey> = undecided.iter().map(|outage| outage.service).collect();
    let mut facts = Facts::read(desk, &keys).await?;
    undecided.sort_by_cached_key(|outage| (facts.start_of(desk, outage), outage.service));
    facts.parents.pass_on(&undecided);
    let (mut drafts, mut waiting) = (Drafts::default(), Vec::new());
    for outage in undecided {
        let Some(service) = facts.services.get(&outage.service).cloned() else { continue };
        let is_hidden = outage.is_measured && facts.parents.is_unreachable(outage.service);
        if is_hidden && !outage.is_untold() {
            // It was told as unstable. That it is down says nothing of itself now.
            waiting.push(Outage { look_at: Some(desk.now.plus_ms(STILL_SO_MS)), ..outage });
            continue;
        }
        if is_hidden || outage.is_unreachable() {
            waiting.push(
                behind_others(desk, &facts.parents, &mut result, Behind { outage, service, is_hidden })
                    .await?,
            );
            continue;
        }
        if desk.missed.contains(&outage.service) {
            waiting.push(facts.parents.ask(desk, outage, &mut result.asked).await?);
            continue;
        }
        let outage = Outage { held_until: desk.held_until(&outage), ..outage };
        let policy = first_match(desk.policies, &facts.tags_of(outage.service));
        let open = match outage.incident {
            Some(key) => drafts.open(desk, key).await?.filter(|draft| !draft.after.incident.is_resolved()),
            None => None,
        };
        let circumstances = Circumstances {
            rules: policy.map(|policy| &policy.rules),
            is_held_back: facts.held_back.contains(&outage.service),
            has_open_incident: open.is_some(),
        };
        if let Some(ended) = harmless(desk, &outage, circumstances, open.as_deref()) {
            waiting.push(ended);
            continue;
        }
        let judged = outage.judged(circumstances.rules, desk.now);
        let (severity, policy) = match (judged.decide(circumstances, desk.now), policy) {
            (Decision::Tell(severity), Some(policy)) => (severity, policy),
            (Decision::Wait(look_at), _) => {
                let soon = outage.held_until.map(|_| desk.now.plus_ms(HAVE_THEY_LOOKED_MS));
                let look_at = look_at.into_iter().chain(soon).min();
                waiting.push(Outage { look_at, ..outage });
                continue;
            }
            (Decision::Tell(_), None) => continue,
        };
        let Service { key, id, name, .. } = service;
        let service = NamedService { key, id, name };
        let told = News { service, kind: judged.kind, began_at: judged.started_at(&policy.rules), severity };
        if let Some(draft) = open {
            draft.tell(&told, judged);
        } else {
            group(desk, &mut facts, &mut drafts, (policy, told, judged)).await?;
        }
    }
    let told = drafts.store(desk).await?;
    let changed = waiting.iter().filter(|outage| before.get(&outage.service) != Some(outage));
    outages::save(desk.transaction, changed.chain(&told)).await?;
    result.written = told.len();
    Ok(result)
}

/// The outage of a service that fails behind others.
struct Behind {
    outage: Outage,
    service: Service,
    /// They are down; otherwise they were.
    is_hidden: bool,
}

/// A service behind others is unreachable while they are down, and until it has looked after that.
async fn behind_others(
    desk: &Desk<'_>,
    parents: &Parents,
    result: &mut Told,
    Behind { outage, service, is_hidden }: Behind,
) -> Result<Outage, MainError> {
    let address = service.address();
    let was_asked = outage.asked_at.is_some() && !desk.missed.contains(&outage.service);
    let is_held = desk.held_until(&outage).is_some();
    if !is_hidden && was_asked && !is_held {
        result.reachable.push(address);
        return end_unreachable(desk, parents, outage, &mut result.asked).await;
    }
    result.unreachable.push(address);
    if !outage.is_unreachable() {
        return begin_unreachable(desk, outage).await;
    }
    if is_hidden {
        return Ok(outage.unreachable_still(desk.now.plus_ms(STILL_SO_MS)));
    }
    if was_asked {
        let look_at = Some(desk.now.plus_ms(HAVE_THEY_LOOKED_MS));
        return Ok(Outage { look_at, ..outage });
    }
    result.asked.add([address]);
    Ok(ask_itself(desk, outage, &service))
}

/// The outage of a service that has recovered from its incident and is in trouble again, for which nobody wants one: it counts as
/// recovered, so that the incident may end. `None` for any other.
fn harmless(
    desk: &Desk<'_>,
    outage: &Outage,
    circumstances: Circumstances<'_>,
    open: Option<&Draft>,
) -> Option<Outage> {
    let recovered_at = open?.recovered_at(outage.service)?;
    let is_harmless = !circumstances.is_held_back && outage.is_unwanted(circumstances.rules);
    let (told_at, recovered_at, look_at) = (Some(desk.now), Some(recovered_at), Some(desk.now));
    is_harmless.then_some(Outage { told_at, recovered_at, look_at, ..*outage })
}

/// Tells an incident that the outage belongs to, or makes one for it.
async fn group(
    desk: &Desk<'_>,
    facts: &mut Facts,
    drafts: &mut Drafts,
    (policy, told, outage): (&IncidentPolicy, News, Outage),
) -> Result<(), MainError> {
    let since = told.began_at.plus_ms(-policy.rules.group_window_ms());
    if !facts.has_company(policy, told.service.key) {
        let mut draft = Draft::new(desk, policy, &told);
        draft.tell(&told, outage);
        drafts.add(draft);
        return Ok(());
    }
    if drafts.is_first_search(policy.key) {
        for key in open_of_policy(desk.transaction, policy, since).await? {
            // Among those that are being written it stands in their order.
            drafts.open(desk, key).await?;
        }
    }
    for draft in drafts.iter_mut() {
        if !is_candidate(draft, policy, since) {
            continue;
        }
        let members = draft.services();
        facts.read_tags(desk, &members).await?;
        if policy.rules.group_by.looks_at_parents() {
            facts.parents.read_more(desk.transaction, &members).await?;
        }
        if facts.belong_together(policy, &members, told.service.key) {
            draft.tell(&told, outage);
            return Ok(());
        }
    }
    let mut draft = Draft::new(desk, policy, &told);
    draft.tell(&told, outage);
    drafts.add(draft);
    Ok(())
}

/// Returns true for an open incident that follows the policy and has grown since then.
fn is_candidate(draft: &Draft, policy: &IncidentPolicy, since: Timestamp) -> bool {
    let is_of_policy = draft.policy == Some(policy.key);
    let has_grown = draft.after.services.iter().any(|affected| affected.added_at >= since);
    is_of_policy && has_grown && !draft.after.incident.is_resolved()
}

/// What is to be known of the services.
#[derive(Default)]
struct Facts {
    services: HashMap<ServiceKey, Service>,
    /// The tags of each; also of those without tags, once read.
    tags: HashMap<ServiceKey, Vec<Tag>>,
    /// Covered by a maintenance in progress, or under a stated status.
    held_back: HashSet<ServiceKey>,
    /// What they depend on.
    parents: Parents,
}

impl Facts {
    async fn read(desk: &Desk<'_>, keys: &[ServiceKey]) -> Result<Self, MainError> {
        let found = services::by_keys(desk.transaction, keys).await?;
        let mut held_back = covered(desk.transaction, keys).await?;
        held_back.extend(found.iter().filter(|one| one.status_override.is_some()).map(|one| one.key));
        let services = found.into_iter().map(|service| (service.key, service)).collect();
        let parents = Parents::read(desk.transaction, keys).await?;
        let mut facts = Self { services, held_back, parents, tags: HashMap::new() };
        facts.read_tags(desk, keys).await?;
        Ok(facts)
    }

    /// Reads the tags of those of which they are not known.
    async fn read_tags(&mut self, desk: &Desk<'_>, keys: &[ServiceKey]) -> Result<(), MainError> {
        let unknown: Vec<ServiceKey> =
            keys.iter().filter(|key| !self.tags.contains_key(key)).copied().collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let mut found = tags::of_services(desk.transaction, &unknown).await?;
        for key in unknown {
            self.tags.insert(key, found.remove(&key).unwrap_or_default());
        }
        Ok(())
    }

    /// Keys of the rows of its tags.
    fn tags_of(&self, service: ServiceKey) -> Vec<i64> {
        self.tags.get(&service).into_iter().flatten().map(|tag| tag.row).collect()
    }

    /// Keys of the rows of those of its tags that group failures.
    fn grouping_tags(&self, policy: &IncidentPolicy, service: ServiceKey) -> Vec<i64> {
        let tags = self.tags.get(&service).into_iter().flatten();
        tags.filter(|tag| policy.rules.groups_by_tag(tag.name.key())).map(|tag| tag.row).collect()
    }

    /// The start of the trouble by the policy that matches the service.
    fn start_of(&self, desk: &Desk<'_>, outage: &Outage) -> Timestamp {
        let policy = first_match(desk.policies, &self.tags_of(outage.service));
        policy.map_or(outage.began_at, |policy| outage.started_at(&policy.rules))
    }

    /// Returns true if the service could belong to others: without tags and relations it belongs to nobody.
    fn has_company(&self, policy: &IncidentPolicy, service: ServiceKey) -> bool {
        !self.grouping_tags(policy, service).is_empty()
            || policy.rules.group_by.looks_at_parents() && !self.parents.is_alone(service)
    }

    /// Returns true if the service belongs to the others: it carries a tag that one of them carries.
    fn belong_together(&self, policy: &IncidentPolicy, others: &[ServiceKey], service: ServiceKey) -> bool {
        let own = self.grouping_tags(policy, service);
        let carries_one =
            |other: &ServiceKey| self.tags.get(other).into_iter().flatten().any(|tag| own.contains(&tag.row));
        let relatives = self.parents.relatives_of(service);
        let is_related = |other: &ServiceKey| self.parents.is_related(&relatives, *other);
        !own.is_empty() && others.iter().any(carries_one)
            || policy.rules.group_by.looks_at_parents() && others.iter().any(is_related)
    }
}
