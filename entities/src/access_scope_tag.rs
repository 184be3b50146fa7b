//! Links between access scopes and their tags.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A tag that belongs to an access scope.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "access_scope_tag")]
pub struct Model {
    /// Database key of the access scope.
    #[sea_orm(primary_key, auto_increment = false)]
    pub access_scope_id: i64,
    /// Database key of the tag.
    #[sea_orm(primary_key, auto_increment = false)]
    pub tag_id: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
