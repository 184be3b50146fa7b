//! Components and groups of status pages.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A component or a group of a status page.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "component")]
pub struct Model {
    /// Database key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Public id, used by the API.
    pub public_id: String,
    /// Database key of the status page.
    pub statuspage_id: i64,
    /// Database key of the group that contains the component; null at the top level.
    pub parent_id: Option<i64>,
    /// Database key of the service that the component shows; null for none.
    pub service_id: Option<i64>,
    /// True if the component is or was linked with a service; if `service_id` is null, the service was deleted.
    pub is_linked: bool,
    /// Database key of the tag that a group is synchronised with; null for none.
    pub sync_tag_id: Option<i64>,
    /// Name as a JSON object from language to text.
    pub name: String,
    /// True if a client has renamed a component that the synchronisation manages.
    pub has_own_name: bool,
    /// Description as a JSON object from language to text; null for none.
    pub description: Option<String>,
    /// True for a group, which contains other components.
    pub is_group: bool,
    /// True if visitors see the component.
    pub is_visible: bool,
    /// True if visitors see the component's uptime by day.
    pub show_uptime_bars: bool,
    /// True if a group hides its operational children.
    pub hide_operational_children: bool,
    /// True if a group is shown expanded at first.
    pub default_open: bool,
    /// True if children that the synchronisation adds to a group are visible.
    pub sync_new_visible: bool,
    /// True if the synchronisation manages the component.
    pub is_sync_managed: bool,
    /// Position among the components of the same group, 0 to 10000.
    pub display_order: i32,
    /// Time of creation, in Unix milliseconds.
    pub created_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
