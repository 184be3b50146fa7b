//! The audit log. Entries are written in the transaction of the change, and never changed.

use sea_orm::sea_query::Condition;
use sea_orm::{
    ActiveValue::Set, ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect,
};
use serde_json::{Value, json};
use watchkeeper_entities::audit_entry::{ActiveModel, Column, Entity, Model};

use crate::clock::Timestamp;
use crate::model::audit::{AuditActor, AuditEntry, AuditObject, FieldChange, RETENTION_MS};
use crate::store::connection::StoreConnection;
use crate::store::error::MainError;
use crate::store::page_window::PageWindow;

/// Maximum number of entries that are deleted at once.
const AT_ONCE: u64 = 1_000;

/// Which entries of an organisation are wanted; `None` = any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Id of the actor, or its kind.
    pub actor: Option<String>,
    /// Id of the object, or its kind.
    pub object: Option<String>,
    /// The action.
    pub action: Option<String>,
    /// Entries at this time or later.
    pub from: Option<Timestamp>,
    /// Entries before this time.
    pub to: Option<Timestamp>,
}

impl AuditFilter {
    fn condition(&self, organisation: i64) -> Condition {
        let either =
            |text: &String, id: Column, kind: Column| Condition::any().add(id.eq(text)).add(kind.eq(text));
        Condition::all()
            .add(Column::OrganisationId.eq(organisation))
            .add_option(self.actor.as_ref().map(|text| either(text, Column::ActorId, Column::ActorKind)))
            .add_option(self.object.as_ref().map(|text| either(text, Column::ObjectId, Column::ObjectKind)))
            .add_option(self.action.as_ref().map(|action| Column::Action.eq(action)))
            .add_option(self.from.map(|from| Column::At.gte(from.ms())))
            .add_option(self.to.map(|to| Column::At.lt(to.ms())))
    }
}

/// Stores an entry.
pub async fn insert(connection: &dyn StoreConnection, entry: &AuditEntry) -> Result<(), MainError> {
    let changes: Value = entry.changes.iter().map(FieldChange::to_json).collect();
    let row = ActiveModel {
        public_id: Set(entry.id.to_string()),
        organisation_id: Set(entry.organisation),
        at: Set(entry.at.ms()),
        actor_kind: Set(entry.actor.kind.as_str().into()),
        actor_id: Set(entry.actor.id.map(|id| id.to_string())),
        actor_name: Set(entry.actor.name.clone()),
        address: Set(entry.address.clone()),
        action: Set(entry.action.clone()),
        object_kind: Set(entry.object.kind.clone()),
        object_id: Set(entry.object.id.clone()),
        object_name: Set(entry.object.name.clone()),
        changes: Set(changes.to_string().replace('\0', "")),
        request_id: Set(entry.request_id.clone()),
        ..ActiveModel::default()
    };
    Entity::insert(row).exec(&connection).await?;
    Ok(())
}

/// The entries on this page of the list, newest first, and their total number.
pub async fn list(
    connection: &dyn StoreConnection,
    organisation: i64,
    filter: &AuditFilter,
    window: PageWindow,
) -> Result<(Vec<AuditEntry>, u64), MainError> {
    let wanted = Entity::find().filter(filter.condition(organisation));
    let total = wanted.clone().count(&connection).await?;
    let rows = wanted.order_by_desc(Column::Id).offset(window.offset).limit(window.limit);
    let rows = rows.all(&connection).await?.into_iter().map(from_row);
    Ok((rows.collect::<Result<_, _>>()?, total))
}

/// Deletes some of the entries that are too old. To be called again until it returns false.
pub async fn forget_old(connection: &dyn StoreConnection, now: Timestamp) -> Result<bool, MainError> {
    let is_old = Column::At.lte(now.plus_ms(-RETENTION_MS).ms());
    let old = Entity::find().select_only().column(Column::Id).filter(is_old).order_by_asc(Column::At);
    let old: Vec<i64> = old.limit(AT_ONCE).into_tuple().all(&connection).await?;
    let is_full = u64::try_from(old.len()).is_ok_and(|count| count == AT_ONCE);
    if !old.is_empty() {
        Entity::delete_many().filter(Column::Id.is_in(old)).exec(&connection).await?;
    }
    Ok(is_full)
}

fn from_row(row: Model) -> Result<AuditEntry, MainError> {
    let corrupt = |problem: &str| MainError::corrupt("audit entry", &row.id, &problem);
    let changes: Vec<Value> =
        serde_json::from_str(&row.changes).map_err(|_| corrupt("its changes cannot be read"))?;
    let actor_id = row.actor_id.as_deref().map(str::parse).transpose();
    Ok(AuditEntry {
        id: row.public_id.parse().map_err(|_| corrupt("its id is malformed"))?,
        organisation: row.organisation_id,
        at: Timestamp::from_ms(row.at),
        actor: AuditActor {
            kind: row.actor_kind.parse().map_err(|_| corrupt("unknown kind of actor"))?,
            id: actor_id.map_err(|_| corrupt("the id of its actor is malformed"))?,
            name: row.actor_name,
        },
        address: row.address,
        action: row.action,
        object: AuditObject { kind: row.object_kind, id: row.object_id, name: row.object_name },
        changes: changes.iter().map(change_of).collect(),
        request_id: row.request_id,
    })
}

fn change_of(stored: &Value) -> FieldChange {
    let value = |name: &str| stored.get(name).cloned().unwrap_or_else(|| json!(null));
    FieldChange {
        field: stored["field"].as_str().unwrap_or_default().to_owned(),
        old: value("old"),
        new: value("new"),
    }
}
