//! Host names attached to status pages.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A host name attached to a status page (a domain claim).
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "custom_domain")]
pub struct Model {
    /// Database key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Public id, used by the API.
    pub public_id: String,
    /// Database key of the status page.
    pub statuspage_id: i64,
    /// Host name in lower case. Several claims may have the same one, but at most one of these is active.
    pub hostname: String,
    /// Status: `pending_verification`, `active` or `failed`.
    pub status: String,
    /// The value that the TXT record must have.
    pub txt_value: String,
    /// Time of verification; set only while the claim is active.
    pub verified_at: Option<i64>,
    /// Code of the fault found by the last check; null before the first check and while the claim is active.
    pub last_error_code: Option<String>,
    /// Time of the next check; null if there is none.
    pub next_look_at: Option<i64>,
    /// Time since when the records of an active domain have been wrong; null while they are right.
    pub wrong_since: Option<i64>,
    /// Time at which a client last requested a check; null if never.
    pub asked_at: Option<i64>,
    /// Time of creation, in Unix milliseconds.
    pub created_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
