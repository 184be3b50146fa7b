//! The accounts of this installation at certificate authorities, one for each directory of an authority.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// An account at a certificate authority.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "acme_account")]
pub struct Model {
    /// Address of the authority's directory.
    #[sea_orm(primary_key, auto_increment = false)]
    pub directory_url: String,
    /// Sealed: address and private key of the account.
    pub credentials: String,
    /// Time of registration, in Unix milliseconds.
    pub created_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
