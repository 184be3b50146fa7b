//! What the engine changes by itself, as entries of the audit log: incidents that open and end, maintenances that start and
//! end.

use serde_json::json;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::audit::{AuditActor, AuditEntry, AuditObject, FieldChange};
use crate::model::incident::Incident;
use crate::model::maintenance::Maintenance;
use crate::model::translated_text::TranslatedText;
use crate::store::{MainError, Transaction, audit_entries};

/// The object of a change, and its status before and after.
struct StatusStep<'a> {
    organisation: i64,
    kind: &'static str,
    id: Id,
    title: &'a TranslatedText,
    /// `None` if the object is new.
    old: Option<&'static str>,
    new: &'static str,
}

/// Writes that the engine has created an incident, or changed its status; nothing if the status is the same.
pub async fn note_incident(
    transaction: &Transaction,
    before: Option<&Incident>,
    after: &Incident,
    at: Timestamp,
) -> Result<(), MainError> {
    let step = StatusStep {
        organisation: after.organisation,
        kind: "incident",
        id: after.id,
        title: &after.title,
        old: before.map(|before| before.status.as_str()),
        new: after.status.as_str(),
    };
    note(transaction, &step, at).await
}

/// Writes that the engine has changed the status of a maintenance.
pub async fn note_maintenance(
    transaction: &Transaction,
    before: &Maintenance,
    after: &Maintenance,
    at: Timestamp,
) -> Result<(), MainError> {
    let step = StatusStep {
        organisation: after.organisation,
        kind: "maintenance",
        id: after.id,
        title: &after.title,
        old: Some(before.status.as_str()),
        new: after.status.as_str(),
    };
    note(transaction, &step, at).await
}

async fn note(transaction: &Transaction, step: &StatusStep<'_>, at: Timestamp) -> Result<(), MainError> {
    let Some(entry) = entry_of(step, at) else { return Ok(()) };
    audit_entries::insert(transaction, &entry).await
}

/// Returns the entry about a step; `None` if the status is the same.
fn entry_of(step: &StatusStep<'_>, at: Timestamp) -> Option<AuditEntry> {
    if step.old == Some(step.new) {
        return None;
    }
    let title = step.title.iter().next().map(|(_, text)| text.to_owned());
    let change = FieldChange { field: "status".into(), old: json!(step.old), new: json!(step.new) };
    Some(AuditEntry {
        id: Id::random(),
        organisation: step.organisation,
        at,
        actor: AuditActor::engine(),
        address: None,
        action: if step.old.is_none() { "create" } else { "update" }.to_owned(),
        object: AuditObject { kind: step.kind.to_owned(), id: Some(step.id.to_string()), name: title },
        changes: vec![change],
        request_id: None,
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(None, "investigating", Some("create"))]
    #[case(Some("investigating"), "resolved", Some("update"))]
    #[case(Some("investigating"), "investigating", None)]
    fn a_change_of_the_status_is_an_entry(
        #[case] old: Option<&'static str>,
        #[case] new: &'static str,
        #[case] action: Option<&str>,
    ) {
        let title = TranslatedText::single("en", "Shop is down");
        let step =
            StatusStep { organisation: 1, kind: "incident", id: Id::random(), title: &title, old, new };
        let entry = entry_of(&step, Timestamp::from_ms(0));
        assert_eq!(entry.as_ref().map(|entry| entry.action.as_str()), action);
        assert!(entry.is_none_or(|entry| entry.object.name.as_deref() == Some("Shop is down")));
    }
}
