//! The parts with which pages are served, and their caches.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::Clock;
use crate::config::Config;
use crate::model::domain_names::DomainNames;
use crate::model::secret::SecretSealer;
use crate::pages::access::page_access::PageAccess;
use crate::pages::days_cache::DaysCache;
use crate::pages::figures_cache::FiguresCache;
use crate::pages::heavy_tasks::HeavyTasks;
use crate::pages::host_cache::HostCache;
use crate::pages::live::LivePages;
use crate::pages::page_host::PageHost;
use crate::pages::sign_up_limiter::SignUpLimiter;
use crate::pages::snapshot::{HistoryKey, PageHistory, PageSnapshot};
use crate::pages::snapshot_cache::SnapshotCache;
use crate::pages::state_source::StateSource;
use crate::store::Databases;

/// Serves public status pages.
#[derive(Clone)]
pub struct PageServer {
    /// The databases; the main database has pages, components and announcements.
    pub databases: Databases,
    /// Knows the present states of services.
    pub states: StateSource,
    /// Source of the wall time.
    pub clock: Clock,
    /// The host names of this installation.
    pub names: Arc<DomainNames>,
    /// The host names of custom domains.
    pub hosts: HostCache,
    /// The settings, from which public URLs are built.
    pub config: Arc<Config>,
    /// Signs and checks the tokens in links to subscribers, and seals their addresses.
    pub sealer: SecretSealer,
    /// Snapshots of the pages that visitors view.
    pub cache: PageCaches,
    /// The pages that somebody has open.
    pub live: LivePages,
    /// Draws preview images.
    pub drawing: HeavyTasks,
    /// Decides who may read pages that are not public.
    pub access: PageAccess,
}

/// Snapshots of the pages that visitors view, with and without their past announcements, and the days of their services.
/// Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct PageCaches {
    pub(super) pages: SnapshotCache<PageHost, PageSnapshot>,
    pub(super) histories: SnapshotCache<HistoryKey, PageHistory>,
    pub(super) days: DaysCache,
    pub(super) figures: FiguresCache,
    pub(super) sign_ups: SignUpLimiter,
}

impl PageCaches {
    /// Creates caches for an export, which waits longer for the past than visitors do.
    #[must_use]
    pub fn for_export(patience: Duration) -> Self {
        Self {
            days: DaysCache::with_patience(patience),
            figures: FiguresCache::with_patience(patience),
            ..Self::default()
        }
    }
}
