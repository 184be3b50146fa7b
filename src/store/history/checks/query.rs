//! A query for a page of the check history: the filter translated for rows and blocks, and the rows that match it.

use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use watchkeeper_entities::fresh_check::{Column, Entity};

use crate::clock::Timestamp;
use crate::model::check::CheckStatus;
use crate::model::history::StoredCheck;
use crate::model::service::ServiceKey;
use crate::store::connection::StoreConnection;
use crate::store::error::HistoryError;
use crate::store::history::fresh_checks::{FreshCheck, bucket_of};
use crate::store::history::locations::LocationNumbers;

const START_OF_TIME: Timestamp = Timestamp::from_ms(i64::MIN);
const END_OF_TIME: Timestamp = Timestamp::from_ms(i64::MAX);

/// Filter for the check history of a service.
#[derive(Clone, Debug, Default)]
pub struct CheckFilter {
    /// Only checks from these locations, by code; empty = all.
    pub probes: Vec<String>,
    /// Only checks with one of these statuses; empty = all.
    pub statuses: Vec<CheckStatus>,
    /// Only checks that started at or after this time.
    pub from: Option<Timestamp>,
    /// Only checks that started before this time.
    pub to: Option<Timestamp>,
    /// Only checks that come after this position, which is the last entry of the previous page.
    pub before: Option<CheckPosition>,
}

/// Position of a check in the order of the history: newest first, then by location code, descending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckPosition {
    /// Start of the check.
    pub checked_at: Timestamp,
    /// Code of the location.
    pub probe: String,
}

/// A filter translated for rows and blocks.
pub(super) struct CheckQuery<'a> {
    pub(super) service: ServiceKey,
    numbers: &'a LocationNumbers,
    probes: &'a [String],
    pub(super) statuses: &'a [CheckStatus],
    pub(super) from: Timestamp,
    /// Exclusive end.
    pub(super) to: Timestamp,
    before: Option<&'a CheckPosition>,
    pub(super) limit: usize,
}

impl<'a> CheckQuery<'a> {
    /// The query for at most `limit` checks of a service that pass the filter.
    pub(super) fn new(
        service: ServiceKey,
        filter: &'a CheckFilter,
        numbers: &'a LocationNumbers,
        limit: usize,
    ) -> Self {
        let before = filter.before.as_ref();
        let end = before.map_or(END_OF_TIME, |position| position.checked_at.plus_ms(1));
        Self {
            service,
            numbers,
            probes: &filter.probes,
            statuses: &filter.statuses,
            from: filter.from.unwrap_or(START_OF_TIME),
            to: filter.to.unwrap_or(END_OF_TIME).min(end),
            before,
            limit,
        }
    }

    /// The code of the location with this number; `None` if the filter excludes the location.
    pub(super) fn code(&self, number: i32) -> Result<Option<&'a str>, HistoryError> {
        let unknown = || HistoryError::corrupt("location", &number, &"this number has no code");
        let code = self.numbers.code(number).ok_or_else(unknown)?;
        let is_wanted = self.probes.is_empty() || self.probes.iter().any(|probe| probe == code);
        Ok(is_wanted.then_some(code))
    }

    /// Returns true if a check comes after the cursor, or if there is no cursor.
    pub(super) fn is_older(&self, checked_at: Timestamp, code: &str) -> bool {
        self.before.is_none_or(|position| (checked_at, code) < (position.checked_at, position.probe.as_str()))
    }

    /// The newest matching checks that are stored as rows: at least `limit`, if there are enough.
    pub(super) async fn fresh(
        &self,
        connection: &dyn StoreConnection,
    ) -> Result<Vec<StoredCheck>, HistoryError> {
        // Rows of the same time come in any order. One more row for each location makes sure that all relevant ones are
        // included, so that the database reads a range of its key backwards and sorts nothing.
        let most = self.limit.saturating_add(self.numbers.len());
        let rows = Entity::find()
            .filter(self.condition())
            .order_by_desc(Column::CheckedAt)
            .limit(u64::from(u32::try_from(most).unwrap_or(u32::MAX)))
            .all(&connection)
            .await?;
        let mut found = Vec::with_capacity(rows.len());
        for row in rows {
            let FreshCheck { series, entry } = row.try_into()?;
            if let Some(code) = self.code(series.location)? {
                found.push(entry.into_stored(code.to_owned()));
            }
        }
        Ok(found)
    }

    fn condition(&self) -> Condition {
        let mut all = Condition::all()
            .add(Column::Bucket.eq(bucket_of(self.service)))
            .add(Column::ServiceId.eq(self.service))
            .add(Column::CheckedAt.gte(self.from.ms()))
            .add(Column::CheckedAt.lt(self.to.ms()));
        if !self.probes.is_empty() {
            all = all.add(Column::LocationId.is_in(self.numbers.numbers(self.probes)));
        }
        if !self.statuses.is_empty() {
            all = all.add(Column::Status.is_in(self.statuses.iter().map(|status| status.code())));
        }
        if let Some(CheckPosition { checked_at, probe }) = self.before {
            let older = Condition::any()
                .add(Column::CheckedAt.lt(checked_at.ms()))
                .add(Column::LocationId.is_in(self.numbers.before(probe)));
            all = all.add(older);
        }
        all
    }
}
