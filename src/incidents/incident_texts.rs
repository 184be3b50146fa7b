//! The titles and timeline entries of automatic incidents.
//!
//! Only the title names services, because entries can be read by everybody with access to the incident, even without
//! access to all of its services.

use std::collections::BTreeSet;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::access::Organisation;
use crate::model::incident::{AffectedService, Impact, IncidentStatus, IncidentTimelineEntry, WholeIncident};
use crate::model::incident_outages::ImpactChange;
use crate::model::incident_policy::OutageKind;
use crate::model::translated_text::TranslatedText;
use crate::texts::GeneratedText;

/// The outages that were added to an incident at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutageNews {
    pub(super) impact: ImpactChange,
    pub(super) kind: OutageKind,
}

/// Returns the title of an incident with these services: the first one, and the number of the others.
#[must_use]
pub fn title(services: &[AffectedService], kind: OutageKind, organisation: &Organisation) -> TranslatedText {
    title_with_others(services, 0, kind, organisation)
}

/// Returns the title of an incident, which may have been read in part.
pub(super) fn title_of(
    whole: &WholeIncident,
    kind: OutageKind,
    organisation: &Organisation,
) -> TranslatedText {
    title_with_others(&whole.services, whole.others, kind, organisation)
}

fn title_with_others(
    services: &[AffectedService],
    others: usize,
    kind: OutageKind,
    organisation: &Organisation,
) -> TranslatedText {
    let first = services.iter().min_by_key(|affected| (affected.added_at, affected.service));
    let name = first.map_or("", |affected| affected.name.as_str());
    let text = match kind {
        OutageKind::Down => "incident-down",
        OutageKind::Degraded => "incident-degraded",
        OutageKind::Unstable => "incident-unstable",
    };
    GeneratedText::of_service(text, name)
        .with_other_count((services.len() + others).saturating_sub(1))
        .translated(organisation)
}

/// Returns the worst kind of outage of these services, according to their impacts.
#[must_use]
pub fn worst_impact(services: &[AffectedService]) -> OutageKind {
    let is_down = services.iter().any(|affected| affected.impact == Some(Impact::MajorOutage));
    if is_down { OutageKind::Down } else { OutageKind::Degraded }
}

/// Returns the worst kind of outage, which the title names.
pub(super) fn worst_kind(whole: &WholeIncident, outage_news: &[OutageNews]) -> OutageKind {
    let outage_news = outage_news.iter().map(|outage_news| outage_news.kind).max();
    match worst_impact(&whole.services) {
        OutageKind::Down => OutageKind::Down,
        kind => outage_news.unwrap_or(kind),
    }
}

/// Returns the first entry of an incident.
pub(super) fn opened(outage_news: OutageNews, organisation: &Organisation) -> TranslatedText {
    let text = match outage_news.kind {
        OutageKind::Down => "opened-down",
        OutageKind::Degraded => "opened-degraded",
        OutageKind::Unstable => "opened-unstable",
    };
    GeneratedText::new(text).translated(organisation)
}

/// Returns the entries about added outages: one for each kind, for any number of services.
pub(super) fn entries(outage_news: &[OutageNews], organisation: &Organisation) -> Vec<TranslatedText> {
    let text = |outage_news: &OutageNews| match (outage_news.impact, outage_news.kind) {
        (ImpactChange::Joined, _) => Some("joined"),
        (ImpactChange::Relapsed, _) => Some("relapsed"),
        (ImpactChange::Worsened, _) => Some("worsened"),
        (ImpactChange::Nothing, OutageKind::Unstable) => Some("unstable"),
        (ImpactChange::Nothing, _) => None,
    };
    let texts: BTreeSet<&'static str> = outage_news.iter().filter_map(text).collect();
    texts.into_iter().map(|text| GeneratedText::new(text).translated(organisation)).collect()
}

/// Returns the entry that all services work again, and that the recovery must last before the incident ends.
pub(super) fn monitoring(organisation: &Organisation) -> TranslatedText {
    GeneratedText::new("monitoring").translated(organisation)
}

/// Returns the entry that the incident is resolved.
pub(super) fn resolved(organisation: &Organisation) -> TranslatedText {
    GeneratedText::new("resolved").translated(organisation)
}

/// Creates an automatic entry, which subscribers receive if the incident is published.
pub(super) fn entry(status: IncidentStatus, message: TranslatedText, at: Timestamp) -> IncidentTimelineEntry {
    IncidentTimelineEntry { id: Id::random(), status, message, notify_subscribers: true, created_at: at }
}
