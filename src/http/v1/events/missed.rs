//! What a client has missed since the last event that it has read, page by page: status changes, then what became of
//! incidents and maintenances, then results.
//!
//! What is told here is remembered, so that it is not told again when the stream goes on live. A position that lies too far back, or
//! ahead of what is stored, is told as `reset`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::clock::Timestamp;
use crate::events::audience::{Audience, NotTold, Told};
use crate::events::fact::{Cursor, Fact, Origin, What};
use crate::events::tail::without_repetitions;
use crate::http::kit::error::ApiError;
use crate::http::v1::events::position::Positions;
use crate::http::v1::events::teller::notice;
use crate::http::v1::events::view::{ResetView, TOO_MANY_RESULTS, TOO_OLD};
use crate::http::v1::events::wanted::Wanted;
use crate::http::v1::state::AppState;
use crate::model::event::Type;
use crate::model::history::{CheckRecord, StoredCheck};
use crate::model::partition::Partitions;
use crate::model::service::{ProbeRole, ServiceKey};
use crate::model::sight::Sight;
use crate::store::history::checks::{CheckFilter, page};
use crate::store::history::feed;
use crate::store::selected::{self, Selection};
use crate::store::{events, services};

/// The age of a position that is gone on from, in milliseconds.
const RESUMED_MS: i64 = 30 * 60 * 1_000;
/// Clocks of several processes differ a little, in milliseconds.
const AHEAD_MS: i64 = 60 * 1_000;
/// The time that passes between the start of a check and the commit of its result, in milliseconds.
const RESULT_LATE_MS: i64 = 90 * 1_000;
/// Rows read at a time.
const AT_ONCE: u64 = 500;
/// Pages read for one client.
const PAGES: u32 = 400;
/// Services whose results are told again.
const SERVICES: u64 = 50;
/// Results of one service that are told again.
const RESULTS: u64 = 500;

/// What a client has missed.
pub(super) struct Missed {
    state: Arc<AppState>,
    sight: Sight,
    selection: Option<Selection>,
    stage: Stage,
    cursor: Cursor,
    since: Cursor,
    told: HashSet<Origin>,
    pages: u32,
}

/// What is read next.
enum Stage {
    Begin,
    Changes,
    Events,
    Results(Option<Vec<ServiceKey>>),
    End,
}

/// A page of what was missed.
#[derive(Default)]
pub(super) struct Page {
    pub(super) text: String,
    pub(super) events: usize,
}

impl Missed {
    /// What happened after this position.
    pub(super) fn since(since: Cursor, state: &Arc<AppState>, wanted: &Wanted, sight: Sight) -> Self {
        let has_results = wanted.has(Type::Result) && !wanted.selects_nothing;
        Self {
            state: Arc::clone(state),
            sight,
            selection: has_results.then(|| wanted.selection.clone()),
            stage: Stage::Begin,
            cursor: since,
            since,
            told: HashSet::new(),
            pages: 0,
        }
    }

    /// Returns true if this has not been told here, nor before.
    pub(super) fn is_news(&self, origin: &Origin) -> bool {
        let is_later = match origin {
            Origin::Change(number) => *number > self.since.change,
            Origin::Event(number) => *number > self.since.event,
            Origin::Result(..) => true,
        };
        is_later && !self.told.contains(origin)
    }

    /// The next page; `None` when all has been told.
    pub(super) async fn next(
        &mut self,
        audience: &Audience,
        positions: &Positions,
    ) -> Result<Option<Page>, ApiError> {
        self.pages += 1;
        if self.pages > PAGES {
            return self.reset(positions, TOO_OLD).await.map(Some);
        }
        let facts = match &mut self.stage {
            Stage::Begin => return self.begin(positions).await.map(Some),
            Stage::Changes => self.changes().await?,
            Stage::Events => self.events().await?,
            Stage::Results(None) => return self.find_services(positions).await.map(Some),
            Stage::Results(Some(services)) => match services.pop() {
                Some(service) => self.results(service).await?,
                None => {
                    self.stage = Stage::End;
                    return Ok(None);
                }
            },
            Stage::End => return Ok(None),
        };
        let told = audience.words(&facts).await.map_err(|NotTold(_)| ApiError::Unavailable)?;
        self.told.extend(facts.iter().map(|fact| fact.what.origin()));
        let events = told.len();
        Ok(Some(Page { text: told.into_iter().map(|Told { text, .. }| text).collect(), events }))
    }

    async fn begin(&mut self, positions: &Positions) -> Result<Page, ApiError> {
        let databases = &self.state.databases;
        let newest = Cursor {
            change: feed::newest(databases.history.reader(), Partitions::ALL).await?,
            event: events::newest(databases.main.reader()).await?,
            at_ms: self.state.now().ms(),
        };
        if !is_known(self.since, newest) {
            return self.reset(positions, TOO_OLD).await;
        }
        self.stage = Stage::Changes;
        Ok(Page::default())
    }

    /// Says that not everything is told, and where the client is now.
    async fn reset(&mut self, positions: &Positions, reason: &'static str) -> Result<Page, ApiError> {
        let databases = &self.state.databases;
        self.cursor = Cursor {
            change: feed::newest(databases.history.reader(), Partitions::ALL).await?,
            event: events::newest(databases.main.reader()).await?,
            at_ms: self.state.now().ms(),
        };
        self.since = Cursor::default();
        self.told.clear();
        self.stage = Stage::End;
        Ok(Page { text: notice("reset", &positions.id(self.cursor), &ResetView { reason }), events: 1 })
    }

    async fn changes(&mut self) -> Result<Vec<Fact>, ApiError> {
        let databases = &self.state.databases;
        let history = databases.history.reader();
        let rows = feed::after(history, self.cursor.change, Partitions::ALL, AT_ONCE).await?;
        if (rows.len() as u64) < AT_ONCE {
            self.stage = Stage::Events;
        }
        let keys: HashSet<ServiceKey> = rows.iter().map(|row| row.change.service).collect();
        let keys: Vec<ServiceKey> = keys.into_iter().collect();
        let owners = services::owners(databases.main.reader(), &keys).await?;
        let owners: HashMap<ServiceKey, i64> = owners.into_iter().collect();
        let mut facts = Vec::new();
        for row in rows {
            self.cursor.change = row.number;
            if owners.get(&row.change.service) == Some(&self.sight.organisation()) {
                facts.push(self.fact(What::Change(row)));
            }
        }
        Ok(facts)
    }

    async fn events(&mut self) -> Result<Vec<Fact>, ApiError> {
        let main = self.state.databases.main.reader();
        let mut rows = events::after(main, self.cursor.event, AT_ONCE).await?;
        if (rows.len() as u64) < AT_ONCE {
            self.stage = if self.selection.is_some() { Stage::Results(None) } else { Stage::End };
        }
        let last = rows.last().map_or(self.cursor.event, |row| row.number);
        rows.retain(|row| row.organisation == self.sight.organisation());
        self.told.extend(rows.iter().map(|row| Origin::Event(row.number)));
        let mut facts = Vec::new();
        for row in without_repetitions(rows) {
            self.cursor.event = row.number;
            facts.push(self.fact(What::Event(row)));
        }
        self.cursor.event = last;
        Ok(facts)
    }

    async fn find_services(&mut self, positions: &Positions) -> Result<Page, ApiError> {
        let main = self.state.databases.main.reader();
        let selection = self.selection.clone().unwrap_or_default();
        let found = selected::first(main, self.sight, &selection, SERVICES + 1).await?;
        if found.len() as u64 > SERVICES {
            self.stage = Stage::End;
            return Ok(self.many_results(positions));
        }
        self.stage = Stage::Results(Some(found.into_iter().map(|service| service.key).collect()));
        Ok(Page::default())
    }

    fn many_results(&self, positions: &Positions) -> Page {
        let reason = TOO_MANY_RESULTS;
        Page { text: notice("reset", &positions.id(self.cursor), &ResetView { reason }), events: 1 }
    }

    /// The results of a service, those of the last moments before included: they may have been stored later.
    async fn results(&self, service: ServiceKey) -> Result<Vec<Fact>, ApiError> {
        let from = Timestamp::from_ms(self.since.at_ms).plus_ms(-RESULT_LATE_MS);
        let filter = CheckFilter { from: Some(from), ..CheckFilter::default() };
        let mut rows = page(&self.state.databases.history, service, &filter, RESULTS).await?;
        rows.reverse();
        Ok(rows.into_iter().filter_map(|row| record(service, row)).map(|row| self.fact(row)).collect())
    }

    const fn fact(&self, what: What) -> Fact {
        Fact { organisation: self.sight.organisation(), cursor: self.cursor, what }
    }
}

/// Returns true if everything between two positions is still stored. A position ahead of what is stored is of other databases.
fn is_known(since: Cursor, newest: Cursor) -> bool {
    // Old events go, so there may be none that is the newest.
    let is_stored = since.change <= newest.change && (since.event <= newest.event || newest.event == 0);
    is_stored && (-AHEAD_MS..RESUMED_MS).contains(&(newest.at_ms - since.at_ms))
}

fn record(service: ServiceKey, row: StoredCheck) -> Option<What> {
    Some(What::Result(Arc::new(CheckRecord {
        service,
        location: row.probe.parse().ok()?,
        role: ProbeRole::Full,
        scheduled_at: row.scheduled_at,
        checked_at: row.checked_at,
        attempt: row.attempt,
        measurement: row.measurement,
    })))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const NEWEST: Cursor = Cursor { change: 100, event: 50, at_ms: 10_000_000 };

    #[rstest]
    #[case(NEWEST, true)]
    #[case(Cursor { change: 1, event: 1, at_ms: NEWEST.at_ms - 20 * 60_000 }, true)]
    #[case(Cursor { at_ms: NEWEST.at_ms - RESUMED_MS, ..NEWEST }, false)]
    #[case(Cursor { at_ms: NEWEST.at_ms + 2 * AHEAD_MS, ..NEWEST }, false)]
    #[case(Cursor { change: 101, ..NEWEST }, false)]
    #[case(Cursor { event: 51, ..NEWEST }, false)]
    fn a_position_is_known_while_what_follows_it_is_stored(#[case] since: Cursor, #[case] expected: bool) {
        assert_eq!(is_known(since, NEWEST), expected);
    }

    #[test]
    fn a_quiet_hour_forgets_no_position() {
        assert!(is_known(NEWEST, Cursor { event: 0, ..NEWEST }));
    }
}
