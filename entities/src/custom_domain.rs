//! A host name attached to a status page.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A host name attached to a status page.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "custom_domain")]
pub struct Model {
    /// Key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The id that clients see.
    pub public_id: String,
    /// Database key of the status page.
    pub statuspage_id: i64,
    /// Lower case; several claims may name it, of which one at most is active.
    pub hostname: String,
    /// `pending_verification`, `active` or `failed`.
    pub status: String,
    /// The value that the TXT record must have.
    pub txt_value: String,
    /// Set exactly while active.
    pub verified_at: Option<i64>,
    /// The fault of its records; null before the first check and while active.
    pub last_error_code: Option<String>,
    /// The time of the next check; null = never.
    pub next_look_at: Option<i64>,
    /// The time since which an active domain is wrong.
    pub wrong_since: Option<i64>,
    /// The time at which a client last requested a check.
    pub asked_at: Option<i64>,
    /// Time of creation.
    pub created_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
