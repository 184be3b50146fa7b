//! Changes of incidents and maintenances, for the readers of the event log.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A change of an incident or a maintenance.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "event")]
pub struct Model {
    /// Number of the event; rises in the order of writing.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Database key of the organisation.
    pub organisation_id: i64,
    /// Kind of the subject: `incident` or `maintenance`.
    pub kind: String,
    /// Kind of change: `created`, `updated`, `resolved` or `deleted`.
    pub act: String,
    /// Public id of the incident or maintenance.
    pub subject_id: String,
    /// For a deletion, database keys of the services that were linked, separated by commas; otherwise empty.
    pub services: String,
    /// Database keys of the services that the change unlinked, separated by commas.
    pub former_services: String,
    /// Time at which the cleanup first noticed the event; null before. Retention counts from this time.
    pub noticed_at: Option<i64>,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
