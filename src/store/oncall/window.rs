//! The filters of lists of overrides, absences and cover requests: by schedule, contact and time.

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Select};

use crate::clock::Timestamp;

/// Filter of a list; `None` = not filtered by this.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OncallFilter {
    /// Database keys of schedules.
    pub schedules: Option<Vec<i64>>,
    /// Database keys of contacts.
    pub contacts: Option<Vec<i64>>,
    /// Only entries that end later.
    pub from: Option<Timestamp>,
    /// Only entries that start earlier.
    pub to: Option<Timestamp>,
}

/// The columns that a filter uses.
pub(super) struct OncallColumns<C> {
    /// The schedule, where there is one.
    pub(super) schedule: Option<C>,
    pub(super) contact: C,
    pub(super) starts_at: C,
    pub(super) ends_at: C,
}

/// The rows that a filter leaves.
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
