//! Renders events for clients with the same visibility and the same selection, and omits all other events.
//!
//! Visibility is checked when an event is published, not when the client connects.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::events::fact::{EventFact, FactContent};
use crate::events::subscription::{FactRenderer, RenderError, RenderedEvent, Words};
use crate::http::gate::auth::Caller;
use crate::http::kit::error::ApiError;
use crate::http::kit::languages::AnswerLanguage;
use crate::http::kit::view::to_text;
use crate::http::v1::events::event_filter::EventFilter;
use crate::http::v1::events::position::EventIdCodec;
use crate::http::v1::events::view::{self, LEFT, ResultView, StatusChangeEventView};
use crate::http::v1::state::AppState;
use crate::http::v1::{incidents, maintenances};
use crate::id::Id;
use crate::model::event::{EventAction, EventSubjectKind, EventType};
use crate::model::history::{CheckRecord, StoredCheck};
use crate::model::service::{NamedService, ServiceKey};
use crate::store::events::{self, StoredEvent};
use crate::store::{Reader, service_selection, services};

pub(super) struct SubscriptionRenderer {
    pub(super) state: Arc<AppState>,
    pub(super) caller: Caller,
    pub(super) languages: AnswerLanguage,
    pub(super) wanted: EventFilter,
    pub(super) positions: EventIdCodec,
}

impl FactRenderer for SubscriptionRenderer {
    fn render<'a>(&'a self, facts: &'a [EventFact]) -> Words<'a> {
        Box::pin(async move {
            let wanted: Vec<&EventFact> = facts.iter().filter(|fact| self.wants(&fact.what)).collect();
            self.render_facts(&wanted).await.map_err(|error| RenderError(error.to_string()))
        })
    }

    fn wants_results(&self) -> bool {
        self.wanted.has(EventType::Result) && !self.wanted.selects_nothing
    }
}

impl SubscriptionRenderer {
    fn wants(&self, what: &FactContent) -> bool {
        let kind = match what {
            FactContent::Change(_) => EventType::StatusChange,
            FactContent::Result(_) => EventType::Result,
            FactContent::Event(StoredEvent { kind: EventSubjectKind::Incident, .. }) => EventType::Incident,
            FactContent::Event(StoredEvent { kind: EventSubjectKind::Maintenance, .. }) => {
                EventType::Maintenance
            }
        };
        self.wanted.has(kind) && !self.wanted.selects_nothing
    }

    async fn render_facts(&self, facts: &[&EventFact]) -> Result<Vec<RenderedEvent>, ApiError> {
        let concerned = self.find_concerned(facts).await?;
        let mut keys: Vec<ServiceKey> = facts.iter().flat_map(|fact| fact.what.services()).collect();
        keys.extend(concerned.iter().map(|(_, service)| service));
        keys.sort_unstable();
        keys.dedup();
        let services = self.selected(&keys).await?;
        let is_chosen = |(_, service): &&(Id, ServiceKey)| services.contains_key(service);
        let chosen: HashSet<Id> = concerned.iter().filter(is_chosen).map(|(subject, _)| *subject).collect();
        let mut deleted = self.find_deleted(facts).await?;
        deleted.extend(services.keys());
        let mut rendered = Vec::new();
        for fact in facts {
            let words = match &fact.what {
                FactContent::Change(change) => services.get(&change.change.service).map(|service| {
                    (EventType::StatusChange, to_text(&StatusChangeEventView::of(&change.change, service)))
                }),
                FactContent::Result(result) => services
                    .get(&result.service)
                    .map(|service| (EventType::Result, to_text(&ResultView::of(&stored(result), service)))),
                FactContent::Event(event) => self.render_event(event, &chosen, &deleted).await?,
            };
            if let Some((kind, data)) = words {
                let text = line(kind.as_str(), &self.positions.id(fact.cursor), &data);
                rendered.push(RenderedEvent { origin: fact.what.origin(), text });
            }
        }
        Ok(rendered)
    }

    /// Returns which services the incidents and maintenances concern now, if the selection depends on services. All are
    /// queried at once, before any incident or maintenance is read whole.
    async fn find_concerned(&self, facts: &[&EventFact]) -> Result<Vec<(Id, ServiceKey)>, ApiError> {
        let mut concerned = Vec::new();
        if self.wanted.selection.is_everything() {
            return Ok(concerned);
        }
        for kind in [EventSubjectKind::Incident, EventSubjectKind::Maintenance] {
            let subjects = facts.iter().filter_map(|fact| match &fact.what {
                FactContent::Event(event) if event.kind == kind && event.act != EventAction::Deleted => {
                    Some(event.subject)
                }
                _ => None,
            });
            let subjects: Vec<Id> = subjects.collect();
            let organisation = self.caller.visibility().organisation();
            concerned.extend(events::concerned(self.main(), organisation, kind, &subjects).await?);
        }
        Ok(concerned)
    }

    /// Returns the deleted services among those that the incidents and maintenances no longer concern; whether they were
    /// selected is unknown. Empty for confined callers, who may never have seen the resource.
    async fn find_deleted(&self, facts: &[&EventFact]) -> Result<HashSet<ServiceKey>, ApiError> {
        if self.caller.visibility().is_confined() || self.wanted.selection.is_everything() {
            return Ok(HashSet::new());
        }
        let left = facts.iter().flat_map(|fact| match &fact.what {
            FactContent::Event(event) if event.act == EventAction::Deleted => event.services.as_slice(),
            FactContent::Event(event) => event.former.as_slice(),
            _ => &[],
        });
        let mut left: HashSet<ServiceKey> = left.copied().collect();
        let keys: Vec<ServiceKey> = left.iter().copied().collect();
        for (there, _) in services::owners(self.main(), &keys).await? {
            left.remove(&there);
        }
        Ok(left)
    }

    /// Returns the services among these that the caller sees and selects.
    async fn selected(&self, keys: &[ServiceKey]) -> Result<HashMap<ServiceKey, NamedService>, ApiError> {
        let (visibility, selection) = (self.caller.visibility(), &self.wanted.selection);
        let found = service_selection::among(self.main(), visibility, selection, keys).await?;
        Ok(found.into_iter().map(|service| (service.key, service)).collect())
    }

    /// Renders the event of an incident or a maintenance if the caller sees and selects one of its services, or did so
    /// before the event. `chosen` are the incidents and maintenances that concern such a service now. `deleted` are such
    /// services, and deleted services that may have been selected.
    async fn render_event(
        &self,
        event: &StoredEvent,
        chosen: &HashSet<Id>,
        deleted: &HashSet<ServiceKey>,
    ) -> Result<Option<(EventType, String)>, ApiError> {
        let StoredEvent { kind, act, subject, .. } = *event;
        let asks_all = self.wanted.selection.is_everything();
        let shows_all = asks_all && !self.caller.visibility().is_confined();
        let gone = |action| view::event(kind, action, subject, None);
        let concerns = |services: &[ServiceKey]| services.iter().any(|service| deleted.contains(service));
        if act == EventAction::Deleted {
            let is_heard = shows_all || concerns(&event.services);
            return Ok(is_heard.then(|| gone(act.as_str())));
        }
        let has_left = !shows_all && concerns(&event.former);
        if !asks_all && !chosen.contains(&subject) && !has_left {
            return Ok(None);
        }
        let found = match self.read(kind, subject).await {
            // An event that cannot be rendered does not stop the others.
            Err(ApiError::Internal(error)) => {
                tracing::error!(%subject, %error, "cannot render an event");
                return Ok(None);
            }
            found => found?,
        };
        // The resource may have been deleted meanwhile; the event of the deletion follows.
        let Some((shown, concerned)) = found else {
            return Ok(has_left.then(|| gone(EventAction::Deleted.as_str())));
        };
        if !asks_all && self.selected(&concerned).await?.is_empty() {
            return Ok(has_left.then(|| gone(LEFT)));
        }
        Ok(Some(view::event(kind, act.as_str(), subject, Some(shown))))
    }

    /// Reads an incident or a maintenance as the caller sees it, with its visible services; `None` if it is not visible.
    async fn read(
        &self,
        kind: EventSubjectKind,
        subject: Id,
    ) -> Result<Option<(Value, Vec<ServiceKey>)>, ApiError> {
        match kind {
            EventSubjectKind::Incident => {
                incidents::read_one(self.main(), &self.caller, subject, &self.languages).await
            }
            EventSubjectKind::Maintenance => {
                maintenances::read_one(self.main(), self.caller.visibility(), subject, &self.languages).await
            }
        }
    }

    fn main(&self) -> &Reader {
        self.state.databases.main.reader()
    }
}

/// Formats an event for the stream. JSON has no line breaks.
fn line(kind: &str, id: &str, data: &str) -> String {
    format!("event: {kind}\nid: {id}\ndata: {data}\n\n")
}

/// Formats an event about the stream itself, such as `reset`.
pub(super) fn notice(kind: &str, id: &str, data: &impl Serialize) -> String {
    line(kind, id, &to_text(data))
}

fn stored(result: &CheckRecord) -> StoredCheck {
    StoredCheck {
        checked_at: result.checked_at,
        probe: result.location.to_string(),
        scheduled_at: result.scheduled_at,
        attempt: result.attempt,
        measurement: result.measurement.clone(),
    }
}
