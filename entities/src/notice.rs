//! Notices: events that are not incidents.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A notice: an event that is not an incident, such as a certificate that expires soon.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "notice")]
pub struct Model {
    /// Database key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Public id, used by the API and in messages.
    pub public_id: String,
    /// Database key of the organisation that is notified.
    pub organisation_id: i64,
    /// Event that the notice reports.
    pub event: String,
    /// Subject within the event, such as the id of a service.
    pub source: String,
    /// Severity: `minor`, `major` or `critical`.
    pub severity: String,
    /// Title, one line.
    pub title: String,
    /// Text of one or two sentences.
    pub text: String,
    /// Database key of the service that the notice is about; null for none in particular.
    pub service_id: Option<i64>,
    /// Time at which the reported condition started.
    pub began_at: i64,
    /// Time at which the condition ended; null while it lasts.
    pub ended_at: Option<i64>,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
