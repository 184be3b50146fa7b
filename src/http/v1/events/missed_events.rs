//! Replays the events since a client's last event, page by page: status changes, then events of incidents and maintenances,
//! then results in order of time.
//!
//! Replayed events are remembered, so that the live stream does not send them again. A position that is too old, or ahead of
//! the stored events, is answered with `reset`. Only rows of the client's own organisation are read. An event id is never
//! beyond the position up to which the tail has published: a row with a smaller number may not be committed yet.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use crate::clock::Timestamp;
use crate::events::fact::{EventCursor, EventFact, FactContent, FactIdentity};
use crate::events::subscription::{EventSubscription, RenderError, RenderedEvent};
use crate::events::tail::without_repetitions;
use crate::http::kit::error::ApiError;
use crate::http::v1::events::event_filter::EventFilter;
use crate::http::v1::events::position::EventIdCodec;
use crate::http::v1::events::results::MissedResults;
use crate::http::v1::events::subscription_renderer::notice;
use crate::http::v1::events::view::{ResetView, TOO_MANY_RESULTS, TOO_OLD};
use crate::http::v1::state::AppState;
use crate::model::event::EventType;
use crate::model::history::CheckRecord;
use crate::model::visibility::Visibility;
use crate::store::history::feed::{self, NumberedChange};
use crate::store::service_selection::{self, ServiceSelection};
use crate::store::{events, services};

/// Maximum age of a position at which a client can resume, in milliseconds.
const RESUMED_MS: i64 = 30 * 60 * 1_000;
/// Tolerated difference between the clocks of the processes, in milliseconds.
const AHEAD_MS: i64 = 60 * 1_000;
/// Maximum time from the start of a check to the commit of its result, in milliseconds.
const RESULT_LATE_MS: i64 = 90 * 1_000;
/// Number of rows read at a time.
const AT_ONCE: usize = 500;
/// Maximum number of pages read for one client.
const PAGES: u32 = 400;
/// Maximum number of status changes replayed to one client.
const CHANGES: u64 = 100_000;
/// Maximum number of services whose results are replayed.
const SERVICES: u64 = 50;

/// The replay of the events that a client has missed.
pub(super) struct MissedEvents {
    state: Arc<AppState>,
    visibility: Visibility,
    selection: Option<ServiceSelection>,
    stage: CatchUpStage,
    cursor: EventCursor,
    since: EventCursor,
    /// Cursor up to which the tail had published before the page was read.
    settled: EventCursor,
    /// Time at which the reading of results started, in Unix milliseconds; results stored later may be missing.
    results_read_at_ms: i64,
    sent: HashSet<FactIdentity>,
    pages: u32,
}

/// The next table to read for the replay.
enum CatchUpStage {
    Begin,
    FindChanges,
    /// Holds the numbers of the missed status changes, in order.
    Changes(VecDeque<i64>),
    Events,
    Services,
    Results(MissedResults),
    End,
}

/// A page of missed events.
#[derive(Default)]
pub(super) struct MissedPage {
    pub(super) text: String,
    pub(super) events: usize,
}

impl MissedEvents {
    /// Creates a replay of the events after this position.
    pub(super) fn since(
        since: EventCursor,
        state: &Arc<AppState>,
        wanted: &EventFilter,
        visibility: Visibility,
    ) -> Self {
        let has_results = wanted.has(EventType::Result) && !wanted.selects_nothing;
        Self {
            state: Arc::clone(state),
            visibility,
            selection: has_results.then(|| wanted.selection.clone()),
            stage: CatchUpStage::Begin,
            cursor: since,
            since,
            settled: since,
            results_read_at_ms: since.at_ms,
            sent: HashSet::new(),
            pages: 0,
        }
    }

    /// Returns true if the event is after the client's position and has not been replayed.
    pub(super) fn is_new(&self, origin: &FactIdentity) -> bool {
        let is_later = match origin {
            FactIdentity::Change(number) => *number > self.since.change,
            FactIdentity::Event(number) => *number > self.since.event,
            FactIdentity::Result(..) => true,
        };
        is_later && !self.sent.contains(origin)
    }

    /// Restarts at the current cursor, because more events have happened meanwhile than can be queued for the client.
    pub(super) fn restart(&mut self) {
        self.cursor = self.cursor_after(self.cursor.at_ms);
        self.stage = CatchUpStage::FindChanges;
    }

    /// Returns the next page; `None` at the end. `settled` is the cursor up to which the tail has published.
    pub(super) async fn next(
        &mut self,
        audience: &EventSubscription,
        positions: &EventIdCodec,
        settled: EventCursor,
    ) -> Result<Option<MissedPage>, ApiError> {
        self.settled = settled;
        self.pages += 1;
        if self.pages > PAGES {
            return Ok(Some(self.reset(positions)));
        }
        let state = Arc::clone(&self.state);
        let facts = match &mut self.stage {
            CatchUpStage::Begin => return self.begin(positions).await.map(Some),
            CatchUpStage::FindChanges => return self.find_changes(positions).await.map(Some),
            CatchUpStage::Changes(numbers) => {
                let page: Vec<i64> = numbers.drain(..numbers.len().min(AT_ONCE)).collect();
                let is_last = numbers.is_empty();
                let rows = feed::with_numbers(state.databases.history.reader(), &page).await?;
                if is_last {
                    self.stage = CatchUpStage::Events;
                }
                self.changes(rows)
            }
            CatchUpStage::Events => self.events().await?,
            CatchUpStage::Services => return self.find_services(positions).await.map(Some),
            CatchUpStage::Results(results) => match results.next(&state.databases.history).await? {
                Some(results) => self.results(results),
                None => {
                    self.cursor.at_ms = self.cursor.at_ms.max(self.results_read_at_ms);
                    self.stage = CatchUpStage::End;
                    return Ok(None);
                }
            },
            CatchUpStage::End => return Ok(None),
        };
        let rendered = audience.render_once(&facts).await.map_err(|RenderError(_)| ApiError::Unavailable)?;
        self.sent.extend(facts.iter().map(|fact| fact.what.origin()));
        let events = rendered.len();
        Ok(Some(MissedPage {
            text: rendered.into_iter().map(|RenderedEvent { text, .. }| text).collect(),
            events,
        }))
    }

    async fn begin(&mut self, positions: &EventIdCodec) -> Result<MissedPage, ApiError> {
        let newest = events::newest(self.state.databases.main.reader()).await?;
        // The tail may have published later events, whose organisation has been deleted since.
        let newest = if newest == 0 { 0 } else { newest.max(self.settled.event) };
        if !is_known(self.since, newest, self.state.now().ms()) {
            return Ok(self.reset(positions));
        }
        self.stage = CatchUpStage::FindChanges;
        Ok(MissedPage::default())
    }

    /// Ends the replay with a `reset` event, which tells the client that events are missing, and gives it a new position.
    fn reset(&mut self, positions: &EventIdCodec) -> MissedPage {
        self.cursor = self.settled;
        self.since = EventCursor::default();
        self.sent.clear();
        self.pages = 0;
        self.stage = CatchUpStage::End;
        reset_page(TOO_OLD, &positions.id(self.settled))
    }

    /// Finds the missed status changes. If there are too many to be sent one by one, ends the replay with `reset`.
    async fn find_changes(&mut self, positions: &EventIdCodec) -> Result<MissedPage, ApiError> {
        let databases = &self.state.databases;
        let services = services::keys(databases.main.reader(), self.visibility.organisation()).await?;
        let history = databases.history.reader();
        let numbers = feed::numbers_of_services(history, &services, self.cursor.change, CHANGES + 1).await?;
        if numbers.len() as u64 > CHANGES {
            return Ok(self.reset(positions));
        }
        self.stage = CatchUpStage::Changes(numbers.into());
        Ok(MissedPage::default())
    }

    fn changes(&mut self, rows: Vec<NumberedChange>) -> Vec<EventFact> {
        let mut facts = Vec::new();
        for row in rows {
            self.cursor.change = row.number;
            if !self.sent.contains(&FactIdentity::Change(row.number)) {
                facts.push(self.fact(FactContent::Change(row)));
            }
        }
        facts
    }

    async fn events(&mut self) -> Result<Vec<EventFact>, ApiError> {
        let main = self.state.databases.main.reader();
        let organisation = self.visibility.organisation();
        let mut rows = events::of_organisation(main, organisation, self.cursor.event, AT_ONCE as u64).await?;
        if rows.len() < AT_ONCE {
            self.stage = if self.selection.is_some() { CatchUpStage::Services } else { CatchUpStage::End };
        }
        let last = rows.last().map_or(self.cursor.event, |row| row.number);
        rows.retain(|row| !self.sent.contains(&FactIdentity::Event(row.number)));
        self.sent.extend(rows.iter().map(|row| FactIdentity::Event(row.number)));
        let mut facts = Vec::new();
        for row in without_repetitions(rows) {
            self.cursor.event = row.number;
            facts.push(self.fact(FactContent::Event(row)));
        }
        self.cursor.event = last;
        Ok(facts)
    }

    async fn find_services(&mut self, positions: &EventIdCodec) -> Result<MissedPage, ApiError> {
        let main = self.state.databases.main.reader();
        let selection = self.selection.clone().unwrap_or_default();
        let found = service_selection::first(main, self.visibility, &selection, SERVICES + 1).await?;
        if found.len() as u64 > SERVICES {
            self.stage = CatchUpStage::End;
            self.cursor.at_ms = self.settled.at_ms;
            return Ok(reset_page(TOO_MANY_RESULTS, &positions.id(self.cursor_after(self.cursor.at_ms))));
        }
        let services = found.into_iter().map(|service| service.key).collect();
        // Starts earlier, because results of these last moments may have been stored later.
        let from = Timestamp::from_ms(self.cursor.at_ms).plus_ms(-RESULT_LATE_MS);
        let until = self.state.now().plus_ms(AHEAD_MS);
        self.results_read_at_ms = self.settled.at_ms;
        self.stage = CatchUpStage::Results(MissedResults::new(services, from, until));
        Ok(MissedPage::default())
    }

    fn results(&self, results: Vec<CheckRecord>) -> Vec<EventFact> {
        let facts = results.into_iter().map(|result| {
            // A client that resumes at this position gets this result and all later ones.
            let at_ms = result.checked_at.plus_ms(RESULT_LATE_MS).ms().min(self.results_read_at_ms);
            let (organisation, cursor) = (self.visibility.organisation(), self.cursor_after(at_ms));
            EventFact { organisation, cursor, what: FactContent::Result(Arc::new(result)) }
        });
        facts.filter(|fact| !self.sent.contains(&fact.what.origin())).collect()
    }

    fn fact(&self, what: FactContent) -> EventFact {
        let cursor = self.cursor_after(self.cursor.at_ms);
        EventFact { organisation: self.visibility.organisation(), cursor, what }
    }

    /// Returns the event id's cursor for a client that has read everything up to here.
    fn cursor_after(&self, at_ms: i64) -> EventCursor {
        let (cursor, settled, since) = (self.cursor, self.settled, self.since);
        EventCursor {
            change: cursor.change.min(settled.change).max(since.change),
            event: cursor.event.min(settled.event).max(since.event),
            at_ms: at_ms.min(settled.at_ms).max(since.at_ms),
        }
    }
}

fn reset_page(reason: &'static str, id: &str) -> MissedPage {
    MissedPage { text: notice("reset", id, &ResetView { reason }), events: 1 }
}

/// Returns true if everything after a position is still stored. A position ahead of the stored data belongs to other
/// databases. Status changes cannot show this: the newest one may have been deleted with its service.
fn is_known(since: EventCursor, newest_event: i64, now_ms: i64) -> bool {
    // Old events are deleted, so the table may be empty.
    let is_stored = since.event <= newest_event || newest_event == 0;
    is_stored && (-AHEAD_MS..RESUMED_MS).contains(&(now_ms - since.at_ms))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const NEWEST: EventCursor = EventCursor { change: 100, event: 50, at_ms: 10_000_000 };

    #[rstest]
    #[case(NEWEST, true)]
    #[case(EventCursor { change: 1, event: 1, at_ms: NEWEST.at_ms - 20 * 60_000 }, true)]
    #[case(EventCursor { at_ms: NEWEST.at_ms - RESUMED_MS, ..NEWEST }, false)]
    #[case(EventCursor { at_ms: NEWEST.at_ms + 2 * AHEAD_MS, ..NEWEST }, false)]
    #[case(EventCursor { change: 101, ..NEWEST }, true)]
    #[case(EventCursor { event: 51, ..NEWEST }, false)]
    fn a_position_is_known_while_later_events_are_stored(#[case] since: EventCursor, #[case] expected: bool) {
        assert_eq!(is_known(since, NEWEST.event, NEWEST.at_ms), expected);
    }

    #[test]
    fn a_quiet_hour_does_not_invalidate_a_position() {
        assert!(is_known(NEWEST, 0, NEWEST.at_ms));
    }
}
