//! Maintenances of organisations.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A maintenance of an organisation.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "maintenance")]
pub struct Model {
    /// Database key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Public id, used by the API.
    pub public_id: String,
    /// Database key of the organisation that owns the row.
    pub organisation_id: i64,
    /// Title as a JSON object from language to text.
    pub title: String,
    /// Kind: `planned` or `emergency`.
    pub kind: String,
    /// Status: `scheduled`, `in_progress`, `completed` or `cancelled`.
    pub status: String,
    /// Planned start, in Unix milliseconds.
    pub scheduled_start: i64,
    /// Planned end, in Unix milliseconds; null for an open end.
    pub scheduled_end: Option<i64>,
    /// Time at which the maintenance started; null before.
    pub actual_start: Option<i64>,
    /// Time at which the maintenance ended; null before.
    pub actual_end: Option<i64>,
    /// True if the maintenance starts automatically at its planned time.
    pub auto_start: bool,
    /// True if the maintenance ends automatically at its planned time.
    pub auto_complete: bool,
    /// True if subscribers are notified of the creation.
    pub notify_announcement: bool,
    /// True if subscribers are notified a day before the start.
    pub notify_24h: bool,
    /// True if subscribers are notified an hour before the start.
    pub notify_1h: bool,
    /// True if subscribers are notified of the start.
    pub notify_start: bool,
    /// True if subscribers are notified of the end.
    pub notify_complete: bool,
    /// Id of the token that created the maintenance; null if the engine did.
    pub created_by_id: Option<String>,
    /// Name of this token at that time.
    pub created_by_name: Option<String>,
    /// Time of creation, in Unix milliseconds.
    pub created_at: i64,
    /// Time of the last write by a client, in Unix milliseconds.
    pub updated_at: i64,
    /// Database key of the series that created the maintenance; null for none.
    pub series_id: Option<i64>,
    /// Position in the series: the start that the rule gives for this window; null without series.
    pub occurrence: Option<i64>,
    /// True if members have changed the maintenance, so that it no longer follows its series.
    pub is_adjusted: bool,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
