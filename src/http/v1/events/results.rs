//! Missed results of several services, in the order in which their checks started.
//!
//! Results are read period by period, for all services together. A period with many results is shortened, so that no result
//! is left out and the memory stays bounded.

use crate::clock::Timestamp;
use crate::model::history::{CheckRecord, StoredCheck};
use crate::model::service::{ProbeRole, ServiceKey};
use crate::store::HistoryError;
use crate::store::history::History;
use crate::store::history::checks::{CheckFilter, page};

/// Length of the first and longest period, in milliseconds.
const STRETCH_MS: i64 = 5 * 60 * 1_000;
/// Maximum number of results of one service in a period; the next constant is the maximum of all services together.
const RESULTS: u64 = 500;
const RESULTS_OF_ALL: usize = 2_000;

pub(super) struct MissedResults {
    services: Vec<ServiceKey>,
    from: Timestamp,
    until: Timestamp,
    stretch_ms: i64,
}

impl MissedResults {
    /// Creates a reader of the results of these services whose checks started in this period.
    pub(super) const fn new(services: Vec<ServiceKey>, from: Timestamp, until: Timestamp) -> Self {
        Self { services, from, until, stretch_ms: STRETCH_MS }
    }

    /// Returns the results of the next period that has any; `None` at the end.
    pub(super) async fn next(&mut self, history: &History) -> Result<Option<Vec<CheckRecord>>, HistoryError> {
        while self.from < self.until {
            let to = self.from.plus_ms(self.stretch_ms).min(self.until);
            let Some(mut found) = self.read(history, to).await? else {
                self.stretch_ms = (self.stretch_ms / 2).max(1);
                continue;
            };
            if found.len() < RESULTS_OF_ALL / 4 {
                self.stretch_ms = (self.stretch_ms * 2).min(STRETCH_MS);
            }
            self.from = to;
            found.sort_by_key(|result| result.checked_at);
            return Ok(Some(found));
        }
        Ok(None)
    }

    /// Returns the results until `to`; `None` if there are too many for one read.
    async fn read(&self, history: &History, to: Timestamp) -> Result<Option<Vec<CheckRecord>>, HistoryError> {
        let mut all = Vec::new();
        for service in &self.services {
            let filter = CheckFilter { from: Some(self.from), to: Some(to), ..CheckFilter::default() };
            let rows = page(history, *service, &filter, RESULTS).await?;
            let is_full = rows.len() as u64 >= RESULTS || all.len() + rows.len() > RESULTS_OF_ALL;
            if is_full && self.stretch_ms > 1 {
                return Ok(None);
            }
            all.extend(rows.into_iter().filter_map(|row| record(*service, row)));
        }
        Ok(Some(all))
    }
}

fn record(service: ServiceKey, row: StoredCheck) -> Option<CheckRecord> {
    Some(CheckRecord {
        service,
        location: row.probe.parse().ok()?,
        role: ProbeRole::Full,
        scheduled_at: row.scheduled_at,
        checked_at: row.checked_at,
        attempt: row.attempt,
        measurement: row.measurement,
    })
}
