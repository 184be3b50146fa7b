//! Organisations, the owners of everything else.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// An organisation, the owner of everything else.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "organisation")]
pub struct Model {
    /// Database key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Public id, used by the API.
    pub public_id: String,
    /// Display name.
    pub name: String,
    /// Plan: `free`, `solo`, `team` or `business`.
    pub plan: String,
    /// True for the organisation that the first start creates; quotas do not limit the counts of its resources.
    pub self_hosted: bool,
    /// Language codes of the organisation, as a JSON list.
    pub locales: String,
    /// Default language code, one of `locales`.
    pub default_locale: String,
    /// Time of creation, in Unix milliseconds.
    pub created_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
