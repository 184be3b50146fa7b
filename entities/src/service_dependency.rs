//! Dependencies of services.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A dependency of a service on another one, or on all services with a tag. Exactly one of `parent_id` and `tag_id` is
/// set.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "service_dependency")]
pub struct Model {
    /// Database key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Database key of the dependent service.
    pub service_id: i64,
    /// Position in the list that the client gave, from 0.
    pub position: i32,
    /// Database key of the service on which `service_id` depends; null for a dependency on a tag.
    pub parent_id: Option<i64>,
    /// Database key of the tag on whose services `service_id` depends; null for a dependency on one service.
    pub tag_id: Option<i64>,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
