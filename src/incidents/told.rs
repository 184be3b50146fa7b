//! Incidents that are being written: each as it is stored and as it will be, with what it was told.

use std::collections::{HashMap, HashSet};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::incidents::desk::Desk;
use crate::incidents::evidence;
use crate::incidents::following::policy_of;
use crate::incidents::prose::{self, Heard};
use crate::lifecycle;
use crate::model::automation::{Automation, Edited};
use crate::model::incident::{Incident, IncidentKind, IncidentStatus, TimelineEntry, WholeIncident};
use crate::model::incident_news::{News, Told};
use crate::model::incident_policy::IncidentPolicy;
use crate::model::outage::Outage;
use crate::model::service::ServiceKey;
use crate::store::{MainError, incidents};

/// One incident that is being written.
pub(super) struct Draft {
    /// As it is stored; `None` for a new one.
    before: Option<WholeIncident>,
    pub(super) after: WholeIncident,
    /// Key of the policy that it follows; `None` when there is none.
    pub(super) policy: Option<i64>,
    heard: Vec<Heard>,
    /// The outages that it is told of.
    outages: Vec<Outage>,
    /// The entry that tells members why.
    reasons: Option<TimelineEntry>,
}

impl Draft {
    /// A new incident about this outage.
    pub(super) fn new(desk: &Desk<'_>, policy: &IncidentPolicy, told: &Told) -> Self {
        let incident = Incident {
            key: 0,
            id: Id::random(),
            organisation: desk.organisation.key,
            // Written when it is known how many services it affects.
            title: prose::resolved(desk.organisation),
            kind: IncidentKind::Standard,
            status: IncidentStatus::Investigating,
            severity: told.severity,
            is_published: policy.rules.publish,
            started_at: told.began_at,
            resolved_at: None,
            sla_counts_as_downtime: false,
            created_by: None,
            acknowledgement: None,
            created_at: desk.now,
            updated_at: desk.now,
        };
        let automation = Some(Automation { policy: Some(policy.key), edited: Edited::default() });
        let after = WholeIncident {
            incident,
            services: Vec::new(),
            statuspages: Vec::new(),
            updates: Vec::new(),
            internal_updates: Vec::new(),
            automation,
        };
        let policy = Some(policy.key);
        Self { before: None, after, policy, heard: Vec::new(), outages: Vec::new(), reasons: None }
    }

    /// An incident that is stored, and the policy that it follows.
    pub(super) fn known(stored: WholeIncident, policy: Option<i64>) -> Self {
        Self {
            before: Some(stored.clone()),
            after: stored,
            policy,
            heard: Vec::new(),
            outages: Vec::new(),
            reasons: None,
        }
    }

    /// Tells it of an outage.
    pub(super) fn tell(&mut self, told: &Told, outage: Outage) {
        let news = self.after.tell(told);
        self.heard.push(Heard { news, kind: told.kind });
        self.outages.push(outage);
    }

    /// The time at which this service has recovered from it; `None` when it has not.
    pub(super) fn recovered_at(&self, service: ServiceKey) -> Option<Timestamp> {
        self.after.services.iter().find(|row| row.service == service)?.recovered_at
    }

    /// The keys of the services that it affects.
    pub(super) fn services(&self) -> Vec<ServiceKey> {
        self.after.services.iter().map(|affected| affected.service).collect()
    }

    /// Stores it; gives the outages that it was told of, as they go on.
    pub(super) async fn store(mut self, desk: &Desk<'_>) -> Result<Vec<Outage>, MainError> {
        self.write(desk);
        match &self.before {
            Some(before) => {
                lifecycle::incidents::save(desk.transaction, before, &self.after, desk.now).await?;
            }
            None => lifecycle::incidents::insert(desk.transaction, &mut self.after).await?,
        }
        if let Some(reasons) = &self.reasons {
            lifecycle::incidents::add_reasons(desk.transaction, self.after.incident.key, reasons).await?;
        }
        let incident = Some(self.after.incident.key);
        Ok(self.outages.into_iter().map(|outage| outage.told(incident, desk.now)).collect())
    }

    /// Writes title and timeline, as far as people have not.
    fn write(&mut self, desk: &Desk<'_>) {
        let follows = self.after.follows_outages();
        let is_title_ours = self.after.automation.is_some_and(|automation| !automation.edited.title);
        if is_title_ours && self.heard.iter().any(|heard| heard.news != News::Nothing) {
            let kind = prose::worst_kind(&self.after, &self.heard);
            self.after.incident.title = prose::title(&self.after.services, kind, desk.organisation);
        }
        let status = match self.after.incident.status {
            // It is not over after all.
            IncidentStatus::Monitoring if follows => IncidentStatus::Investigating,
            status => status,
        };
        let messages = match (&self.before, self.heard.first()) {
            (None, Some(first)) => vec![prose::opened(*first, desk.organisation)],
            _ => prose::entries(&self.heard, desk.organisation),
        };
        for message in messages {
            self.after.post(prose::entry(status, message, desk.now));
        }
        let given = desk.evidence.give_to(&mut self.after.services, &self.outages);
        let news = self.heard.iter().filter(|heard| heard.news != News::Nothing).count();
        self.reasons = evidence::internal_entry(&self.after, (&given, news), (desk.organisation, desk.now));
    }
}

/// The incidents that are being written, so that each is read and stored once.
#[derive(Default)]
pub(super) struct Drafts {
    drafts: Vec<Draft>,
    by_key: HashMap<i64, usize>,
    /// Policies whose open incidents are here already.
    searched: HashSet<i64>,
}

impl Drafts {
    /// The stored incident with this key as it is being written; `None` when it is gone.
    pub(super) async fn open(&mut self, desk: &Desk<'_>, key: i64) -> Result<Option<&mut Draft>, MainError> {
        if !self.by_key.contains_key(&key) {
            let Some(stored) = incidents::of_key_for_update(desk.transaction, key).await? else {
                return Ok(None);
            };
            let policy = policy_of(desk, &stored).await?.map(|policy| policy.key);
            self.by_key.insert(key, self.drafts.len());
            self.drafts.push(Draft::known(stored, policy));
        }
        Ok(self.by_key.get(&key).and_then(|place| self.drafts.get_mut(*place)))
    }

    /// Returns true the first time that the open incidents of this policy are to be found.
    pub(super) fn is_first_search(&mut self, policy: i64) -> bool {
        self.searched.insert(policy)
    }

    /// Those that are being written.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Draft> {
        self.drafts.iter_mut()
    }

    /// Adds a new one.
    pub(super) fn add(&mut self, draft: Draft) {
        self.drafts.push(draft);
    }

    /// Stores those that were told something; gives the outages that they were told of.
    pub(super) async fn store(self, desk: &Desk<'_>) -> Result<Vec<Outage>, MainError> {
        let mut told = Vec::new();
        for draft in self.drafts.into_iter().filter(|draft| !draft.outages.is_empty()) {
            told.extend(draft.store(desk).await?);
        }
        Ok(told)
    }
}
