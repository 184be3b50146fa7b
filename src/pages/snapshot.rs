//! The data that a status page shows at one moment, independent of the language. Equal snapshots are rendered alike.

use std::collections::HashMap;
use std::sync::Arc;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::access::Organisation;
use crate::model::asset::AssetKind;
use crate::model::component::Component;
use crate::model::component::status::ComponentStatus;
use crate::model::incident::IncidentStatus;
use crate::model::maintenance::MaintenanceStatus;
use crate::model::service::ServiceKey;
use crate::model::statuspage::Statuspage;
use crate::pages::calendar_month::CalendarMonth;
use crate::pages::page_host::PageHost;
use crate::stats::service_days::ServiceDays;
use crate::store::announcements::StoredAnnouncement;

/// A page with all data that it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PageSnapshot {
    pub(super) page: Statuspage,
    pub(super) organisation: Organisation,
    /// All components in display order; the members of a group follow the group.
    pub(super) components: Vec<PageComponent>,
    /// Open published incidents, latest first.
    pub(super) incidents: Vec<StoredAnnouncement<IncidentStatus>>,
    /// Maintenances in progress and planned ones, earliest first.
    pub(super) maintenances: Vec<StoredAnnouncement<MaintenanceStatus>>,
    /// Hashes of the uploaded files, by kind.
    pub(super) files: HashMap<AssetKind, String>,
    /// True if visitors can subscribe: the page is open, and offers a channel through which this server can send.
    pub(super) takes_subscribers: bool,
    /// The public URL, without a slash at its end (specification 2.6).
    pub(super) url: String,
}

/// A page with its past announcements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PageHistory {
    pub(super) page: PageSnapshot,
    /// The latest published incidents, open or resolved, latest first.
    pub(super) incidents: Vec<StoredAnnouncement<IncidentStatus>>,
    /// The latest maintenances in any state, latest first.
    pub(super) maintenances: Vec<StoredAnnouncement<MaintenanceStatus>>,
    /// The first month that the page shows.
    pub(super) first_month: CalendarMonth,
}

/// Selects a part of the past of a page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct HistoryKey {
    pub(super) host: PageHost,
    pub(super) scope: HistoryScope,
}

/// The incidents and maintenances in a part of the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum HistoryScope {
    /// The latest ones.
    Latest,
    /// Those that started in a month; maintenances by their planned start.
    Month(CalendarMonth),
    /// One incident.
    Incident(Id),
    /// One maintenance.
    Maintenance(Id),
}

impl HistoryScope {
    /// Returns true for one incident or maintenance.
    pub(super) const fn is_single(self) -> bool {
        matches!(self, Self::Incident(_) | Self::Maintenance(_))
    }
}

/// A component with its current status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PageComponent {
    pub(super) component: Component,
    /// The present status of the component; `None` if it is hidden from visitors.
    pub(super) status: Option<ComponentStatus>,
    /// The last known status of the component, for clients that have no word for an unknown status.
    pub(super) last_known: ComponentStatus,
    /// The time since which the component has this status, as far as this process knows.
    pub(super) changed_at: Timestamp,
    /// Set while the service of the component is unreachable: the causes that the page shows.
    pub(super) because_of: Option<Vec<ServiceKey>>,
    /// The past days of the service; `None` if the component shows none, or if they are not known.
    pub(super) days: Option<Arc<ServiceDays>>,
}

impl PageComponent {
    /// Returns the time since which a component has this status: that of the earlier snapshot, or the present time if the
    /// status has changed since. Without an earlier snapshot it is the last edge in the past days, or the creation.
    pub(super) fn changed_at(
        earlier: Option<&Self>,
        component: &Component,
        status: Option<ComponentStatus>,
        days: Option<&ServiceDays>,
        now: Timestamp,
    ) -> Timestamp {
        match earlier {
            Some(earlier) if earlier.status == status => earlier.changed_at,
            Some(_) => now,
            None => {
                let last = days.and_then(|days| days.periods.first());
                last.map_or(component.created_at, |last| last.to.unwrap_or(last.from))
            }
        }
    }
}

impl PageSnapshot {
    /// Returns the languages of the page, with its default language.
    pub(super) fn languages(&self) -> PageLanguages {
        PageLanguages {
            supported: self.page.effective_locales(&self.organisation),
            default: self.page.effective_default_locale(&self.organisation),
        }
    }

    /// Returns the visible components.
    pub(super) fn visible(&self) -> impl Iterator<Item = &Component> {
        self.components.iter().filter(|one| one.status.is_some()).map(|one| &one.component)
    }
}

/// The languages that a page offers, and its default language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PageLanguages {
    pub(super) supported: Vec<String>,
    pub(super) default: String,
}

impl PageLanguages {
    /// Returns the path by which search engines and other sites know a document of the page. It names the language if the
    /// page offers several.
    pub(super) fn canonical_path(&self, locale: &str, path: &str) -> String {
        if self.supported.len() > 1 { format!("/{locale}{path}") } else { path.to_owned() }
    }
}
