//! A component or a group of a status page.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A component or a group of a status page.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "component")]
pub struct Model {
    /// Key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The id that clients see.
    pub public_id: String,
    /// Database key of the status page.
    pub statuspage_id: i64,
    /// The group it is in.
    pub parent_id: Option<i64>,
    /// Database key of the service it shows.
    pub service_id: Option<i64>,
    /// True if it shall show a service; without one then, that was deleted.
    pub is_linked: bool,
    /// On a group: the tag that fills it.
    pub sync_tag_id: Option<i64>,
    /// JSON object: text by language.
    pub name: String,
    /// True if a client has given a managed component its name.
    pub has_own_name: bool,
    /// JSON object: text by language.
    pub description: Option<String>,
    /// True if it holds others.
    pub is_group: bool,
    /// True if visitors see it.
    pub is_visible: bool,
    /// True if visitors see its days.
    pub show_uptime_bars: bool,
    /// True if healthy children are hidden.
    pub hide_operational_children: bool,
    /// True if a group is shown expanded.
    pub default_open: bool,
    /// True if children made by the synchronisation are visible.
    pub sync_new_visible: bool,
    /// True if the synchronisation made it.
    pub is_sync_managed: bool,
    /// Place among its siblings, 0..10000.
    pub display_order: i32,
    /// Time of creation.
    pub created_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
