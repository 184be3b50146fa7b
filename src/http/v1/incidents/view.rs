//! Incidents as clients see them (contract 4.10.1, 4.9).

use serde_json::{Value, json};

use crate::clock::Timestamp;
use crate::http::kit::languages::Languages;
use crate::model::incident::{Affected, Author, ChosenPage, Impact, Incident, TimelineEntry, WholeIncident};

/// An incident in a list.
pub(super) fn row(incident: &Incident, services: &[Affected], languages: &Languages) -> Value {
    json!({
        "id": incident.id.as_str(),
        "title": languages.text(&incident.title),
        "title_translations": incident.title.to_json(),
        "kind": incident.kind.as_str(),
        "status": incident.status.as_str(),
        "severity": incident.severity.as_str(),
        "is_published": incident.is_published,
        "started_at": incident.started_at.to_string(),
        "resolved_at": moment(incident.resolved_at),
        "created_at": incident.created_at.to_string(),
        "created_by": incident.created_by.as_ref().map(author),
        "services": services.iter().map(service).collect::<Vec<_>>(),
        "attachments": [],
        "sla_counts_as_downtime": incident.sla_counts_as_downtime,
    })
}

/// An incident by itself.
pub(super) fn whole(whole: &WholeIncident, languages: &Languages) -> Value {
    let mut seen = row(&whole.incident, &whole.services, languages);
    let pages = whole.statuspages.iter().map(|chosen| page(chosen, languages));
    seen["statuspages"] = pages.collect();
    seen["updates"] = whole.updates.iter().map(|update| entry(update, languages)).collect();
    seen
}

/// `service_impact`: how an incident hits one service.
pub(super) fn impact(affected: &Affected) -> Value {
    json!({
        "impact": affected.impact.map(Impact::as_str),
        "is_recovered": affected.recovered_at.is_some(),
        "added_at": affected.added_at.to_string(),
        "recovered_at": moment(affected.recovered_at),
    })
}

fn moment(at: Option<Timestamp>) -> Value {
    at.map(|at| at.to_string()).into()
}

fn author(author: &Author) -> Value {
    json!({"id": author.id.as_str(), "name": author.name, "avatar_url": ""})
}

fn service(affected: &Affected) -> Value {
    json!({"id": affected.id.as_str(), "name": affected.name})
}

fn page(chosen: &ChosenPage, languages: &Languages) -> Value {
    json!({"id": chosen.id.as_str(), "name": languages.text(&chosen.name)})
}

fn entry(entry: &TimelineEntry, languages: &Languages) -> Value {
    json!({
        "id": entry.id.as_str(),
        "status": entry.status.as_str(),
        "message": languages.text(&entry.message),
        "message_translations": entry.message.to_json(),
        "notify_subscribers": entry.notify_subscribers,
        "created_at": entry.created_at.to_string(),
    })
}
