//! A span in which members decided how the time of a service counts: a pause, a status override or planned
//! maintenance.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A span in which members decided how the time of a service counts: a pause, a status override or planned
/// maintenance.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "service_window")]
pub struct Model {
    /// Key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Database key of the service.
    pub service_id: i64,
    /// `pause`, `override` or `maintenance`.
    pub kind: String,
    /// The overriding status; null for the others.
    pub status: Option<String>,
    /// Start, inclusive.
    pub from_at: i64,
    /// End, exclusive; null while it lasts.
    pub to_at: Option<i64>,
    /// The planned maintenance; null for the others.
    pub maintenance_id: Option<i64>,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
