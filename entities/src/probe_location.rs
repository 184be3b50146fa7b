//! Remote probe locations. Locations of a server process itself are in its configuration.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A remote probe location.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "probe_location")]
pub struct Model {
    /// Code of the location in the API, which is never reused for another location.
    #[sea_orm(primary_key, auto_increment = false)]
    pub code: String,
    /// Display name.
    pub name: String,
    /// Country or region, as free text; may be empty.
    pub place: String,
    /// Country code of ISO 3166-1 alpha-2; `ZZ` if unknown.
    pub country_code: String,
    /// False if the location is no longer in use.
    pub is_enabled: bool,
    /// Id of the last enrolment for the location; null if there is none.
    pub enrolment: Option<String>,
    /// Time until which the enrolment can be used; null once it is used.
    pub enrolment_expires_at: Option<i64>,
    /// Time at which a machine took the location over; null before.
    pub enrolled_at: Option<i64>,
    /// Public key that identifies this machine on the bus.
    pub user_key: Option<String>,
    /// Public key to which definitions for this machine are sealed.
    pub sealing_key: Option<String>,
    /// Time of creation, in Unix milliseconds.
    pub created_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
