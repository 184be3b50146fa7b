//! Components that subscribers have chosen.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A component of which a subscriber wants news.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "subscriber_component")]
pub struct Model {
    /// Database key of the subscriber.
    #[sea_orm(primary_key, auto_increment = false)]
    pub subscriber_id: i64,
    /// Database key of the component.
    #[sea_orm(primary_key, auto_increment = false)]
    pub component_id: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
