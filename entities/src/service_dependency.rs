//! A service depends on another one, or on all that carry a tag.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A service depends on another one, or on all that carry a tag: exactly one of both is set.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "service_dependency")]
pub struct Model {
    /// Key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Database key of the service that depends.
    pub service_id: i64,
    /// Position in the list of the client.
    pub position: i32,
    /// The service that it depends on.
    pub parent_id: Option<i64>,
    /// The tag of the services that it depends on.
    pub tag_id: Option<i64>,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
