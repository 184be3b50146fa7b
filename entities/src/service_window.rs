//! A span in which people decided how the time of a service counts: a pause or a status override.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A span in which people decided how the time of a service counts: a pause or a status override.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "service_window")]
pub struct Model {
    /// Key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The service.
    pub service_id: i64,
    /// `pause` or `override`.
    pub kind: String,
    /// The overriding status; null for a pause.
    pub status: Option<String>,
    /// Start, inclusive.
    pub from_at: i64,
    /// End, exclusive; null while it lasts.
    pub to_at: Option<i64>,
}

/// No relation is followed by the entities; `store` says what it joins.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
