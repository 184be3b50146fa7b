//! Filters of a list of services (contract 4.3.3).
//!
//! The database filters by tag and check type, and pages of such lists are cached. Statuses are known only to the engine,
//! and texts are compared here, without case and in the same way for every database. For these filters all services of the
//! list are searched, a chunk at a time, and only the rows of the page are read whole.

use std::str::FromStr as _;
use std::sync::Arc;

use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::page::PageRequest;
use crate::http::kit::query::QueryString;
use crate::http::kit::rule::FieldRule;
use crate::http::v1::services::stored::{ServicePage, gather};
use crate::http::v1::state::AppState;
use crate::model::check::CheckType;
use crate::model::service::{ServiceKey, ServiceStatus};
use crate::model::service_outline::ServiceOutline;
use crate::model::tag::TagName;
use crate::model::visibility::Visibility;
use crate::store::maintenances::effect::covered;
use crate::store::services::outlines;
use crate::store::{MainError, PageWindow, StoreConnection, services, tags};

/// Maximum length of `q`, in characters.
pub(super) const TEXT_MAX: usize = 200;
/// Number of services searched at a time.
const CHUNK: u64 = 1_000;

/// The part of a filter that the database evaluates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct StoredFilter {
    pub(super) label: Option<String>,
    /// Check types; empty = all.
    pub(super) check_types: Vec<CheckType>,
}

/// A filter of a list of services.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ServiceFilter {
    pub(super) stored: StoredFilter,
    /// Statuses as clients see them; empty = all.
    statuses: Vec<ServiceStatus>,
    /// Text that the name or target must contain, in lower case; `None` = any.
    text: Option<String>,
}

impl ServiceFilter {
    /// Reads the query string.
    ///
    /// # Errors
    ///
    /// 422 with all invalid parameters.
    pub(super) fn read(query: &QueryString) -> Result<Self, ApiError> {
        let mut errors = FieldErrors::default();
        let label = query.single("tag", &mut errors).map(str::to_owned);
        let check_types = query.words("check_type", CheckType::WORDS, &mut errors);
        let statuses = query.words("status", ServiceStatus::WORDS, &mut errors);
        let text = query.narrowing_value("q", &mut errors).map(str::to_lowercase);
        if text.as_ref().is_some_and(|text| text.chars().count() > TEXT_MAX) {
            errors.add("q", FieldRule::MaxLength(TEXT_MAX));
        }
        let filter = Self { stored: StoredFilter { label, check_types }, statuses, text };
        errors.into_result(filter).map_err(ApiError::Fields)
    }

    /// Returns true if the database can evaluate the whole filter.
    pub(super) fn is_stored(&self) -> bool {
        self.statuses.is_empty() && self.text.is_none()
    }

    /// Returns a page of the list, found by searching all services.
    pub(super) async fn search(
        &self,
        state: &AppState,
        visibility: Visibility,
        request: PageRequest,
    ) -> Result<ServicePage, ApiError> {
        let snapshot = state.databases.main.snapshot().await?;
        let keys = self.matching(&snapshot, state, visibility).await?;
        let page = keys.iter().skip(usize::try_from(request.offset()).unwrap_or(usize::MAX));
        let page: Vec<ServiceKey> =
            page.take(usize::try_from(request.per_page).unwrap_or(usize::MAX)).copied().collect();
        let mut rows = gather(&snapshot, services::by_keys(&snapshot, &page).await?).await?;
        snapshot.end_reading().await.map_err(MainError::from)?;
        rows.sort_by_key(|row| page.iter().position(|key| *key == row.service.key));
        Ok(ServicePage { rows: rows.into_iter().map(Arc::new).collect(), total: keys.len() as u64 })
    }

    async fn matching(
        &self,
        connection: &dyn StoreConnection,
        state: &AppState,
        visibility: Visibility,
    ) -> Result<Vec<ServiceKey>, ApiError> {
        let WantedTag::Row(tag) = find_tag(connection, visibility, self.stored.label.as_deref()).await?
        else {
            return Ok(Vec::new());
        };
        let (mut found, mut offset) = (Vec::new(), 0);
        loop {
            let window = PageWindow { offset, limit: CHUNK };
            let types = &self.stored.check_types;
            let mut chunk = outlines::listed(connection, visibility, tag, types, window).await?;
            let is_last = (chunk.len() as u64) < CHUNK;
            chunk.retain(|service| self.has_text(service));
            found.extend(self.with_status(connection, state, &chunk).await?);
            if is_last {
                return Ok(found);
            }
            offset += CHUNK;
        }
    }

    fn has_text(&self, service: &ServiceOutline) -> bool {
        let Some(text) = &self.text else { return true };
        let is_in = |whole: &str| whole.to_lowercase().contains(text.as_str());
        is_in(&service.name) || service.target.as_deref().is_some_and(is_in)
    }

    async fn with_status(
        &self,
        connection: &dyn StoreConnection,
        state: &AppState,
        chunk: &[ServiceOutline],
    ) -> Result<Vec<ServiceKey>, ApiError> {
        let keys: Vec<ServiceKey> = chunk.iter().map(|service| service.key).collect();
        if self.statuses.is_empty() || keys.is_empty() {
            return Ok(keys);
        }
        let covered = covered(connection, &keys).await?;
        let addresses: Vec<_> = chunk.iter().map(ServiceOutline::address).collect();
        let snapshots = state.live(&addresses).await?;
        let status = |service: &ServiceOutline, verdict| {
            ServiceStatus::effective(service.status_facts(), verdict, covered.contains(&service.key))
        };
        let wanted = chunk.iter().zip(snapshots);
        let wanted = wanted.filter(|(service, live)| self.statuses.contains(&status(service, live.verdict)));
        Ok(wanted.map(|(service, _)| service.key).collect())
    }
}

/// The tag that a filter requests.
pub(super) enum WantedTag {
    /// Database key of the tag; `None` without a tag filter.
    Row(Option<i64>),
    /// The tag does not exist, so it selects nothing.
    Missing,
}

/// Looks up the tag that a label names.
pub(super) async fn find_tag(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    label: Option<&str>,
) -> Result<WantedTag, MainError> {
    let Some(label) = label else { return Ok(WantedTag::Row(None)) };
    let Ok(name) = TagName::from_str(label) else { return Ok(WantedTag::Missing) };
    let tag = tags::find_named(connection, visibility, &name).await?;
    Ok(tag.map_or(WantedTag::Missing, |tag| WantedTag::Row(Some(tag.row))))
}
