//! The tail: reads new facts ten times a second while there are listeners.
//!
//! Status changes, and changes of incidents and maintenances, are read from the databases, whichever process wrote them.
//! Results come from the recorder of this process, once they are durable, and from the other nodes (`remote_results`).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast::{self, error::TryRecvError};
use tokio::time::{Instant, MissedTickBehavior};

use crate::clock::guard::ClockGuard;
use crate::engine::aggregator::RecordBatch;
use crate::events::EventHub;
use crate::events::fact::{EventCursor, EventFact, FactContent};
use crate::events::remote_results::{ReceivedResults, RemoteResults};
use crate::feed::ChangeSignal;
use crate::feed::read_progress::{BEHIND, ReadProgress};
use crate::id::Id;
use crate::model::event::{EventAction, EventSubjectKind};
use crate::model::history::CheckRecord;
use crate::model::partition::PartitionSet;
use crate::model::service::ServiceKey;
use crate::service_router::ServiceRouter;
use crate::store::events::{self, StoredEvent};
use crate::store::history::feed::{self, NumberedChange};
use crate::store::{Databases, MainError, StoreError, services, tokens};

/// The poll interval.
const EVERY: Duration = Duration::from_millis(100);
/// The wait before a failed start is tried again.
const RETRY: Duration = Duration::from_secs(1);
/// Number of polls between two checks whether the listeners' tokens are still valid.
const TOKENS_EVERY: u32 = 20;
/// Maximum number of rows read in one statement.
const AT_ONCE: u64 = 500;
/// Maximum number of results that wait while their organisations cannot be read.
const RESULTS_WAITING: usize = 50_000;
/// Time limit for results of another node, in milliseconds. After it, event ids advance without that node; otherwise they
/// would become too old to reconnect with.
const REMOTE_WITHIN_MS: i64 = 20 * 60 * 1_000;
/// Maximum number of services whose organisation is cached.
const OWNERS: usize = 100_000;

/// The databases and signals from which facts come.
#[derive(Clone, Debug)]
pub struct EventSources {
    /// Router that knows the other nodes.
    pub router: ServiceRouter,
    /// Databases with status changes, incidents and maintenances.
    pub databases: Databases,
    /// Signals that results are durable.
    pub change_signal: Arc<ChangeSignal>,
    /// Clock for the expiry of tokens.
    pub guard: Arc<ClockGuard>,
}

/// Reads facts while there are listeners, until the future is dropped.
pub async fn run(hub: Arc<EventHub>, sources: EventSources) {
    // Listeners of an earlier tail that died have to reconnect.
    hub.is_read.send_replace(false);
    hub.cut_off_all();
    let mut is_failing = false;
    loop {
        hub.wait_for_subscriber().await;
        let begun = EventTail::begin(&sources).await;
        let was_failing = std::mem::replace(&mut is_failing, begun.is_err());
        match begun {
            Ok(mut tail) => tail.follow(&hub).await,
            Err(error) => {
                if !was_failing {
                    tracing::warn!(%error, "cannot read events; event streams unavailable, retrying");
                }
                tokio::time::sleep(RETRY).await;
            }
        }
    }
}

/// The read positions of all sources.
struct EventTail<'a> {
    sources: &'a EventSources,
    changes: ReadProgress,
    events: ReadProgress,
    batches: broadcast::Receiver<Arc<RecordBatch>>,
    remote_results: Arc<RemoteResults>,
    /// Received results that are not published yet.
    results: Vec<CheckRecord>,
    /// Unix time in milliseconds up to which the stored results of every other node have been received; `None` without other
    /// nodes.
    received_at_ms: Option<i64>,
    at_ms: i64,
    owners: HashMap<ServiceKey, i64>,
}

impl<'a> EventTail<'a> {
    async fn begin(sources: &'a EventSources) -> Result<Self, StoreError> {
        let Databases { main, history } = &sources.databases;
        // `None` on PostgreSQL, where other processes write at the same time.
        let is_shared = main.changes().is_none();
        let at_ms = sources.guard.now().ms();
        let batches = sources.change_signal.batches();
        let remote_results = Arc::new(RemoteResults::default());
        remote_results.query_positions(&sources.router, &sources.guard).await;
        let change = feed::newest(history.reader(), PartitionSet::ALL).await?;
        let event = events::newest(main.reader()).await?;
        let (changes, events) = if is_shared {
            let (change, event) = ((change - BEHIND).max(0), (event - BEHIND).max(0));
            let changes = changes_after(&sources.databases, change).await?;
            let events = events_after(&sources.databases, event).await?;
            let changes = changes.iter().map(|change| change.number);
            let events = events.iter().map(|event| event.number);
            (ReadProgress::among(change, changes), ReadProgress::among(event, events))
        } else {
            (ReadProgress::behind(change), ReadProgress::behind(event))
        };
        let (results, owners) = (Vec::new(), HashMap::new());
        Ok(Self {
            changes,
            events,
            batches,
            remote_results,
            results,
            received_at_ms: None,
            at_ms,
            owners,
            sources,
        })
    }

    /// Publishes facts until there are no listeners.
    async fn follow(&mut self, hub: &EventHub) {
        hub.begin(self.cursor());
        let (sources, remote_results) = (self.sources, Arc::clone(&self.remote_results));
        tokio::select! {
            () = self.read(hub) => {}
            () = remote_results.poll_nodes(&sources.router, &sources.guard, || hub.wants_results()) => {}
            () = hub.publish_pending() => {}
        }
    }

    /// Reads facts until there are no listeners, without waiting for any of them.
    async fn read(&mut self, hub: &EventHub) {
        let mut ticks = tokio::time::interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut polls, mut is_failing) = (0_u32, false);
        loop {
            ticks.tick().await;
            if hub.pause_if_unused() {
                return;
            }
            if !self.take_durable_results() {
                tracing::warn!("too many results at once; subscribers to results must reconnect");
                hub.cut_off_from_results();
            }
            if !self.take_remote_results() {
                tracing::info!(
                    "results of other nodes may be missing; subscribers to results must reconnect"
                );
                hub.cut_off_from_results();
            }
            let facts = self.read_new_facts().await;
            let was_failing = std::mem::replace(&mut is_failing, facts.is_err());
            match facts {
                Ok(facts) => hub.publish_facts(facts, self.cursor()),
                Err(error) if !was_failing => tracing::warn!(%error, "cannot read events; retrying"),
                Err(_) => {}
            }
            polls = polls.wrapping_add(1);
            if polls.is_multiple_of(TOKENS_EVERY)
                && let Err(error) = self.end_expired_streams(hub).await
            {
                tracing::warn!(%error, "cannot check the tokens of event streams; retrying");
            }
        }
    }

    /// Takes the results received from other nodes; returns false when some are missing.
    fn take_remote_results(&mut self) -> bool {
        let ReceivedResults { results, is_missing_some, received_at_ms } = self.remote_results.take();
        self.results.extend(results);
        self.received_at_ms = received_at_ms;
        !is_missing_some
    }

    /// Takes the results that have become durable; returns false when some were missed.
    fn take_durable_results(&mut self) -> bool {
        loop {
            match self.batches.try_recv() {
                Ok(batch) => self.results.extend(batch.checks.iter().cloned()),
                Err(TryRecvError::Lagged(_)) => return false,
                Err(_) => break,
            }
        }
        let has_room = self.results.len() <= RESULTS_WAITING;
        if !has_room {
            self.results.clear();
        }
        has_room
    }

    async fn read_new_facts(&mut self) -> Result<Vec<EventFact>, StoreError> {
        let now_ms = self.sources.guard.now().ms();
        let changes = changes_after(&self.sources.databases, self.changes.settled()).await?;
        let happened = events_after(&self.sources.databases, self.events.settled()).await?;
        let of_changes = changes.iter().map(|change| change.change.service);
        let of_results = self.results.iter().map(|result| result.service);
        let unknown: HashSet<ServiceKey> =
            of_changes.chain(of_results).filter(|service| !self.owners.contains_key(service)).collect();
        self.learn_owners(unknown).await?;
        let facts = self.facts(changes, happened);
        let received_at_ms =
            self.received_at_ms.map_or(now_ms, |received| received.max(now_ms - REMOTE_WITHIN_MS));
        self.at_ms = now_ms.min(received_at_ms);
        Ok(facts)
    }

    /// Returns all new facts, causes before their consequences.
    fn facts(&mut self, changes: Vec<NumberedChange>, happened: Vec<StoredEvent>) -> Vec<EventFact> {
        let mut facts = Vec::new();
        for change in changes {
            if self.changes.note(change.number)
                && let Some(organisation) = self.owners.get(&change.change.service)
            {
                facts.push((*organisation, self.cursor(), FactContent::Change(change)));
            }
        }
        let numbers: Vec<i64> = happened.iter().map(|event| event.number).collect();
        let new_events = happened.into_iter().filter(|event| self.events.is_new(event.number)).collect();
        for event in without_repetitions(new_events) {
            self.events.note(event.number);
            facts.push((event.organisation, self.cursor(), FactContent::Event(event)));
        }
        for number in numbers {
            self.events.note(number);
        }
        for result in std::mem::take(&mut self.results) {
            if let Some(organisation) = self.owners.get(&result.service) {
                facts.push((*organisation, self.cursor(), FactContent::Result(Arc::new(result))));
            }
        }
        let now = Instant::now();
        self.changes.advance_settled(now);
        self.events.advance_settled(now);
        facts
            .into_iter()
            .map(|(organisation, cursor, what)| EventFact { organisation, cursor, what })
            .collect()
    }

    const fn cursor(&self) -> EventCursor {
        EventCursor { change: self.changes.settled(), event: self.events.settled(), at_ms: self.at_ms }
    }

    async fn learn_owners(&mut self, unknown: HashSet<ServiceKey>) -> Result<(), MainError> {
        if unknown.is_empty() {
            return Ok(());
        }
        if self.owners.len() > OWNERS {
            self.owners.clear();
        }
        let unknown: Vec<ServiceKey> = unknown.into_iter().collect();
        self.owners.extend(services::owners(self.sources.databases.main.reader(), &unknown).await?);
        Ok(())
    }

    async fn end_expired_streams(&self, hub: &EventHub) -> Result<(), MainError> {
        let keys: Vec<i64> = hub.subscribed_tokens().iter().map(|life| life.token.key).collect();
        let valid = tokens::by_keys(self.sources.databases.main.reader(), &keys).await?;
        hub.end_invalid_tokens(&valid, self.sources.guard.judged_now().best);
        Ok(())
    }
}

async fn changes_after(databases: &Databases, number: i64) -> Result<Vec<NumberedChange>, StoreError> {
    let history = databases.history.reader();
    let read = |number| feed::after(history, number, PartitionSet::ALL, AT_ONCE);
    Ok(all_after(number, read, |change: &NumberedChange| change.number).await?)
}

async fn events_after(databases: &Databases, number: i64) -> Result<Vec<StoredEvent>, StoreError> {
    let main = databases.main.reader();
    Ok(all_after(number, |number| events::after(main, number, AT_ONCE), |event: &StoredEvent| event.number)
        .await?)
}

/// Returns every row after a number, page by page.
async fn all_after<T, E, F: Future<Output = Result<Vec<T>, E>>>(
    mut number: i64,
    read: impl Fn(i64) -> F,
    number_of: impl Fn(&T) -> i64,
) -> Result<Vec<T>, E> {
    let mut all = Vec::new();
    loop {
        let page = read(number).await?;
        let is_last = (page.len() as u64) < AT_ONCE;
        if let Some(last) = page.last() {
            number = number_of(last);
        }
        all.extend(page);
        if is_last {
            return Ok(all);
        }
    }
}

/// Merges later updates of an object into its first event of the batch, which shows the present state anyway. Services that
/// an update no longer concerns are added to that event.
#[must_use]
pub fn without_repetitions(happened: Vec<StoredEvent>) -> Vec<StoredEvent> {
    let mut stored: Vec<StoredEvent> = Vec::new();
    let mut indexes: HashMap<(EventSubjectKind, Id), usize> = HashMap::new();
    for event in happened {
        let index = indexes.get(&(event.kind, event.subject)).copied();
        match index.and_then(|index| stored.get_mut(index)) {
            Some(earlier) if event.act == EventAction::Updated => {
                earlier.through = event.number;
                earlier.former.extend(event.former);
            }
            _ => {
                indexes.insert((event.kind, event.subject), stored.len());
                stored.push(event);
            }
        }
    }
    stored
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(number: i64, act: EventAction, subject: Id, former: &[ServiceKey]) -> StoredEvent {
        let former = former.to_vec();
        let (kind, services) = (EventSubjectKind::Incident, Vec::new());
        StoredEvent { number, through: number, organisation: 1, kind, act, subject, services, former }
    }

    #[test]
    fn several_changes_of_a_resource_are_merged_into_one_event() {
        let (one, other) = (Id::random(), Id::random());
        let happened = vec![
            event(1, EventAction::Created, one, &[]),
            event(2, EventAction::Updated, other, &[7]),
            event(3, EventAction::Updated, one, &[8]),
            event(4, EventAction::Resolved, other, &[]),
            event(5, EventAction::Updated, one, &[9]),
            event(6, EventAction::Updated, other, &[10]),
        ];
        let merged = without_repetitions(happened);
        let merged = merged.iter().map(|event| (event.number, event.through, event.act, &*event.former));
        let expected: [(i64, i64, EventAction, &[ServiceKey]); 3] = [
            (1, 5, EventAction::Created, &[8, 9]),
            (2, 2, EventAction::Updated, &[7]),
            (4, 6, EventAction::Resolved, &[10]),
        ];
        assert_eq!(merged.collect::<Vec<_>>(), expected);
    }
}
