//! Counts of services: by status, check type and tag, and groups by the values of a tag.

use crate::fleet_view::columns::FleetColumns;
use crate::fleet_view::packed_lists::narrow;
use crate::fleet_view::row_set::RowSet;
use crate::fleet_view::tag_dictionary::FleetTag;
use crate::model::check::CheckType;
use crate::model::service::ServiceStatus;

/// Maximum number of tags in the facets of a list.
pub const FACET_TAGS: usize = 50;

/// Numbers of services by effective status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatusTotals(pub(super) [usize; ServiceStatus::ALL.len()]);

/// Counts of the services that a query finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetFacets {
    /// By effective status.
    pub statuses: StatusTotals,
    /// By check type; types without a service are left out.
    pub check_types: Vec<TypeCount>,
    /// By tag: the most frequent ones, at most [`FACET_TAGS`].
    pub tags: Vec<TagCount>,
}

/// The number of services of a check type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeCount {
    /// The check type.
    pub check_type: CheckType,
    /// Number of services.
    pub services: usize,
}

/// The number of services with a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagCount {
    /// The tag.
    pub tag: FleetTag,
    /// Number of services.
    pub services: usize,
}

/// The services with one value of a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetGroup {
    /// The value; empty for the tag without a value, `None` for services without a tag of this key.
    pub value: Option<String>,
    /// Numbers of services by status.
    pub statuses: StatusTotals,
}

impl StatusTotals {
    /// The number of services with this effective status.
    #[must_use]
    pub const fn of(&self, status: ServiceStatus) -> usize {
        self.0[status as usize]
    }

    /// The number of services that work: `up` and `operational`.
    #[must_use]
    pub const fn working(&self) -> usize {
        self.of(ServiceStatus::Up) + self.of(ServiceStatus::Operational)
    }

    /// The number of all services.
    #[must_use]
    pub fn all(&self) -> usize {
        self.0.iter().sum()
    }

    const fn add(&mut self, status: ServiceStatus) {
        self.0[status as usize] += 1;
    }

    /// Counts that are larger for a worse group: down first, then degraded, then unknown.
    const fn badness(&self) -> [usize; 3] {
        [self.of(ServiceStatus::Down), self.of(ServiceStatus::Degraded), self.of(ServiceStatus::Unknown)]
    }
}

/// Counts these rows by status.
pub(super) fn totals(columns: &FleetColumns, rows: &RowSet) -> StatusTotals {
    let mut totals = StatusTotals::default();
    rows.for_each(|row| totals.add(columns.state(row).status));
    totals
}

/// Counts these rows by status, check type and tag.
pub(super) fn facets(columns: &FleetColumns, rows: &RowSet) -> FleetFacets {
    let mut statuses = StatusTotals::default();
    let mut types = [0; CheckType::ALL.len()];
    let mut tags = vec![0; columns.tag_names().len()];
    rows.for_each(|row| {
        let state = columns.state(row);
        statuses.add(state.status);
        types[state.check_type as usize] += 1;
        columns.tags(row).iter().for_each(|tag| tags[*tag as usize] += 1);
    });
    let check_types = CheckType::ALL.into_iter().zip(types);
    let check_types = check_types.map(|(check_type, services)| TypeCount { check_type, services });
    let shown = |number: usize| columns.tag_names().shown(narrow(number)).cloned();
    let tags = tags.into_iter().enumerate().filter(|(_, services)| *services > 0);
    let tags = tags.filter_map(|(number, services)| Some(TagCount { tag: shown(number)?, services }));
    let mut tags: Vec<TagCount> = tags.collect();
    tags.sort_by(|a, b| b.services.cmp(&a.services).then_with(|| a.tag.label.cmp(&b.tag.label)));
    tags.truncate(FACET_TAGS);
    FleetFacets { statuses, check_types: check_types.filter(|count| count.services > 0).collect(), tags }
}

/// Groups these rows by the values of the tags with this key, the worst group first. A service with several of these tags is
/// in several groups.
pub(super) fn groups(columns: &FleetColumns, rows: &RowSet, key: &str) -> Vec<FleetGroup> {
    let values = columns.tag_names().values_of(key);
    let mut group_of = vec![None; columns.tag_names().len()];
    for (group, value) in values.iter().enumerate() {
        group_of[value.number as usize] = Some(group);
    }
    let mut totals = vec![StatusTotals::default(); values.len()];
    let mut others = StatusTotals::default();
    rows.for_each(|row| {
        let status = columns.state(row).status;
        let mut groups = columns.tags(row).iter().filter_map(|tag| group_of[*tag as usize]).peekable();
        if groups.peek().is_none() {
            others.add(status);
        }
        groups.for_each(|group| totals[group].add(status));
    });
    let valued = values.into_iter().zip(totals);
    let valued = valued.map(|(value, statuses)| FleetGroup { value: Some(value.value), statuses });
    let all = valued.chain([FleetGroup { value: None, statuses: others }]);
    let mut found: Vec<FleetGroup> = all.filter(|group| group.statuses.all() > 0).collect();
    // Stable: equally bad groups stay in the order of their values.
    found.sort_by_key(|group| std::cmp::Reverse(group.statuses.badness()));
    found
}
