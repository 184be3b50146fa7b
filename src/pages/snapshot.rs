//! Everything that a status page shows at one moment, in no language yet. Equal snapshots are rendered alike.

use std::collections::HashMap;

use crate::model::access::Organisation;
use crate::model::asset::AssetKind;
use crate::model::component::Component;
use crate::model::component::status::ComponentStatus;
use crate::model::incident::IncidentStatus;
use crate::model::maintenance::MaintenanceStatus;
use crate::model::service::ServiceKey;
use crate::model::statuspage::Statuspage;
use crate::store::announcements::StoredAnnouncement;

/// A page with everything that it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PageSnapshot {
    pub(super) page: Statuspage,
    pub(super) organisation: Organisation,
    /// All components in display order, those of a group after it.
    pub(super) components: Vec<PageComponent>,
    /// Open published incidents, the latest first.
    pub(super) incidents: Vec<StoredAnnouncement<IncidentStatus>>,
    /// Running and coming maintenances, the earliest first.
    pub(super) maintenances: Vec<StoredAnnouncement<MaintenanceStatus>>,
    /// Hashes of the uploaded files.
    pub(super) files: HashMap<AssetKind, String>,
    /// The public URL, without a slash at its end (specification 2.6).
    pub(super) url: String,
}

/// A page with its past announcements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PageHistory {
    pub(super) page: PageSnapshot,
    /// The latest published incidents, open or not, the latest first.
    pub(super) incidents: Vec<StoredAnnouncement<IncidentStatus>>,
    /// The latest maintenances in whatever state, the latest first.
    pub(super) maintenances: Vec<StoredAnnouncement<MaintenanceStatus>>,
}

/// A component with its current state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PageComponent {
    pub(super) component: Component,
    /// `None` if hidden from visitors.
    pub(super) status: Option<ComponentStatus>,
    /// The last status that was known of it, for readers that have no word for an unknown one.
    pub(super) last_known: ComponentStatus,
    /// Set while its service cannot be reached because of others: those of them that the page shows.
    pub(super) because_of: Option<Vec<ServiceKey>>,
}

impl PageSnapshot {
    /// The languages of the page, and the default one.
    pub(super) fn languages(&self) -> PageLanguages {
        PageLanguages {
            supported: self.page.effective_locales(&self.organisation),
            default: self.page.effective_default_locale(&self.organisation),
        }
    }

    /// The visible components.
    pub(super) fn visible(&self) -> impl Iterator<Item = &Component> {
        self.components.iter().filter(|one| one.status.is_some()).map(|one| &one.component)
    }
}

/// The languages that a page offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PageLanguages {
    pub(super) supported: Vec<String>,
    pub(super) default: String,
}
