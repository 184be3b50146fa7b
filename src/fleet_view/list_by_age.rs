//! The list of `GET /v1/services` (contract 4.3.3): services from oldest to newest, in numbered pages.

use crate::clock::Timestamp;
use crate::fleet_view::columns::FleetColumns;
use crate::fleet_view::filter_sets::RowFilter;
use crate::fleet_view::query::{FilterCondition, FleetFilter, TextFilter, TextPlace};
use crate::fleet_view::row_set::RowSet;
use crate::fleet_view::view::{FleetContents, FleetView};
use crate::fleet_view::visible_tags::VisibleTags;
use crate::model::check::CheckType;
use crate::model::service::{ServiceKey, ServiceStatus};
use crate::model::tag::TagName;

/// Fewer rows than this part of all rows are sorted for a page, rather than looked for among all rows in their order.
const SORTED_PART: usize = 128;

/// The services that a list contains: those that pass all filters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgeListQuery {
    /// Only services with this tag.
    pub tag: Option<TagName>,
    /// Only services of one of these types; empty = all.
    pub check_types: Vec<CheckType>,
    /// Only services whose effective status is one of these; empty = all. In contrast to a typed query, `up` does not include
    /// `operational`.
    pub statuses: Vec<ServiceStatus>,
    /// Only services whose name or target contains this text, without case.
    pub text: Option<String>,
}

/// A numbered page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyPage {
    /// The services of the page, oldest first.
    pub keys: Vec<ServiceKey>,
    /// Number of services on all pages.
    pub total: usize,
}

/// The statuses of some services are not known, because their owners do not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the statuses of some services are not known at the moment")]
pub struct StatusesUnknown;

impl FleetView {
    /// Returns at most `limit` of the visible services that the query finds, after the first `offset` of them.
    ///
    /// # Errors
    /// When the query asks for a status, and the status of a service that passes the other filters is not known.
    pub fn list_by_age(
        &self,
        query: &AgeListQuery,
        visible: &VisibleTags,
        offset: usize,
        limit: usize,
    ) -> Result<KeyPage, StatusesUnknown> {
        let contents = self.read();
        let mut rows = contents.matching(&filters(query), visible, Timestamp::from_ms(0));
        if !query.statuses.is_empty() {
            retain_statuses(&contents, &mut rows, &query.statuses)?;
        }
        let (columns, total) = (&contents.columns, rows.count());
        let keys = page(columns, &rows, total, offset, limit);
        Ok(KeyPage { keys, total })
    }
}

/// Returns at most `limit` of these `total` rows, after the first `offset` by age.
fn page(columns: &FleetColumns, rows: &RowSet, total: usize, offset: usize, limit: usize) -> Vec<ServiceKey> {
    let by_age = columns.by_age();
    if total == by_age.len() {
        return by_age.iter().skip(offset).take(limit).map(|row| columns.key(*row)).collect();
    }
    if total < by_age.len() / SORTED_PART {
        let mut sorted = Vec::with_capacity(total);
        rows.for_each(|row| sorted.push(row));
        columns.sort_by_age(&mut sorted);
        return sorted.iter().skip(offset).take(limit).map(|row| columns.key(*row)).collect();
    }
    let found = by_age.iter().filter(|row| rows.contains(**row));
    found.skip(offset).take(limit).map(|row| columns.key(*row)).collect()
}

/// The filters that a typed query has as well.
fn filters(query: &AgeListQuery) -> Vec<FleetFilter> {
    let tag = query.tag.clone().map(|tag| FilterCondition::Tag(vec![tag]));
    let types = &query.check_types;
    let types = (!types.is_empty()).then(|| FilterCondition::CheckType(types.clone()));
    let anywhere = |text| FilterCondition::Text(TextFilter { place: TextPlace::Anywhere, text });
    let conditions = [tag, types, query.text.clone().map(anywhere)];
    let filter = |condition| FleetFilter { is_negated: false, condition };
    conditions.into_iter().flatten().map(filter).collect()
}

fn retain_statuses(
    contents: &FleetContents,
    rows: &mut RowSet,
    statuses: &[ServiceStatus],
) -> Result<(), StatusesUnknown> {
    let columns = &contents.columns;
    if rows.intersects(&columns.rows_with(RowFilter::Unanswered)) {
        return Err(StatusesUnknown);
    }
    rows.retain_all(&columns.rows_with_any(statuses.iter().copied().map(RowFilter::Status)));
    Ok(())
}
