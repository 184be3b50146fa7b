//! Pending incident changes: stored state, new state, and the outages merged into it.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::incidents::context::IncidentContext;
use crate::incidents::evidence;
use crate::incidents::followed_policy::policy_of;
use crate::incidents::incident_texts::{self, OutageNews};
use crate::lifecycle;
use crate::lifecycle::engine_entries;
use crate::model::automation::{AutomationState, EditedFields};
use crate::model::group_key::GroupKey;
use crate::model::incident::{Incident, IncidentKind, IncidentStatus, IncidentTimelineEntry, WholeIncident};
use crate::model::incident_outages::{ImpactChange, ServiceOutage};
use crate::model::incident_policy::IncidentPolicy;
use crate::model::outage::Outage;
use crate::model::service::ServiceKey;
use crate::model::timeline_size::TimelineSize;
use crate::model::translated_text::TranslatedText;
use crate::store::MainError;
use crate::store::incidents::{excerpt, group_keys};

/// Milliseconds within which the same automatic entry is not repeated.
const REPEATED_MS: i64 = 60_000;

/// One incident with pending changes.
pub(super) struct PendingIncident {
    /// The stored state; `None` for a new incident.
    before: Option<WholeIncident>,
    pub(super) after: WholeIncident,
    /// Key of the incident's policy; `None` if it has none.
    policy: Option<i64>,
    /// The time at which the last service was added.
    grown_at: Option<Timestamp>,
    outage_news: Vec<OutageNews>,
    /// The outages that were added to the incident.
    outages: Vec<Outage>,
    /// Group keys of added services that the database does not map to this incident yet.
    keys: BTreeSet<GroupKey>,
    /// The internal timeline entry that tells why the services fail.
    reasons: Option<IncidentTimelineEntry>,
}

impl PendingIncident {
    /// Returns true if the incident has not been resolved.
    pub(super) fn is_open(&self) -> bool {
        !self.after.incident.is_resolved()
    }

    /// Creates an incident for this outage.
    pub(super) fn new(
        context: &IncidentContext<'_>,
        policy: &IncidentPolicy,
        service_outage: &ServiceOutage,
    ) -> Self {
        let incident = Incident {
            key: 0,
            id: Id::random(),
            organisation: context.organisation.key,
            // A placeholder: the title is written when the number of services is known.
            title: incident_texts::resolved(context.organisation),
            kind: IncidentKind::Standard,
            status: IncidentStatus::Investigating,
            severity: service_outage.severity,
            is_published: policy.rules.publish,
            started_at: service_outage.began_at,
            resolved_at: None,
            sla_counts_as_downtime: false,
            created_by: None,
            acknowledgement: None,
            created_at: context.now,
            updated_at: context.now,
        };
        let automation = Some(AutomationState { policy: Some(policy.key), edited: EditedFields::default() });
        let after = WholeIncident {
            incident,
            services: Vec::new(),
            others: 0,
            statuspages: Vec::new(),
            updates: Vec::new(),
            unread_updates: TimelineSize::default(),
            internal_updates: Vec::new(),
            automation,
        };
        Self::of(None, after, Some(policy.key))
    }

    /// Wraps a stored incident and its policy; the last added service was read with it.
    fn known(stored: WholeIncident, policy: Option<i64>) -> Self {
        Self::of(Some(stored.clone()), stored, policy)
    }

    fn of(before: Option<WholeIncident>, after: WholeIncident, policy: Option<i64>) -> Self {
        let grown_at = after.services.iter().map(|affected| affected.added_at).max();
        let (outage_news, outages, keys) = (Vec::new(), Vec::new(), BTreeSet::new());
        Self { before, after, policy, grown_at, outage_news, outages, keys, reasons: None }
    }

    pub(super) fn add_outage(&mut self, service_outage: &ServiceOutage, outage: Outage) {
        let impact = self.after.apply_outage(service_outage);
        if impact == ImpactChange::Joined {
            let added_at = service_outage.began_at.max(self.after.incident.started_at);
            self.grown_at = self.grown_at.max(Some(added_at));
        }
        self.outage_news.push(OutageNews { impact, kind: service_outage.kind });
        self.outages.push(outage);
    }

    /// Returns the time at which this service has recovered from the incident; `None` if it has not.
    pub(super) fn recovered_at(&self, service: ServiceKey) -> Option<Timestamp> {
        self.after.services.iter().find(|row| row.service == service)?.recovered_at
    }

    /// Returns true if an outage may be added: the incident is open, follows this policy, and has grown since `since`.
    fn accepts_outage(&self, policy: i64, since: Timestamp) -> bool {
        self.policy == Some(policy) && self.grown_at >= Some(since) && self.is_open()
    }

    /// Stores the incident; returns the added outages with their new state.
    pub(super) async fn store(mut self, context: &IncidentContext<'_>) -> Result<Vec<Outage>, MainError> {
        self.write(context);
        match &self.before {
            Some(before) => {
                lifecycle::incidents::save(context.transaction, before, &self.after, context.now).await?;
            }
            None => lifecycle::incidents::insert(context.transaction, &mut self.after).await?,
        }
        let earlier = self.before.as_ref().map(|before| &before.incident);
        let (now, incident) = (context.now, &self.after.incident);
        engine_entries::note_incident(context.transaction, earlier, incident, now).await?;
        if let Some(reasons) = &self.reasons {
            lifecycle::incidents::add_reasons(context.transaction, self.after.incident.key, reasons).await?;
        }
        if let Some(policy) = self.policy.filter(|_| !self.keys.is_empty()) {
            let keys: Vec<GroupKey> = self.keys.into_iter().collect();
            group_keys::assign_keys(context.transaction, policy, self.after.incident.key, &keys).await?;
        }
        let incident = Some(self.after.incident.key);
        Ok(self.outages.into_iter().map(|outage| outage.mark_reported(incident, context.now)).collect())
    }

    /// Writes the timeline, and the title unless a user has edited it.
    fn write(&mut self, context: &IncidentContext<'_>) {
        let follows = self.after.follows_outages();
        let is_title_ours = self.after.automation.is_some_and(|automation| !automation.edited.title);
        if is_title_ours
            && self.outage_news.iter().any(|outage_news| outage_news.impact != ImpactChange::Nothing)
        {
            let kind = incident_texts::worst_kind(&self.after, &self.outage_news);
            self.after.incident.title = incident_texts::title_of(&self.after, kind, context.organisation);
        }
        let status = match self.after.incident.status {
            // The incident is not over: another outage was added.
            IncidentStatus::Monitoring if follows => IncidentStatus::Investigating,
            status => status,
        };
        let messages = match (&self.before, self.outage_news.first()) {
            (None, Some(first)) => vec![incident_texts::opened(*first, context.organisation)],
            _ => incident_texts::entries(&self.outage_news, context.organisation),
        };
        for message in messages {
            let newest = self.after.updates.last();
            if newest.is_none_or(|newest| !repeats(newest, status, &message, context.now)) {
                self.after.post(incident_texts::entry(status, message, context.now));
            }
        }
        let given = context.evidence.give_to(&mut self.after.services, &self.outages);
        let impact_changes =
            self.outage_news.iter().filter(|outage_news| outage_news.impact != ImpactChange::Nothing).count();
        self.reasons =
            evidence::internal_entry(&self.after, &given, impact_changes, context.organisation, context.now);
    }
}

/// Returns true if the newest entry of a timeline is equal, and younger than [`REPEATED_MS`]. A large outage arrives in
/// many parts, each of which would add an entry.
fn repeats(
    newest: &IncidentTimelineEntry,
    status: IncidentStatus,
    message: &TranslatedText,
    now: Timestamp,
) -> bool {
    let is_same = newest.status == status && newest.message == *message;
    is_same && now.ms_since(newest.created_at) < REPEATED_MS
}

/// An incident found by a group key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IncidentLead {
    /// A stored incident, by its key.
    Stored(i64),
    /// A pending incident, by its index.
    Written(usize),
}

/// The incidents with pending changes, so that each is read and stored once.
#[derive(Default)]
pub(super) struct PendingIncidents {
    /// The services with outages to add: for a large incident only these are read.
    services: Vec<ServiceKey>,
    drafts: Vec<PendingIncident>,
    by_key: HashMap<i64, usize>,
    /// The incidents that services with these group keys may join, by policy; the first suitable one is used.
    leads: HashMap<(i64, GroupKey), Vec<IncidentLead>>,
    /// Policies whose group keys have been looked up.
    searched: HashSet<i64>,
}

impl PendingIncidents {
    /// Creates an empty set, for outages of these services.
    pub(super) fn of_services(services: Vec<ServiceKey>) -> Self {
        Self { services, ..Self::default() }
    }

    /// Returns the stored incident with this key and its pending changes; `None` when it was deleted.
    pub(super) async fn load_stored(
        &mut self,
        context: &IncidentContext<'_>,
        key: i64,
    ) -> Result<Option<&mut PendingIncident>, MainError> {
        let index = self.draft_index(context, key).await?;
        Ok(index.and_then(|index| self.drafts.get_mut(index)))
    }

    async fn draft_index(
        &mut self,
        context: &IncidentContext<'_>,
        key: i64,
    ) -> Result<Option<usize>, MainError> {
        if let Some(index) = self.by_key.get(&key) {
            return Ok(Some(*index));
        }
        let stored = excerpt::of_key_for_update(context.transaction, key, &self.services).await?;
        let Some(stored) = stored else { return Ok(None) };
        let policy = policy_of(context, &stored).await?.map(|policy| policy.key);
        let index = self.add(PendingIncident::known(stored, policy));
        self.by_key.insert(key, index);
        Ok(Some(index))
    }

    /// Returns true the first time, when the group keys of this policy have to be looked up.
    pub(super) fn is_first_search(&mut self, policy: i64) -> bool {
        self.searched.insert(policy)
    }

    /// Adds stored incidents that were found by group keys, and may follow this policy.
    pub(super) fn add_leads(&mut self, policy: i64, found: HashMap<GroupKey, Vec<i64>>) {
        for (key, incidents) in found {
            let leads = incidents.into_iter().map(IncidentLead::Stored);
            self.leads.entry((policy, key)).or_default().extend(leads);
        }
    }

    /// Returns the index of an open incident that follows the policy, has grown since `since` and was found by one of
    /// these keys.
    pub(super) async fn find(
        &mut self,
        context: &IncidentContext<'_>,
        policy: i64,
        keys: &[GroupKey],
        since: Timestamp,
    ) -> Result<Option<usize>, MainError> {
        for key in keys {
            for lead in self.leads.get(&(policy, *key)).cloned().unwrap_or_default() {
                let index = match lead {
                    IncidentLead::Written(index) => Some(index),
                    IncidentLead::Stored(incident) => self.draft_index(context, incident).await?,
                };
                let draft = index.and_then(|index| self.drafts.get(index));
                if draft.is_some_and(|draft| draft.accepts_outage(policy, since)) {
                    return Ok(index);
                }
            }
        }
        Ok(None)
    }

    /// Adds an incident; returns its index.
    pub(super) fn add(&mut self, draft: PendingIncident) -> usize {
        self.drafts.push(draft);
        self.drafts.len() - 1
    }

    /// Adds an outage to the incident at this index; the group keys of its service lead there from now on.
    pub(super) fn add_outage_at(
        &mut self,
        index: usize,
        service_outage: &ServiceOutage,
        outage: Outage,
        policy: i64,
        keys: &[GroupKey],
    ) {
        let Some(draft) = self.drafts.get_mut(index) else { return };
        draft.add_outage(service_outage, outage);
        let stored = draft.before.as_ref().map(|before| before.incident.key);
        for key in keys {
            let leads = self.leads.entry((policy, *key)).or_default();
            let is_here = |lead: &IncidentLead| match *lead {
                IncidentLead::Written(known) => known == index,
                IncidentLead::Stored(incident) => Some(incident) == stored,
            };
            if !leads.first().is_some_and(is_here) {
                leads.retain(|lead| !is_here(lead));
                leads.insert(0, IncidentLead::Written(index));
                draft.keys.insert(*key);
            }
        }
    }

    /// Stores the incidents with added outages; returns these outages with their new state.
    pub(super) async fn store(self, context: &IncidentContext<'_>) -> Result<Vec<Outage>, MainError> {
        let Self { drafts, leads, .. } = self;
        let mut reported = Vec::new();
        for (index, mut draft) in drafts.into_iter().enumerate() {
            if draft.outages.is_empty() {
                continue;
            }
            let policy = draft.policy;
            // A key leads to the incident that was changed last.
            draft.keys.retain(|key| {
                let leads = policy.and_then(|policy| leads.get(&(policy, *key)));
                leads.and_then(|leads| leads.first()) == Some(&IncidentLead::Written(index))
            });
            reported.extend(draft.store(context).await?);
        }
        Ok(reported)
    }
}
