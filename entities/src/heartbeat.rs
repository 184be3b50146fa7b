//! Ping addresses of heartbeat services.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// The ping address of a heartbeat service, and its last ping.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "heartbeat")]
pub struct Model {
    /// Database key of the service.
    #[sea_orm(primary_key, auto_increment = false)]
    pub service_id: i64,
    /// SHA-256 of the secret in the address.
    pub secret_hash: Vec<u8>,
    /// Secret of the ping address, sealed.
    pub secret: String,
    /// Time of the newest ping; null before the first one.
    pub last_ping_at: Option<i64>,
    /// True if the newest ping reported a failure.
    pub last_ping_failed: bool,
    /// Time from which deadlines count if it is later than the newest ping; null for none.
    pub counts_from: Option<i64>,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
