//! Subscribers of a status page.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// An address to which news of a status page are sent.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "subscriber")]
pub struct Model {
    /// Key of the row.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The id that clients see.
    pub public_id: String,
    /// Database key of the status page.
    pub statuspage_id: i64,
    /// Channel: `email`, `webhook`, `slack`, `teams`, `discord` or `telegram`.
    pub channel: String,
    /// The address as clients see it: without its secret part, if it has one.
    pub address: String,
    /// The whole address, sealed; null if it is no secret.
    pub sealed_address: Option<String>,
    /// SHA-256 of channel and address, unique on the page.
    pub address_hash: Vec<u8>,
    /// True for news of all components; false for those in `subscriber_component`.
    pub is_for_all: bool,
    /// Language of the messages.
    pub language: String,
    /// Status: `pending`, `active` or `disabled`.
    pub status: String,
    /// Reason for which the address is disabled; null if it is not.
    pub disabled_reason: Option<String>,
    /// Number of consecutive messages that the mail server refused for this address.
    pub refusals: i32,
    /// The secret that signs messages to a webhook, sealed; null for other channels.
    pub secret: Option<String>,
    /// Who has entered the address: `client` or `visitor`.
    pub origin: String,
    /// Time of the last request for confirmation, in Unix milliseconds; null without one.
    pub asked_at: Option<i64>,
    /// Time at which the address was confirmed; null before.
    pub confirmed_at: Option<i64>,
    /// Time of creation, in Unix milliseconds.
    pub created_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
