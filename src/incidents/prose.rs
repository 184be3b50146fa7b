//! The titles and timeline entries of incidents that the engine writes.

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::access::Organisation;
use crate::model::incident::{Impact, IncidentStatus, TimelineEntry, WholeIncident};
use crate::model::incident_news::News;
use crate::model::incident_policy::OutageKind;
use crate::model::translated::Translated;
use crate::texts::Text;

/// What an incident was told in one go.
#[derive(Clone, Debug)]
pub(super) struct Heard {
    pub(super) news: News,
    pub(super) kind: OutageKind,
    /// The name of the service.
    pub(super) service: String,
}

/// The title of an incident: the first service that it affected, and how many others.
pub(super) fn title(whole: &WholeIncident, kind: OutageKind, organisation: &Organisation) -> Translated {
    let first = whole.services.iter().min_by_key(|affected| (affected.added_at, &affected.name));
    let name = first.map_or("", |affected| affected.name.as_str());
    let text = match kind {
        OutageKind::Down => "incident-down",
        OutageKind::Degraded => "incident-degraded",
        OutageKind::Unstable => "incident-unstable",
    };
    Text::of_service(text, name).and_others(whole.services.len().saturating_sub(1)).translated(organisation)
}

/// The trouble that the title names: the worst that any service has had, as far as the impacts tell.
pub(super) fn worst_kind(whole: &WholeIncident, heard: &[Heard]) -> OutageKind {
    let is_down = whole.services.iter().any(|affected| affected.impact == Some(Impact::MajorOutage));
    let heard = heard.iter().map(|heard| heard.kind).max();
    if is_down { OutageKind::Down } else { heard.unwrap_or(OutageKind::Degraded) }
}

/// The first entry of an incident.
pub(super) fn opened(heard: &Heard, organisation: &Organisation) -> Translated {
    let text = match heard.kind {
        OutageKind::Down => "opened-down",
        OutageKind::Degraded => "opened-degraded",
        OutageKind::Unstable => "opened-unstable",
    };
    Text::of_service(text, &heard.service).translated(organisation)
}

/// The entries about what an incident that is known was told: one for each kind of news, however many services.
pub(super) fn entries(heard: &[Heard], organisation: &Organisation) -> Vec<Translated> {
    let about = |news: News| heard.iter().filter(move |heard| heard.news == news);
    let joined: Vec<&Heard> = about(News::Joined).collect();
    let first = joined.first().map(|first| {
        let others = joined.len().saturating_sub(1);
        Text::of_service("joined", &first.service).and_others(others).translated(organisation)
    });
    let mut entries: Vec<Translated> = first.into_iter().collect();
    for (news, text) in [(News::Relapsed, "relapsed"), (News::Worsened, "worsened")] {
        entries.extend(about(news).next().map(|heard| written(text, heard, organisation)));
    }
    let unstable = about(News::Nothing).find(|heard| heard.kind == OutageKind::Unstable);
    entries.extend(unstable.map(|heard| written("unstable", heard, organisation)));
    entries
}

fn written(text: &'static str, heard: &Heard, organisation: &Organisation) -> Translated {
    Text::of_service(text, &heard.service).translated(organisation)
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
