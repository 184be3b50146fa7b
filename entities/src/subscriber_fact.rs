//! A fact for the subscribers of status pages.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A fact for the subscribers of status pages.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "subscriber_fact")]
pub struct Model {
    /// Key; it rises in the order of the facts of an incident or a maintenance.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The id, the same in every message about the fact.
    pub public_id: String,
    /// The organisation that owns it.
    pub organisation_id: i64,
    /// Its kind.
    pub kind: String,
    /// The incident, if it is about one.
    pub incident_id: Option<i64>,
    /// The maintenance, if it is about one.
    pub maintenance_id: Option<i64>,
    /// The id of its entry of the timeline; null for a reminder.
    pub entry: Option<String>,
    /// The planned start that a reminder is about; null for all others.
    pub window_start: Option<i64>,
    /// The title of the incident or the maintenance at that time, by language, as JSON.
    pub title: String,
    /// Its text by language, as JSON.
    pub message: String,
    /// The time of the fact.
    pub at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
