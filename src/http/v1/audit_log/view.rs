//! Entries of the audit log as clients see them.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::openapi::shape::{
    ApiSchema, anything, enum_of, id, list_of, object, string, string_or_null, timestamp,
};
use crate::id::Id;
use crate::model::audit::{ActorKind, AuditEntry, FieldChange};

/// A change, and who made it.
#[derive(Serialize, ToSchema)]
#[schema(as = AuditEntry)]
pub(super) struct AuditEntryView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    #[schema(schema_with = timestamp)]
    at: Timestamp,
    #[schema(inline)]
    actor: AuditActorView<'a>,
    #[schema(schema_with = address, required)]
    address: Option<&'a str>,
    #[schema(schema_with = action)]
    action: &'a str,
    #[schema(inline)]
    object: AuditObjectView<'a>,
    #[schema(schema_with = changes)]
    changes: Vec<Value>,
    #[schema(schema_with = string_or_null, required)]
    request_id: Option<&'a str>,
}

/// Who made a change.
#[derive(Serialize, ToSchema)]
struct AuditActorView<'a> {
    #[schema(schema_with = kind)]
    kind: &'static str,
    #[schema(schema_with = id_or_null, required)]
    id: Option<Id>,
    name: &'a str,
}

/// What was changed.
#[derive(Serialize, ToSchema)]
struct AuditObjectView<'a> {
    #[schema(schema_with = object_kind)]
    kind: &'a str,
    #[schema(schema_with = string_or_null, required)]
    id: Option<&'a str>,
    #[schema(schema_with = string_or_null, required)]
    name: Option<&'a str>,
}

impl<'a> AuditEntryView<'a> {
    /// Creates the view of an entry.
    pub(super) fn of(entry: &'a AuditEntry) -> Self {
        let (actor, object) = (&entry.actor, &entry.object);
        Self {
            id: entry.id,
            at: entry.at,
            actor: AuditActorView { kind: actor.kind.as_str(), id: actor.id, name: &actor.name },
            address: entry.address.as_deref(),
            action: &entry.action,
            object: AuditObjectView {
                kind: &object.kind,
                id: object.id.as_deref(),
                name: object.name.as_deref(),
            },
            changes: entry.changes.iter().map(FieldChange::to_json).collect(),
            request_id: entry.request_id.as_deref(),
        }
    }
}

fn kind() -> ApiSchema {
    enum_of(ActorKind::WORDS)
}

fn id_or_null() -> ApiSchema {
    id().nullable().says("The user or token; null for other actors.")
}

fn address() -> ApiSchema {
    string_or_null().says("The address of the client.").example("192.0.2.7")
}

fn action() -> ApiSchema {
    string().says("Such as `create`, `update`, `delete` or `pause`.").example("update")
}

fn object_kind() -> ApiSchema {
    string().says("Such as `service`, `incident` or `statuspage`.").example("service")
}

fn changes() -> ApiSchema {
    let change = object()
        .has("field", string().says("The path of the field.").example("settings.timeout_seconds"))
        .has("old", anything().says("The value before; null if there was none."))
        .has("new", anything().says("The value after; null if there is none."));
    list_of(change).says("The changed fields. Secrets are shown as `***`, long values are cut.")
}
