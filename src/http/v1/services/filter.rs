//! Filters of a list of services (contract 4.3.3).
//!
//! The database filters by tag and check type, and pages of such lists are cached. Statuses are known only to the engine, and
//! texts are compared without case and in the same way for every database: `search` evaluates these filters.

use std::str::FromStr as _;

use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::query::QueryString;
use crate::http::kit::rule::FieldRule;
use crate::model::check::CheckType;
use crate::model::service::ServiceStatus;
use crate::model::tag::TagName;
use crate::model::visibility::Visibility;
use crate::store::{MainError, StoreConnection, tags};

/// Maximum length of `q`, in characters.
pub(super) const TEXT_MAX: usize = 200;

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
    pub(super) statuses: Vec<ServiceStatus>,
    /// Text that the name or target must contain, in lower case; `None` = any.
    pub(super) text: Option<String>,
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
