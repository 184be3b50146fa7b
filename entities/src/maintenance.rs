//! A maintenance window.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A maintenance window of an organisation.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "maintenance")]
pub struct Model {
    /// Key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The id that clients see.
    pub public_id: String,
    /// The organisation that owns it.
    pub organisation_id: i64,
    /// JSON object: text by language.
    pub title: String,
    /// `planned` or `emergency`.
    pub kind: String,
    /// `scheduled`, `in_progress`, `completed` or `cancelled`.
    pub status: String,
    /// Planned start.
    pub scheduled_start: i64,
    /// Planned end; null = open end.
    pub scheduled_end: Option<i64>,
    /// The time at which it started.
    pub actual_start: Option<i64>,
    /// The time at which it ended.
    pub actual_end: Option<i64>,
    /// True if it starts by itself.
    pub auto_start: bool,
    /// True if it ends by itself.
    pub auto_complete: bool,
    /// True if subscribers are notified of its creation.
    pub notify_announcement: bool,
    /// True if they are notified a day before.
    pub notify_24h: bool,
    /// True if they are notified an hour before.
    pub notify_1h: bool,
    /// True if they are notified of the start.
    pub notify_start: bool,
    /// True if they are notified of the end.
    pub notify_complete: bool,
    /// Id of the token that made it; null = the engine.
    pub created_by_id: Option<String>,
    /// Its name at that time.
    pub created_by_name: Option<String>,
    /// Time of creation.
    pub created_at: i64,
    /// Time of the last write by a client.
    pub updated_at: i64,
    /// The series that it belongs to.
    pub series_id: Option<i64>,
    /// Its place in the series: the start that the rule gave it.
    pub occurrence: Option<i64>,
    /// True if members changed it, so that it no longer follows its series.
    pub is_adjusted: bool,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
