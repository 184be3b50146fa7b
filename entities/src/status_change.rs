//! Changes of the measured status of services.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A change of the measured status of a service, or the start or end of flapping.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "status_change")]
pub struct Model {
    /// Number of the change; rises in the order of recording.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Database key of the service.
    pub service_id: i64,
    /// The time of the change.
    pub at: i64,
    /// Number of the status before the change.
    pub from_status: i16,
    /// Number of the status after the change.
    pub to_status: i16,
    /// Number of the cause of the change.
    pub cause: i16,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
