//! Something that became of an incident or a maintenance.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// Something that became of an incident or a maintenance.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "event")]
pub struct Model {
    /// Its number: they rise in the order in which they were written.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Database key of the organisation.
    pub organisation_id: i64,
    /// `incident` or `maintenance`.
    pub kind: String,
    /// `created`, `updated`, `resolved` or `deleted`.
    pub act: String,
    /// The id of the incident or maintenance, as clients see it.
    pub subject_id: String,
    /// Keys of the services that it concerned from then on, with commas between; for a deletion, until then.
    pub services: String,
    /// Keys of the services that it no longer concerns, with commas between.
    pub former_services: String,
    /// Time at which upkeep has found it; null before that.
    pub noticed_at: Option<i64>,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
