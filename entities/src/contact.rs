//! Contacts: people who can be notified.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A contact: a person who can be notified, but cannot log in.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "contact")]
pub struct Model {
    /// Database key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Public id, used by the API.
    pub public_id: String,
    /// Database key of the organisation that owns the row.
    pub organisation_id: i64,
    /// Display name of the contact.
    pub name: String,
    /// Email address of the contact.
    pub email: String,
    /// Name of the time zone in the IANA database.
    pub time_zone: String,
    /// Language code, one of the organisation's languages.
    pub language: String,
    /// References to the contact's notification channels, as JSON.
    pub channels: String,
    /// Quiet hours, in which only severe events are sent, as JSON; null for none.
    pub quiet_hours: Option<String>,
    /// Time of creation, in Unix milliseconds.
    pub created_at: i64,
    /// Time of the last write by a client, in Unix milliseconds.
    pub updated_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
