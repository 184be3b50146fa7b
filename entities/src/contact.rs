//! A person who can be notified.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A person who can be notified.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "contact")]
pub struct Model {
    /// Key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The id that clients see.
    pub public_id: String,
    /// The organisation that owns it.
    pub organisation_id: i64,
    /// Display name of the contact.
    pub name: String,
    /// E-mail address of the contact.
    pub email: String,
    /// The time zone, by its name in the IANA database.
    pub time_zone: String,
    /// The language, one of the organisation's.
    pub language: String,
    /// The channels of the person, as JSON.
    pub channels: String,
    /// Hours in which only severe events are sent, as JSON; null: none.
    pub quiet_hours: Option<String>,
    /// Time of creation.
    pub created_at: i64,
    /// Time of the last write by a client.
    pub updated_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
