//! Keys by which the engine groups failures into incidents.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A key by which the engine groups failures into an incident.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "incident_group_key")]
pub struct Model {
    /// Kind of the key: `tag` or `service`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub kind: String,
    /// Database key of the tag that the services have, or of the service that they depend on.
    #[sea_orm(primary_key, auto_increment = false)]
    pub key_id: i64,
    /// Database key of the policy that the incident followed when the service joined; the policy may have been deleted.
    #[sea_orm(primary_key, auto_increment = false)]
    pub policy_id: i64,
    /// Database key of the incident that a service with the key joined last.
    pub incident_id: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
