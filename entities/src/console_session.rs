//! Sessions of the users of the console.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A browser in which a user has signed in.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "console_session")]
pub struct Model {
    /// Database key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Public id.
    pub public_id: String,
    /// Database key of the user's row of `token`.
    pub user_id: i64,
    /// SHA-256 of the secret in the cookie.
    pub hash: Vec<u8>,
    /// Address of the client that signed in.
    pub address: String,
    /// Header `User-Agent` of the client that signed in.
    pub browser: String,
    /// Time of the sign-in, in Unix milliseconds.
    pub created_at: i64,
    /// Time of the last request, exact to a minute.
    pub seen_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
