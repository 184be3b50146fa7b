//! A cache of services and of pages of services, each valid until related data is written.
//!
//! A cached page contains only which services it shows; the data of each is cached with the service. So a ping invalidates
//! one service, and a new service invalidates the pages of its organisation. Nothing is cached if other processes write to
//! the database, or if the caller is confined to an access scope.

use std::sync::Arc;

use crate::http::kit::error::ApiError;
use crate::http::kit::stamped_cache::StampedCache;
use crate::http::v1::services::filter::{StoredFilter, WantedTag, find_tag};
use crate::http::v1::services::stored::{ServicePage, StoredService, gather};
use crate::id::Id;
use crate::model::service::{Service, ServiceKey};
use crate::model::visibility::Visibility;
use crate::store::changes::{ChangeScope, CommitStamp, CommitTracker};
use crate::store::{Database, PageWindow, services};

const SERVICES: usize = 10_000;
/// Maximum bytes of cached services, by [`StoredService::bytes`].
const SERVICES_BYTES: usize = 64 * 1_024 * 1_024;
/// Maximum number of cached pages of services.
const PAGES: usize = 256;
/// Maximum bytes of cached pages, which list ids and keys.
const PAGES_BYTES: usize = 4 * 1_024 * 1_024;

/// Identifies a page of a list of services.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct PageKey {
    pub(super) visibility: Visibility,
    pub(super) filter: StoredFilter,
    /// Number of rows before the page.
    pub(super) offset: u64,
    /// Maximum number of rows of the page.
    pub(super) limit: u64,
}

/// The services of a page, without their data.
#[derive(Clone, Debug)]
struct PageOutline {
    services: Arc<[OutlineEntry]>,
    total: u64,
}

#[derive(Clone, Copy, Debug)]
struct OutlineEntry {
    id: Id,
    key: ServiceKey,
}

#[derive(Debug)]
pub(in crate::http::v1) struct ServiceCache {
    /// Services by organisation and id.
    services: StampedCache<(i64, Id), Arc<StoredService>>,
    pages: StampedCache<PageKey, PageOutline>,
}

impl Default for ServiceCache {
    fn default() -> Self {
        Self {
            services: StampedCache::new(SERVICES, SERVICES_BYTES),
            pages: StampedCache::new(PAGES, PAGES_BYTES),
        }
    }
}

impl ServiceCache {
    /// Returns the service with this id.
    ///
    /// # Errors
    ///
    /// 404 when no such service is visible to the caller.
    pub(super) async fn one(
        &self,
        main: &Database,
        visibility: Visibility,
        id: Id,
    ) -> Result<Arc<StoredService>, ApiError> {
        if let Some(stored) = self.cached_one(main, visibility, id) {
            return Ok(stored);
        }
        let stamp = stamp(main, visibility);
        let found = services::find(main.reader(), visibility, id).await?;
        let rows = self.gather(main, vec![found.ok_or(ApiError::NotFound)?], stamp).await?;
        rows.into_iter().next().ok_or(ApiError::NotFound)
    }

    /// Returns the services of a page; `None` if the page is not cached.
    pub(super) async fn cached_page(
        &self,
        main: &Database,
        key: &PageKey,
    ) -> Result<Option<ServicePage>, ApiError> {
        let is_current = |stamp: CommitStamp, _: &PageOutline| {
            main.changes().is_some_and(|changes| {
                changes.is_current(stamp, &[ChangeScope::Organisation(key.visibility.organisation())])
            })
        };
        match self.pages.get(key, is_current) {
            Some(outline) => self.fill(main, key.visibility, &outline).await,
            None => Ok(None),
        }
    }

    /// Fills an outline with services; `None` when one of them has been deleted meanwhile.
    async fn fill(
        &self,
        main: &Database,
        visibility: Visibility,
        outline: &PageOutline,
    ) -> Result<Option<ServicePage>, ApiError> {
        let listed = outline.services.iter();
        let mut rows: Vec<Option<Arc<StoredService>>> =
            listed.map(|listed| self.cached_one(main, visibility, listed.id)).collect();
        let empty = rows.iter().zip(&*outline.services).filter(|(row, _)| row.is_none());
        let missing: Vec<ServiceKey> = empty.map(|(_, listed)| listed.key).collect();
        if !missing.is_empty() {
            let stamp = stamp(main, visibility);
            let read = services::by_keys(main.reader(), &missing).await?;
            for stored in self.gather(main, read, stamp).await? {
                let index = outline.services.iter().position(|listed| listed.key == stored.service.key);
                if let Some(row) = index.and_then(|index| rows.get_mut(index)) {
                    *row = Some(stored);
                }
            }
        }
        let rows: Option<Vec<_>> = rows.into_iter().collect();
        Ok(rows.map(|rows| ServicePage { rows, total: outline.total }))
    }

    /// Reads the services of a page from the database, and caches the page.
    pub(super) async fn read_page(&self, main: &Database, key: PageKey) -> Result<ServicePage, ApiError> {
        let stamp = stamp(main, key.visibility);
        let (services, total) = list(main, &key).await?;
        let rows = self.gather(main, services, stamp).await?;
        let page = ServicePage { rows, total };
        self.keep_page(key, stamp, &page);
        Ok(page)
    }

    /// Caches a page that was read after the stamp was taken.
    pub(super) fn keep_page(&self, key: PageKey, stamp: Option<CommitStamp>, page: &ServicePage) {
        let Some(stamp) = stamp else { return };
        let entry = |row: &Arc<StoredService>| OutlineEntry { id: row.service.id, key: row.service.key };
        let outline = PageOutline { services: page.rows.iter().map(entry).collect(), total: page.total };
        let bytes = size_of_val(&*outline.services) + size_of::<PageOutline>();
        self.pages.keep(key, stamp, outline, bytes);
    }

    /// Reads the data that is stored in addition to these services, which were read after the stamp was taken, and caches
    /// it.
    async fn gather(
        &self,
        main: &Database,
        services: Vec<Service>,
        stamp: Option<CommitStamp>,
    ) -> Result<Vec<Arc<StoredService>>, ApiError> {
        let gathered = gather(main.reader(), services).await?;
        let gathered: Vec<Arc<StoredService>> = gathered.into_iter().map(Arc::new).collect();
        self.keep_services(stamp, &gathered);
        Ok(gathered)
    }

    /// Caches services that were read after the stamp was taken.
    pub(super) fn keep_services(&self, stamp: Option<CommitStamp>, services: &[Arc<StoredService>]) {
        let Some(stamp) = stamp else { return };
        for stored in services {
            let key = (stored.service.organisation, stored.service.id);
            self.services.keep(key, stamp, Arc::clone(stored), stored.bytes());
        }
    }

    fn cached_one(&self, main: &Database, visibility: Visibility, id: Id) -> Option<Arc<StoredService>> {
        let changes = main.changes().filter(|_| !visibility.is_confined())?;
        let organisation = visibility.organisation();
        self.services.get(&(organisation, id), |stamp, stored| {
            let scopes = [ChangeScope::Organisation(organisation), ChangeScope::Service(stored.service.key)];
            changes.is_current(stamp, &scopes)
        })
    }
}

/// Returns the stamp for a read that may be cached; `None` if the read must not be cached.
pub(super) fn stamp(main: &Database, visibility: Visibility) -> Option<CommitStamp> {
    main.changes().filter(|_| !visibility.is_confined()).map(CommitTracker::stamp)
}

/// Reads the services of a page, and the number of services on all pages.
async fn list(main: &Database, key: &PageKey) -> Result<(Vec<Service>, u64), ApiError> {
    let reader = main.reader();
    let StoredFilter { label, check_types } = &key.filter;
    let WantedTag::Row(tag) = find_tag(reader, key.visibility, label.as_deref()).await? else {
        return Ok((Vec::new(), 0));
    };
    let window = PageWindow { offset: key.offset, limit: key.limit };
    Ok(services::list(reader, key.visibility, tag, check_types, window).await?)
}
