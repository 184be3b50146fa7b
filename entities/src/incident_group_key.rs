//! A key by which an incident of the engine groups failures.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A key by which an incident of the engine groups failures.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "incident_group_key")]
pub struct Model {
    /// `tag` or `service`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub kind: String,
    /// The tag that services carry, or the service that they depend on.
    #[sea_orm(primary_key, auto_increment = false)]
    pub key_id: i64,
    /// The policy that the incident followed when the service joined; it may be deleted.
    #[sea_orm(primary_key, auto_increment = false)]
    pub policy_id: i64,
    /// The incident that a service with the key joined last.
    pub incident_id: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
