//! Secret addresses of contacts' calendars.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// The secret address of a contact's calendar.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "contact_calendar")]
pub struct Model {
    /// Database key of the contact.
    #[sea_orm(primary_key, auto_increment = false)]
    pub contact_id: i64,
    /// SHA-256 of the secret in the address.
    pub secret_hash: Vec<u8>,
    /// Time of creation, in Unix milliseconds.
    pub created_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
