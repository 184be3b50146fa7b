//! Slugs that were given up and are held for their organisation for 30 days.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A slug that was given up and is held for its organisation for 30 days.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "slug_hold")]
pub struct Model {
    /// The held slug.
    #[sea_orm(primary_key, auto_increment = false)]
    pub slug: String,
    /// Database key of the organisation that owns the row.
    pub organisation_id: i64,
    /// Database key of the page that gave the slug up, which may be deleted; null in rows of earlier versions.
    pub statuspage_id: Option<i64>,
    /// Time at which the slug was given up.
    pub freed_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
