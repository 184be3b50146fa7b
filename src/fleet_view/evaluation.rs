//! Evaluation of a query: which rows pass its filters.
//!
//! Each filter is an operation on sets of rows, or one pass over the rows that are left, the cheap ones first.

use memchr::memmem::Finder;

use crate::clock::Timestamp;
use crate::fleet_view::columns::FleetColumns;
use crate::fleet_view::columns::row_search::RowSearch;
use crate::fleet_view::filter_sets::RowFilter;
use crate::fleet_view::fleet_facts::IncidentPresence;
use crate::fleet_view::query::{FilterCondition, FleetFilter, ServiceMark, TextFilter, TextPlace};
use crate::fleet_view::row_set::RowSet;
use crate::fleet_view::row_state::RowState;
use crate::fleet_view::visible_tags::VisibleTags;
use crate::model::partition::Partition;
use crate::model::partition::PartitionSet;
use crate::model::service::ServiceStatus;

/// Maximum number of tags for which sets of rows are used; more would drop those of other filters.
const TAG_SETS_MAX: usize = 4;

/// In fewer rows than this part of all a text is searched row by row.
const FEW_ROWS: usize = 64;

/// The facts besides the rows on which the result depends.
#[derive(Clone, Copy, Debug)]
pub(super) struct EvaluationContext<'a> {
    /// The services.
    pub(super) columns: &'a FleetColumns,
    /// The part of the services that the caller may see.
    pub(super) visible: &'a VisibleTags,
    /// The partitions that no node monitors.
    pub(super) unwatched: PartitionSet,
    /// Present time.
    pub(super) now: Timestamp,
}

impl EvaluationContext<'_> {
    /// The visible rows.
    pub(super) fn visible_rows(&self) -> RowSet {
        let mut rows = self.columns.alive().clone();
        if let Some(tags) = self.visible.tags() {
            let numbers = tags.iter().filter_map(|tag| self.columns.tag_names().known_number(*tag));
            self.retain_tagged(&mut rows, &numbers.collect::<Vec<_>>(), false);
        }
        rows
    }

    /// The visible rows that pass all filters.
    pub(super) fn matching(&self, filters: &[FleetFilter]) -> RowSet {
        let mut rows = self.visible_rows();
        let is_search = |filter: &&FleetFilter| matches!(filter.condition, FilterCondition::Text(_));
        let (searches, others): (Vec<_>, Vec<_>) = filters.iter().partition(is_search);
        for filter in others.into_iter().chain(searches) {
            self.apply(&mut rows, filter);
        }
        rows
    }

    fn apply(&self, rows: &mut RowSet, FleetFilter { is_negated, condition }: &FleetFilter) {
        let (columns, is_negated) = (self.columns, *is_negated);
        match condition {
            FilterCondition::Status(statuses) => {
                let wanted = ServiceStatus::ALL.into_iter().filter(|status| finds(statuses, *status));
                self.retain_any(rows, wanted.map(RowFilter::Status), is_negated);
            }
            FilterCondition::CheckType(types) => {
                self.retain_any(rows, types.iter().copied().map(RowFilter::CheckType), is_negated);
            }
            FilterCondition::Tag(names) => {
                self.retain_tagged(rows, &columns.tag_names().with_names(names), is_negated);
            }
            FilterCondition::Location(codes) => {
                let is_wanted = columns.location_sets().containing(codes);
                rows.retain(|row| is_wanted[columns.location(row) as usize] != is_negated);
            }
            FilterCondition::Mark(marks) => {
                rows.retain(|row| marks.iter().any(|mark| self.has_mark(row, *mark)) != is_negated);
            }
            FilterCondition::OpenIncident => {
                let has_incident = |state: RowState| state.incident != IncidentPresence::Absent;
                rows.retain(|row| has_incident(columns.state(row)) != is_negated);
            }
            FilterCondition::LongerThan(ms) => {
                rows.retain(|row| self.age(row).is_some_and(|age| age > *ms) != is_negated);
            }
            FilterCondition::ShorterThan(ms) => {
                rows.retain(|row| self.age(row).is_some_and(|age| age < *ms) != is_negated);
            }
            FilterCondition::UptimeAbove(ppm) => {
                rows.retain(|row| columns.uptime_ppm(row).is_some_and(|uptime| uptime > *ppm) != is_negated);
            }
            FilterCondition::UptimeBelow(ppm) => {
                rows.retain(|row| columns.uptime_ppm(row).is_some_and(|uptime| uptime < *ppm) != is_negated);
            }
            FilterCondition::Text(text) => self.retain_with_text(rows, text, is_negated),
            // Also if it is negated: somebody could act on the services that were to be left out.
            FilterCondition::Unknown(_) => rows.retain(|_| false),
        }
    }

    /// Retains the rows that pass one of these filters.
    fn retain_any(&self, rows: &mut RowSet, filters: impl Iterator<Item = RowFilter>, is_negated: bool) {
        let found = self.columns.rows_with_any(filters);
        if is_negated {
            rows.remove_all(&found);
        } else {
            rows.retain_all(&found);
        }
    }

    fn retain_tagged(&self, rows: &mut RowSet, tags: &[u32], is_negated: bool) {
        if tags.len() <= TAG_SETS_MAX {
            self.retain_any(rows, tags.iter().copied().map(RowFilter::Tag), is_negated);
            return;
        }
        rows.retain(|row| self.columns.tags(row).iter().any(|tag| tags.contains(tag)) != is_negated);
    }

    fn retain_with_text(&self, rows: &mut RowSet, TextFilter { place, text }: &TextFilter, is_negated: bool) {
        let text = text.to_lowercase();
        let finder = Finder::new(text.as_bytes());
        let columns = self.columns;
        match place {
            // Name and target are separated by a line feed; a match must not span it.
            TextPlace::Anywhere if text.contains('\n') => rows.retain(|row| {
                let is_in = |part| finder.find(part).is_some();
                (is_in(columns.name(row)) || is_in(columns.target(row))) != is_negated
            }),
            TextPlace::Anywhere if rows.count() < columns.len() / FEW_ROWS => {
                rows.retain(|row| finder.find(columns.searched(row)).is_some() != is_negated);
            }
            TextPlace::Anywhere => {
                let mut search = RowSearch::new(columns, &finder);
                rows.retain(|row| search.finds(row) != is_negated);
            }
            TextPlace::Name => rows.retain(|row| finder.find(columns.name(row)).is_some() != is_negated),
            TextPlace::Target => rows.retain(|row| finder.find(columns.target(row)).is_some() != is_negated),
        }
    }

    fn has_mark(&self, row: u32, mark: ServiceMark) -> bool {
        let state = self.columns.state(row);
        match mark {
            ServiceMark::Flapping => state.is_flapping,
            ServiceMark::Paused => state.is_paused,
            ServiceMark::Maintenance | ServiceMark::Silenced => state.in_maintenance,
            ServiceMark::Acknowledged => state.incident == IncidentPresence::Acknowledged,
            ServiceMark::Unwatched => self.unwatched.contains(Partition::of(self.columns.key(row))),
        }
    }

    /// Milliseconds for which the row has had its status.
    fn age(&self, row: u32) -> Option<i64> {
        self.columns.since(row).map(|since| self.now.ms_since(since))
    }
}

/// Returns true if a filter for these statuses finds services with this one: `up` finds `operational` as well.
fn finds(statuses: &[ServiceStatus], status: ServiceStatus) -> bool {
    statuses.contains(&status)
        || status == ServiceStatus::Operational && statuses.contains(&ServiceStatus::Up)
}
