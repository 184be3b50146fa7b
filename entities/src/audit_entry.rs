//! The audit log.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A change and who made it.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "audit_entry")]
pub struct Model {
    /// Database key; later entries have larger keys.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Public id.
    pub public_id: String,
    /// Database key of the organisation.
    pub organisation_id: i64,
    /// Time of the change, in Unix milliseconds.
    pub at: i64,
    /// Kind of the actor.
    pub actor_kind: String,
    /// Public id of the user or token; null for other actors.
    pub actor_id: Option<String>,
    /// Name of the actor at that time.
    pub actor_name: String,
    /// Address of the client; null if there was none.
    pub address: Option<String>,
    /// What was done, for example `update`.
    pub action: String,
    /// Kind of the object.
    pub object_kind: String,
    /// Public id of the object; null if it has none.
    pub object_id: Option<String>,
    /// Name of the object at that time.
    pub object_name: Option<String>,
    /// The changed fields with their old and new values, as a JSON array.
    pub changes: String,
    /// Id of the request in the log; null if there was none.
    pub request_id: Option<String>,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
