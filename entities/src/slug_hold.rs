//! A slug that was given up and is kept for its organisation for a while.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A slug that was given up and is kept for its organisation for a while.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "slug_hold")]
pub struct Model {
    /// The slug that was given up.
    #[sea_orm(primary_key, auto_increment = false)]
    pub slug: String,
    /// The organisation that owns it.
    pub organisation_id: i64,
    /// The page that gave it up, which may be deleted; null = it was given up before this was recorded.
    pub statuspage_id: Option<i64>,
    /// The time at which it was given up.
    pub freed_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
