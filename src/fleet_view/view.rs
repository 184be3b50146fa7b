//! The services of an organisation in memory, ready to be listed.

use std::collections::HashSet;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use crate::clock::Timestamp;
use crate::fleet_view::columns::FleetColumns;
use crate::fleet_view::evaluation::EvaluationContext;
use crate::fleet_view::fleet_facts::FleetFacts;
use crate::fleet_view::fleet_row::FleetRow;
use crate::fleet_view::listing::{FleetPaging, PageCursor, cut};
use crate::fleet_view::owner_absence::OwnerAbsence;
use crate::fleet_view::query::{FleetFilter, FleetQuery};
use crate::fleet_view::revision_log::{FleetChanges, FleetRevision, RevisionLog};
use crate::fleet_view::row_set::RowSet;
use crate::fleet_view::summary::{self, FleetFacets, FleetGroup, StatusTotals};
use crate::fleet_view::visible_tags::VisibleTags;
use crate::id::Id;
use crate::model::service::ServiceKey;
use crate::model::tag::Tag;

/// The services of one organisation. Readers share it; each answer shows one moment.
#[derive(Debug)]
pub struct FleetView {
    contents: RwLock<FleetContents>,
}

/// The contents of a view.
#[derive(Debug)]
pub(super) struct FleetContents {
    pub(super) columns: FleetColumns,
    pub(super) log: RevisionLog,
    pub(super) absence: OwnerAbsence,
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetPage {
    /// The rows, in the order of the query.
    pub rows: Vec<FleetRow>,
    /// Number of services on all pages.
    pub total: usize,
    /// Counts of the services on all pages.
    pub facets: FleetFacets,
    /// Cursor for the next page; `None` on the last one.
    pub next: Option<PageCursor>,
    /// The moment that the page shows.
    pub revision: FleetRevision,
}

impl FleetView {
    /// Creates a view with these contents.
    pub(super) const fn new(contents: FleetContents) -> Self {
        Self { contents: RwLock::new(contents) }
    }

    /// Creates a view of services that are all known, with the tags of their organisation and the codes of all locations. `at`
    /// is the present time. It stays as it is; a view that follows the databases comes from
    /// `FleetViews`.
    #[must_use]
    pub fn of_services(
        services: impl IntoIterator<Item = FleetFacts>,
        tags: &[Tag],
        locations: Vec<String>,
        at: Timestamp,
    ) -> Self {
        let mut columns = FleetColumns::new(locations);
        columns.set_tags(tags);
        services.into_iter().for_each(|facts| columns.append(&facts));
        columns.finish();
        Self::new(FleetContents { columns, log: RevisionLog::new(at.ms()), absence: OwnerAbsence::default() })
    }

    /// Returns a page of the visible services that the query finds.
    #[must_use]
    pub fn search(
        &self,
        query: &FleetQuery,
        visible: &VisibleTags,
        paging: &FleetPaging,
        now: Timestamp,
    ) -> FleetPage {
        let contents = self.read();
        let rows = contents.matching(&query.filters, visible, now);
        let page = cut(&contents.columns, &rows, query.sort, paging);
        FleetPage {
            rows: page.rows.into_iter().map(|row| contents.shown(row)).collect(),
            total: rows.count(),
            facets: summary::facets(&contents.columns, &rows),
            next: page.next,
            revision: contents.log.revision(),
        }
    }

    /// Counts the visible services by status.
    #[must_use]
    pub fn totals(&self, visible: &VisibleTags) -> StatusTotals {
        let contents = self.read();
        let rows = contents.context(visible, Timestamp::from_ms(0)).visible_rows();
        summary::totals(&contents.columns, &rows)
    }

    /// Groups the visible services that the query finds by the values of the tags with this key, the worst group first.
    #[must_use]
    pub fn groups(
        &self,
        query: &FleetQuery,
        visible: &VisibleTags,
        key: &str,
        now: Timestamp,
    ) -> Vec<FleetGroup> {
        let contents = self.read();
        summary::groups(&contents.columns, &contents.matching(&query.filters, visible, now), key)
    }

    /// Returns the rows of those of these services that exist and are visible, in the order of `services`.
    #[must_use]
    pub fn rows(&self, services: &[ServiceKey], visible: &VisibleTags) -> Vec<FleetRow> {
        let contents = self.read();
        let is_visible = contents.context(visible, Timestamp::from_ms(0)).visible_rows();
        let rows = services.iter().filter_map(|service| contents.columns.row_of(*service));
        rows.filter(|row| is_visible.contains(*row)).map(|row| contents.shown(row)).collect()
    }

    /// Returns the visible services that have one of these texts as their id, or exactly as their name, in the order of their
    /// names.
    #[must_use]
    pub fn called(&self, texts: &[&str], visible: &VisibleTags) -> Vec<FleetRow> {
        let contents = self.read();
        let columns = &contents.columns;
        let is_visible = contents.context(visible, Timestamp::from_ms(0)).visible_rows();
        let ids: HashSet<Id> = texts.iter().filter_map(|text| text.parse().ok()).collect();
        let names: HashSet<Vec<u8>> = texts.iter().map(|text| text.to_lowercase().into_bytes()).collect();
        let rows = columns.by_name().iter().copied().filter(|row| is_visible.contains(*row));
        let found = rows.filter(|row| ids.contains(&columns.id(*row)) || names.contains(columns.name(*row)));
        let shown = found.map(|row| contents.shown(row));
        shown.filter(|row| ids.contains(&row.id) || texts.contains(&row.name.as_str())).collect()
    }

    /// Returns the services whose rows have changed since a revision. They may include services that are not visible to a
    /// caller: [`Self::rows`] leaves these out.
    #[must_use]
    pub fn changes_since(&self, revision: FleetRevision) -> FleetChanges {
        self.read().log.since(revision)
    }

    /// The present revision.
    #[must_use]
    pub fn revision(&self) -> FleetRevision {
        self.read().log.revision()
    }

    /// The number of services.
    #[must_use]
    pub fn len(&self) -> usize {
        self.read().columns.len()
    }

    /// Returns true if there is no service.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes that the services occupy in memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.read().columns.bytes()
    }

    /// Reads the contents.
    pub(super) fn read(&self) -> RwLockReadGuard<'_, FleetContents> {
        self.contents.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the contents; nobody reads meanwhile.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut FleetContents) -> T) -> T {
        change(&mut self.contents.write().unwrap_or_else(PoisonError::into_inner))
    }
}

impl FleetContents {
    fn context<'a>(&'a self, visible: &'a VisibleTags, now: Timestamp) -> EvaluationContext<'a> {
        EvaluationContext { columns: &self.columns, visible, unwatched: self.absence.unwatched(), now }
    }

    pub(super) fn matching(&self, filters: &[FleetFilter], visible: &VisibleTags, now: Timestamp) -> RowSet {
        self.context(visible, now).matching(filters)
    }

    fn shown(&self, row: u32) -> FleetRow {
        let shown = self.columns.shown(row);
        FleetRow { owner_away_since: self.absence.since(shown.key), ..shown }
    }
}

#[cfg(test)]
mod tests;
