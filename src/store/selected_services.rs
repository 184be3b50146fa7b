//! The services that a notification channel or an escalation policy is about, as JSON of a column.

use serde::{Deserialize, Serialize};

use crate::model::notification::routing::{ResourceReference, RoutedServices};

/// Tags and services as they are stored.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredServices {
    tags: Vec<StoredLink>,
    services: Vec<StoredLink>,
}

/// A row that another one names.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredLink {
    key: i64,
    id: String,
}

impl StoredServices {
    pub(super) fn of(chosen: &RoutedServices) -> Self {
        Self { tags: StoredLink::all(&chosen.tags), services: StoredLink::all(&chosen.services) }
    }

    /// As it was stored; `None` when it cannot be read.
    pub(super) fn read(self) -> Option<RoutedServices> {
        Some(RoutedServices {
            tags: StoredLink::read(self.tags)?,
            services: StoredLink::read(self.services)?,
        })
    }
}

impl StoredLink {
    /// Links as they are stored.
    pub(super) fn all(links: &[ResourceReference]) -> Vec<Self> {
        links.iter().map(|link| Self { key: link.key, id: link.id.to_string() }).collect()
    }

    /// Links as they were stored; `None` when one cannot be read.
    pub(super) fn read(links: Vec<Self>) -> Option<Vec<ResourceReference>> {
        links
            .into_iter()
            .map(|link| Some(ResourceReference { key: link.key, id: link.id.parse().ok()? }))
            .collect()
    }
}
