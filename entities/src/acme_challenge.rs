//! The answers to the running challenges of certificate authorities, which every node gives.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// The answer to a challenge.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "acme_challenge")]
pub struct Model {
    /// The token by which the authority asks.
    #[sea_orm(primary_key, auto_increment = false)]
    pub token: String,
    /// The host name whose control is to be proven.
    pub hostname: String,
    /// The answer; no secret: it is given to everybody who asks.
    pub key_authorization: String,
    /// Time at which the order began, in Unix milliseconds.
    pub created_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
