//! A status page whose subscribers receive a fact.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A status page whose subscribers receive a fact.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "subscriber_fact_page")]
pub struct Model {
    /// Database key of the fact.
    #[sea_orm(primary_key, auto_increment = false)]
    pub fact_id: i64,
    /// Database key of the status page.
    #[sea_orm(primary_key, auto_increment = false)]
    pub statuspage_id: i64,
    /// Database key of the last subscriber of the page for whom the fact was queued, 0 for none; null when it was queued for
    /// all.
    pub queue_position: Option<i64>,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
