//! Pages of a list: rows in their order, cut behind the last row of the page before.
//!
//! A cursor holds everything that any order compares. So the next page starts at the right place although rows were added or
//! removed meanwhile, or the row of the cursor has another status now.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::clock::Timestamp;
use crate::fleet_view::columns::FleetColumns;
use crate::fleet_view::query::{FleetSort, SortField};
use crate::fleet_view::row_set::RowSet;
use crate::id::Id;
use crate::model::service::ServiceStatus;

/// Number of different ranks of statuses.
const RANKS: usize = 6;
/// Maximum number of bytes of a name in a cursor.
const CURSOR_NAME_MAX: usize = 4_096;

/// The part of a list that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetPaging {
    /// The last row of the page before; `None` for the first page.
    pub after: Option<PageCursor>,
    /// Maximum number of rows.
    pub limit: usize,
}

/// The place of a row in every order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageCursor {
    rank: usize,
    since: Option<Timestamp>,
    name: Vec<u8>,
    id: Id,
}

/// The text is no cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a cursor of a list of services")]
pub struct InvalidPageCursor;

/// The rows of a page.
pub(super) struct RowPage {
    /// In the order of the list.
    pub(super) rows: Vec<u32>,
    /// Cursor of the last row, if there are further rows.
    pub(super) next: Option<PageCursor>,
}

impl fmt::Display for PageCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let since = self.since.map_or_else(String::new, |since| since.ms().to_string());
        write!(f, "{}.{since}.{}.{}", self.rank, self.id, URL_SAFE_NO_PAD.encode(&self.name))
    }
}

impl FromStr for PageCursor {
    type Err = InvalidPageCursor;

    fn from_str(text: &str) -> Result<Self, InvalidPageCursor> {
        let parts: Vec<&str> = text.split('.').collect();
        let [rank, since, id, name] = parts[..] else { return Err(InvalidPageCursor) };
        let since = match since {
            "" => None,
            ms => Some(Timestamp::from_ms(ms.parse().map_err(|_| InvalidPageCursor)?)),
        };
        let name = URL_SAFE_NO_PAD.decode(name).map_err(|_| InvalidPageCursor)?;
        let rank = rank.parse().ok().filter(|rank| *rank < RANKS && name.len() <= CURSOR_NAME_MAX);
        let id = id.parse().map_err(|_| InvalidPageCursor)?;
        Ok(Self { rank: rank.ok_or(InvalidPageCursor)?, since, name, id })
    }
}

/// The rank of a status: worse statuses first. Services that are paused on purpose come last.
pub(super) const fn rank(status: ServiceStatus) -> usize {
    match status {
        ServiceStatus::Down => 0,
        ServiceStatus::Degraded => 1,
        ServiceStatus::Unknown => 2,
        ServiceStatus::Maintenance => 3,
        ServiceStatus::Up | ServiceStatus::Operational => 4,
        ServiceStatus::Paused => 5,
    }
}

/// Cuts a page out of these rows.
pub(super) fn cut(columns: &FleetColumns, rows: &RowSet, sort: FleetSort, paging: &FleetPaging) -> RowPage {
    let limit = paging.limit.max(1);
    let cutter = PageCutter { columns, rows, after: paging.after.as_ref(), wanted: limit + 1, sort };
    let mut found = match sort.field {
        SortField::Status => cutter.by_status(),
        SortField::Name => cutter.by_name(),
        SortField::Since => cutter.by_since(),
    };
    let has_more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| has_more).map(|last| cursor(columns, *last));
    RowPage { rows: found, next }
}

fn cursor(columns: &FleetColumns, row: u32) -> PageCursor {
    PageCursor {
        rank: rank(columns.state(row).status),
        since: columns.since(row),
        name: columns.name(row).to_vec(),
        id: columns.id(row),
    }
}

struct PageCutter<'a> {
    columns: &'a FleetColumns,
    rows: &'a RowSet,
    after: Option<&'a PageCursor>,
    wanted: usize,
    sort: FleetSort,
}

impl PageCutter<'_> {
    /// Compares the name of a row with that of the cursor.
    fn compare_name(&self, row: u32, after: &PageCursor) -> Ordering {
        let by_name = self.columns.name(row).cmp(&after.name);
        by_name.then_with(|| self.columns.id(row).cmp(&after.id))
    }

    fn by_name(&self) -> Vec<u32> {
        let all = self.columns.by_name();
        let is_found = |row: &u32| self.rows.contains(*row);
        if self.sort.is_descending {
            let is_before = |row: &u32, after| self.compare_name(*row, after) == Ordering::Less;
            let end = self.after.map_or(all.len(), |after| all.partition_point(|row| is_before(row, after)));
            all[..end].iter().rev().copied().filter(is_found).take(self.wanted).collect()
        } else {
            all[self.index_behind()..].iter().copied().filter(is_found).take(self.wanted).collect()
        }
    }

    /// The index of the first row by name behind the cursor.
    fn index_behind(&self) -> usize {
        let is_passed = |row: &u32, after| self.compare_name(*row, after) != Ordering::Greater;
        let all = self.columns.by_name();
        self.after.map_or(0, |after| all.partition_point(|row| is_passed(row, after)))
    }

    fn by_status(&self) -> Vec<u32> {
        let place = |rank: usize| if self.sort.is_descending { RANKS - 1 - rank } else { rank };
        let (first, behind) = (self.after.map_or(0, |after| place(after.rank)), self.index_behind());
        let mut ranks: [Vec<u32>; RANKS] = Default::default();
        for (index, row) in self.columns.by_name().iter().copied().enumerate() {
            if !self.rows.contains(row) {
                continue;
            }
            let place = place(rank(self.columns.state(row).status));
            let is_behind = place > first || place == first && index >= behind;
            if is_behind && ranks[place].len() < self.wanted {
                ranks[place].push(row);
                if place == first && ranks[place].len() == self.wanted {
                    break;
                }
            }
        }
        ranks.into_iter().flatten().take(self.wanted).collect()
    }

    fn by_since(&self) -> Vec<u32> {
        let order = |since: Option<Timestamp>| match since {
            Some(since) if self.sort.is_descending => since.ms(),
            // The shortest time is the one since the latest moment.
            Some(since) => -since.ms(),
            None => i64::MAX,
        };
        let after = self.after.map(|after| (order(after.since), after.id));
        let mut found: Vec<(i64, u32)> = Vec::new();
        self.rows.for_each(|row| {
            let order = order(self.columns.since(row));
            if after.is_none_or(|after| (order, self.columns.id(row)) > after) {
                found.push((order, row));
            }
        });
        let key = |(order, row): &(i64, u32)| (*order, self.columns.id(*row));
        if found.len() > self.wanted {
            found.select_nth_unstable_by_key(self.wanted, key);
            found.truncate(self.wanted);
        }
        found.sort_unstable_by_key(key);
        found.into_iter().map(|(_, row)| row).collect()
    }
}
