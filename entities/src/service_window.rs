//! Service windows: periods that determine how the time of a service counts.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A period that determines how the time of a service counts: a pause, a status override, a planned maintenance, or a time
/// in which the service was unreachable.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "service_window")]
pub struct Model {
    /// Database key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Database key of the service.
    pub service_id: i64,
    /// Kind of the window: `pause`, `override`, `maintenance` or `unreachable`.
    pub kind: String,
    /// Status that an override sets; null for other kinds.
    pub status: Option<String>,
    /// Start, inclusive.
    pub from_at: i64,
    /// End, exclusive; null while the window is open.
    pub to_at: Option<i64>,
    /// Database key of the planned maintenance; null for other kinds.
    pub maintenance_id: Option<i64>,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
