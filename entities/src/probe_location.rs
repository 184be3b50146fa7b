//! A remote probe location. Those of the process itself are in its settings.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A remote probe location. Those of the process itself are in its settings.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "probe_location")]
pub struct Model {
    /// Key: the code that clients see, which is never reused for another location.
    #[sea_orm(primary_key, auto_increment = false)]
    pub code: String,
    /// Display name.
    pub name: String,
    /// Country or region as text; may be empty.
    pub place: String,
    /// ISO 3166-1 alpha-2; `ZZ` when unknown.
    pub country_code: String,
    /// False once it is no longer in use.
    pub is_enabled: bool,
    /// The enrolment that makes a machine this location, until it is used.
    pub enrolment: Option<String>,
    /// The time until which the enrolment can be used.
    pub enrolment_expires_at: Option<i64>,
    /// The time at which a machine became this location.
    pub enrolled_at: Option<i64>,
    /// Public key with which that machine proves itself on the bus.
    pub user_key: Option<String>,
    /// Public key to which its definitions are sealed.
    pub sealing_key: Option<String>,
    /// Time of creation.
    pub created_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
