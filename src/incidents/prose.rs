//! The titles and timeline entries of incidents that the engine writes.
//!
//! Only the title names services. Entries are read by everybody who sees the incident, also by those who may not see
//! every service in it.

use std::collections::BTreeSet;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::access::Organisation;
use crate::model::incident::{Affected, Impact, IncidentStatus, TimelineEntry, WholeIncident};
use crate::model::incident_news::News;
use crate::model::incident_policy::OutageKind;
use crate::model::translated::Translated;
use crate::texts::Text;

/// What an incident was told in one go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard {
    pub(super) news: News,
    pub(super) kind: OutageKind,
}

/// The title of an incident that affects these services: the first of them, and how many others.
#[must_use]
pub fn title(services: &[Affected], kind: OutageKind, organisation: &Organisation) -> Translated {
    title_with_others((services, 0), kind, organisation)
}

/// The title of an incident, which may have been read in part.
pub(super) fn title_of(whole: &WholeIncident, kind: OutageKind, organisation: &Organisation) -> Translated {
    title_with_others((&whole.services, whole.others), kind, organisation)
}

fn title_with_others(
    (services, others): (&[Affected], usize),
    kind: OutageKind,
    organisation: &Organisation,
) -> Translated {
    let first = services.iter().min_by_key(|affected| (affected.added_at, affected.service));
    let name = first.map_or("", |affected| affected.name.as_str());
    let text = match kind {
        OutageKind::Down => "incident-down",
        OutageKind::Degraded => "incident-degraded",
        OutageKind::Unstable => "incident-unstable",
    };
    Text::of_service(text, name)
        .and_others((services.len() + others).saturating_sub(1))
        .translated(organisation)
}

/// The trouble of these services as far as the impacts tell: the worst that any of them has had.
#[must_use]
pub fn worst_impact(services: &[Affected]) -> OutageKind {
    let is_down = services.iter().any(|affected| affected.impact == Some(Impact::MajorOutage));
    if is_down { OutageKind::Down } else { OutageKind::Degraded }
}

/// The trouble that the title names.
pub(super) fn worst_kind(whole: &WholeIncident, heard: &[Heard]) -> OutageKind {
    let heard = heard.iter().map(|heard| heard.kind).max();
    match worst_impact(&whole.services) {
        OutageKind::Down => OutageKind::Down,
        kind => heard.unwrap_or(kind),
    }
}

/// The first entry of an incident.
pub(super) fn opened(heard: Heard, organisation: &Organisation) -> Translated {
    let text = match heard.kind {
        OutageKind::Down => "opened-down",
        OutageKind::Degraded => "opened-degraded",
        OutageKind::Unstable => "opened-unstable",
    };
    Text::new(text).translated(organisation)
}

/// The entries about what an incident that is known was told: one for each kind of news, however many services.
pub(super) fn entries(heard: &[Heard], organisation: &Organisation) -> Vec<Translated> {
    let text = |heard: &Heard| match (heard.news, heard.kind) {
        (News::Joined, _) => Some("joined"),
        (News::Relapsed, _) => Some("relapsed"),
        (News::Worsened, _) => Some("worsened"),
        (News::Nothing, OutageKind::Unstable) => Some("unstable"),
        (News::Nothing, _) => None,
    };
    let texts: BTreeSet<&'static str> = heard.iter().filter_map(text).collect();
    texts.into_iter().map(|text| Text::new(text).translated(organisation)).collect()
}

/// Everything works again; more is not said before that has lasted.
pub(super) fn monitoring(organisation: &Organisation) -> Translated {
    Text::new("monitoring").translated(organisation)
}

/// It is over.
pub(super) fn resolved(organisation: &Organisation) -> Translated {
    Text::new("resolved").translated(organisation)
}

/// An entry of the engine, which subscribers are told if the incident is published.
pub(super) fn entry(status: IncidentStatus, message: Translated, at: Timestamp) -> TimelineEntry {
    TimelineEntry { id: Id::random(), status, message, notify_subscribers: true, created_at: at }
}
