//! Components and groups of a status page (contract 4.14): the stored fields of one.
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
    /// The group that it is in.
    pub parent: Option<ComponentKey>,
    /// The service that it shows.
    pub service: Option<ServiceKey>,
    /// True if the service that it showed was deleted, until it shows another one or shall show none.
    pub has_lost_service: bool,
    /// On a group: key of the tag that fills it.
    pub sync_tag: Option<i64>,
    /// Display name.
    pub name: TranslatedText,
    /// True if a client has named it; false for a child with a name from the synchronisation.
    pub has_own_name: bool,
    /// Text shown below the name.
    pub description: Option<TranslatedText>,
    /// True if it is a group: it contains other components.
    pub is_group: bool,
    /// True if visitors see it.
    pub is_visible: bool,
    /// True if visitors see its uptime bars, one for each day.
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

/// The position after siblings of which the last one is at `last`.
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
