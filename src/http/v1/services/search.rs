//! Lists of services by status or text (contract 4.3.3), by which the database cannot filter, and other lists while the services
//! are in memory.
//!
//! Where no other process writes to the database, all services are in memory (`fleet_view`) from the first such list on, which
//! waits until they have been read. Otherwise, and while those of many other organisations are in memory, all services of the
//! list are read, a chunk at a time. In both cases only the rows of the page are read whole.

use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::fleet_view::list_by_age::{AgeListQuery, KeyPage, StatusesUnknown};
use crate::http::kit::error::ApiError;
use crate::http::kit::page::PageRequest;
use crate::http::v1::services::filter::{ServiceFilter, WantedTag, find_tag};
use crate::http::v1::services::stored::{ServicePage, StoredService, gather};
use crate::http::v1::state::AppState;
use crate::model::service::{ServiceKey, ServiceStatus};
use crate::model::service_outline::ServiceOutline;
use crate::model::tag::TagName;
use crate::model::visibility::Visibility;
use crate::store::maintenances::effect::covered;
use crate::store::services::outlines;
use crate::store::{MainError, StoreConnection, StoreError, services};

/// Number of services read at a time.
const CHUNK: usize = 1_000;
/// Time limit for statuses that are not known at first. Owners that did not answer are asked again every two seconds.
const PATIENCE: Duration = Duration::from_secs(3);
/// The wait before the list is read again because of an unknown status.
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// Returns a page of the visible services that pass the filter.
///
/// # Errors
///
/// 503 when a status is wanted, and the owners of some services do not answer.
pub(super) async fn search(
    filter: &ServiceFilter,
    state: &AppState,
    visibility: Visibility,
    request: PageRequest,
) -> Result<ServicePage, ApiError> {
    let organisation = visibility.organisation();
    if state.databases.main.changes().is_some() && state.fleets.has_room(organisation) {
        let KeyPage { keys, total } = page_in_memory(filter, state, visibility, request).await?;
        let snapshot = state.databases.main.snapshot().await?;
        let rows = rows(&snapshot, visibility, &keys).await?;
        snapshot.end_reading().await.map_err(MainError::from)?;
        return Ok(ServicePage { rows, total: total as u64 });
    }
    let snapshot = state.databases.main.snapshot().await?;
    let keys = read_matching(filter, &snapshot, state, visibility).await?;
    let page = keys.iter().skip(index_of(request.offset())).take(index_of(request.per_page));
    let rows = rows(&snapshot, visibility, &page.copied().collect::<Vec<_>>()).await?;
    snapshot.end_reading().await.map_err(MainError::from)?;
    Ok(ServicePage { rows, total: keys.len() as u64 })
}

async fn page_in_memory(
    filter: &ServiceFilter,
    state: &AppState,
    visibility: Visibility,
    request: PageRequest,
) -> Result<KeyPage, ApiError> {
    let tag = match filter.stored.label.as_deref().map(TagName::from_str) {
        Some(Err(_)) => return Ok(KeyPage::default()),
        Some(Ok(tag)) => Some(tag),
        None => None,
    };
    let query = AgeListQuery {
        tag,
        check_types: filter.stored.check_types.clone(),
        statuses: filter.statuses.clone(),
        text: filter.text.clone(),
    };
    let visible = state.fleets.visible_tags(visibility).await?;
    let (offset, limit) = (index_of(request.offset()), index_of(request.per_page));
    let end = Instant::now() + PATIENCE;
    loop {
        let fleet = state.fleets.current(visibility.organisation(), state.now()).await;
        let fleet = fleet.map_err(|error| match error {
            StoreError::Main(error) => error.into(),
            StoreError::History(_) | StoreError::Panicked(_) => ApiError::Unavailable,
        })?;
        match fleet.list_by_age(&query, &visible, offset, limit) {
            Ok(page) => return Ok(page),
            Err(StatusesUnknown) if Instant::now() < end => sleep(AGAIN_AFTER).await,
            Err(StatusesUnknown) => return Err(ApiError::Unavailable),
        }
    }
}

/// Reads these services whole; those that were deleted, or are no longer visible, are left out.
async fn rows(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    keys: &[ServiceKey],
) -> Result<Vec<Arc<StoredService>>, ApiError> {
    let mut rows = gather(connection, services::visible_by_keys(connection, visibility, keys).await?).await?;
    rows.sort_by_key(|row| keys.iter().position(|key| *key == row.service.key));
    Ok(rows.into_iter().map(Arc::new).collect())
}

/// Reads all services of the list, and returns those that pass the filter, oldest first.
async fn read_matching(
    filter: &ServiceFilter,
    connection: &dyn StoreConnection,
    state: &AppState,
    visibility: Visibility,
) -> Result<Vec<ServiceKey>, ApiError> {
    let WantedTag::Row(tag) = find_tag(connection, visibility, filter.stored.label.as_deref()).await? else {
        return Ok(Vec::new());
    };
    let (mut found, mut last): (_, Option<ServiceOutline>) = (Vec::new(), None);
    loop {
        let types = &filter.stored.check_types;
        let mut chunk =
            outlines::listed_after(connection, visibility, tag, types, last.as_ref(), CHUNK as u64).await?;
        let is_last = chunk.len() < CHUNK;
        last = chunk.last().cloned();
        chunk.retain(|service| has_text(filter, service));
        found.extend(with_status(filter, connection, state, &chunk).await?);
        if is_last {
            return Ok(found);
        }
    }
}

fn has_text(filter: &ServiceFilter, service: &ServiceOutline) -> bool {
    let Some(text) = &filter.text else { return true };
    let is_in = |whole: &str| whole.to_lowercase().contains(text.as_str());
    is_in(&service.name) || service.target.as_deref().is_some_and(is_in)
}

async fn with_status(
    filter: &ServiceFilter,
    connection: &dyn StoreConnection,
    state: &AppState,
    chunk: &[ServiceOutline],
) -> Result<Vec<ServiceKey>, ApiError> {
    let keys: Vec<ServiceKey> = chunk.iter().map(|service| service.key).collect();
    if filter.statuses.is_empty() || keys.is_empty() {
        return Ok(keys);
    }
    let covered = covered(connection, &keys).await?;
    let addresses: Vec<_> = chunk.iter().map(ServiceOutline::address).collect();
    let snapshots = state.live(&addresses).await?;
    let status = |service: &ServiceOutline, verdict| {
        ServiceStatus::effective(service.status_facts(), verdict, covered.contains(&service.key))
    };
    let wanted = chunk.iter().zip(snapshots);
    let wanted = wanted.filter(|(service, live)| filter.statuses.contains(&status(service, live.verdict)));
    Ok(wanted.map(|(service, _)| service.key).collect())
}

fn index_of(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
