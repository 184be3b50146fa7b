//! An organisation: the owner of everything else.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// An organisation: the owner of everything else.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "organisation")]
pub struct Model {
    /// Key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The id that clients see.
    pub public_id: String,
    /// Display name.
    pub name: String,
    /// `free`, `solo`, `team` or `business`.
    pub plan: String,
    /// Created by the first start: no count quotas.
    pub self_hosted: bool,
    /// JSON list of its languages.
    pub locales: String,
    /// The default language, one of `locales`.
    pub default_locale: String,
    /// Time of creation.
    pub created_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
