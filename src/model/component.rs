//! Components and groups of a status page (contract 4.14): their stored fields.
//!
//! Their tree is in `tree`, their status for visitors in `status`, groups that follow tags in `sync`.

pub mod status;
pub mod sync;
pub mod tree;

use std::ops::RangeInclusive;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::service::ServiceKey;
use crate::model::translated_text::TranslatedText;

/// Database key of a component.
pub type ComponentKey = i64;

/// Permitted number of characters of a name, per language.
pub const NAME_LENGTH: RangeInclusive<usize> = 1..=255;
/// Permitted number of characters of a description, per language.
pub const DESCRIPTION_LENGTH: RangeInclusive<usize> = 0..=500;
/// Largest `display_order`.
pub const ORDER_MAX: i32 = 10_000;
/// The maximum number of groups nested in one another.
pub const DEPTH_MAX: usize = 5;

/// A component or a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// Key of the row.
    pub key: ComponentKey,
    /// The id that clients see.
    pub id: Id,
    /// Database key of the status page.
    pub page: i64,
    /// Database key of the group that contains it; `None` at the top of the page.
    pub parent: Option<ComponentKey>,
    /// Database key of the service that it shows; `None` = no service.
    pub service: Option<ServiceKey>,
    /// True after the service that it showed was deleted, until a client sets `service` to another one or to none.
    pub has_lost_service: bool,
    /// Only on a group: database key of the tag whose services become its children.
    pub sync_tag: Option<i64>,
    /// Display name.
    pub name: TranslatedText,
    /// True if a client has set the name; false if the synchronisation took it from the service.
    pub has_own_name: bool,
    /// Text shown below the name.
    pub description: Option<TranslatedText>,
    /// True for a group, which contains other components.
    pub is_group: bool,
    /// True if visitors see it, unless a group around it is hidden.
    pub is_visible: bool,
    /// True if visitors see the uptime bars of the component, one for each day.
    pub show_uptime_bars: bool,
    /// Only on a group: true if the page hides operational children.
    pub hide_operational_children: bool,
    /// Only on a group: true if the page shows it expanded.
    pub default_open: bool,
    /// Only on a group: `is_visible` of the children that the synchronisation creates.
    pub sync_new_visible: bool,
    /// True while the synchronisation manages the component, which it has created or adopted.
    pub is_sync_managed: bool,
    /// Position among its siblings, 0 to 10,000.
    pub display_order: i32,
    /// Time of creation.
    pub created_at: Timestamp,
}

impl Component {
    /// A new component at the top of its page with every default of contract 4.14.1.
    #[must_use]
    pub fn new(page: i64, name: TranslatedText, now: Timestamp) -> Self {
        Self {
            key: 0,
            id: Id::random(),
            page,
            parent: None,
            service: None,
            has_lost_service: false,
            sync_tag: None,
            name,
            has_own_name: false,
            description: None,
            is_group: false,
            is_visible: true,
            show_uptime_bars: true,
            hide_operational_children: false,
            default_open: true,
            sync_new_visible: true,
            is_sync_managed: false,
            display_order: 0,
            created_at: now,
        }
    }
}

/// Returns the position of a component after its siblings, the last of which is at `last`; `None` = no siblings.
#[must_use]
pub fn order_behind(last: Option<i32>) -> i32 {
    last.map_or(0, |last| last.saturating_add(1).min(ORDER_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_component_comes_after_its_siblings() {
        for (last, order) in [(None, 0), (Some(0), 1), (Some(41), 42), (Some(ORDER_MAX), ORDER_MAX)] {
            assert_eq!(order_behind(last), order);
        }
    }
}
