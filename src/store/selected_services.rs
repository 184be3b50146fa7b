//! The services that a notification channel or an escalation policy selects, stored as JSON in one column.

use serde::{Deserialize, Serialize};

use crate::model::notification::routing::{ResourceReference, RoutedServices};

/// Stored form of the selected tags and services.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredServices {
    tags: Vec<StoredLink>,
    services: Vec<StoredLink>,
}

/// Stored form of a reference to another row: its database key and its id.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredLink {
    key: i64,
    id: String,
}

impl StoredServices {
    pub(super) fn of(chosen: &RoutedServices) -> Self {
        Self { tags: StoredLink::all(&chosen.tags), services: StoredLink::all(&chosen.services) }
    }

    /// Converts the stored form; `None` if it cannot be read.
    pub(super) fn read(self) -> Option<RoutedServices> {
        Some(RoutedServices {
            tags: StoredLink::read(self.tags)?,
            services: StoredLink::read(self.services)?,
        })
    }
}

impl StoredLink {
    /// The stored form of references.
    pub(super) fn all(links: &[ResourceReference]) -> Vec<Self> {
        links.iter().map(|link| Self { key: link.key, id: link.id.to_string() }).collect()
    }

    /// Converts stored references; `None` if one of them cannot be read.
    pub(super) fn read(links: Vec<Self>) -> Option<Vec<ResourceReference>> {
        links
            .into_iter()
            .map(|link| Some(ResourceReference { key: link.key, id: link.id.parse().ok()? }))
            .collect()
    }
}
