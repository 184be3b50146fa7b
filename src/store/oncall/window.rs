//! The filter for lists of overrides, absences and cover requests: by schedule, contact and time.

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Select};

use crate::clock::Timestamp;

/// Filter for a list; a member that is `None` does not filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OncallFilter {
    /// Only entries of schedules with these keys. Ignored for absences, which have no schedule.
    pub schedules: Option<Vec<i64>>,
    /// Only entries of contacts with these keys.
    pub contacts: Option<Vec<i64>>,
    /// Only entries that end after this time.
    pub from: Option<Timestamp>,
    /// Only entries that start before this time.
    pub to: Option<Timestamp>,
}

/// The columns of a table that a filter uses.
pub(super) struct OncallColumns<C> {
    /// The column of the schedule; `None` for a table without one.
    pub(super) schedule: Option<C>,
    pub(super) contact: C,
    pub(super) starts_at: C,
    pub(super) ends_at: C,
}

/// Restricts a query to the rows that a filter matches.
pub(super) fn narrowed<E: EntityTrait>(
    mut rows: Select<E>,
    filter: &OncallFilter,
    columns: &OncallColumns<E::Column>,
) -> Select<E> {
    if let (Some(keys), Some(column)) = (&filter.schedules, columns.schedule) {
        rows = rows.filter(column.is_in(keys.iter().copied()));
    }
    if let Some(keys) = &filter.contacts {
        rows = rows.filter(columns.contact.is_in(keys.iter().copied()));
    }
    if let Some(from) = filter.from {
        rows = rows.filter(columns.ends_at.gt(from.ms()));
    }
    if let Some(to) = filter.to {
        rows = rows.filter(columns.starts_at.lt(to.ms()));
    }
    rows
}
