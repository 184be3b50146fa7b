//! An event that is no incident.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// An event that is no incident.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "notice")]
pub struct Model {
    /// Key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The id that clients and receivers see.
    pub public_id: String,
    /// The organisation that is notified.
    pub organisation_id: i64,
    /// Event that the notice reports.
    pub event: String,
    /// The source within the event, such as the id of a service.
    pub source: String,
    /// `minor`, `major` or `critical`.
    pub severity: String,
    /// Title of one line.
    pub title: String,
    /// Body of one or two sentences.
    pub text: String,
    /// The service that it concerns; null: none in particular.
    pub service_id: Option<i64>,
    /// Start of the fault.
    pub began_at: i64,
    /// Time of its end; null: it lasts.
    pub ended_at: Option<i64>,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
