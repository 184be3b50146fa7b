//! Users of the console.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A user of the console. Its name, organisation, access scope and time of creation are in its row of `token`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "console_user")]
pub struct Model {
    /// Database key of the row of `token` through which the user acts.
    #[sea_orm(primary_key, auto_increment = false)]
    pub token_id: i64,
    /// E-mail address in lower case, by which the user signs in.
    pub email: String,
    /// Argon2id hash of the password; null until the user has chosen one.
    pub password_hash: Option<String>,
    /// Role of the user.
    pub role: String,
    /// Code of the language of the console; null for that of the browser.
    pub language: Option<String>,
    /// Whether single letters are shortcuts.
    pub has_shortcuts: bool,
    /// Time of the last change, in Unix milliseconds.
    pub updated_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
