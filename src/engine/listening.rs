//! Whether this process listens for pings: since when, and when it did not.
//!
//! One for an engine. The app says when pings are accepted, refused or lost, and ticks every second; actors ask which absences
//! the deadline of their service has met. Nothing is decided here: that does `model::heartbeat`. An engine that nobody tells
//! anything listens always.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{PoisonError, RwLock};

use crate::clock::{Clock, Timestamp};
use crate::model::absence::Absence;
use crate::model::partition::{Partition, Partitions};
use crate::model::service::ServiceKey;

/// Absences that are remembered.
const ABSENCES_MAX: usize = 64;
/// A tick that comes later than this after the one before says that the process stood still, in milliseconds.
const STANDSTILL_MS: i64 = 5_000;
/// Pings that are lost within this time of each other are one absence, in milliseconds.
const LOST_TOGETHER_MS: i64 = 10_000;

/// The times in which this process listens for pings.
#[derive(Debug)]
pub struct Listening {
    clock: Clock,
    state: RwLock<State>,
}

/// Moments are milliseconds of steady time, so that setting the wall clock moves none of them.
#[derive(Debug, Default)]
struct State {
    /// Oldest first.
    absences: VecDeque<Span>,
    /// Those of partitions before this node took them.
    before: BTreeMap<Partition, Vec<Span>>,
    /// The begin of the present absence.
    away_since: Option<i64>,
    /// The begin of the present doubt about the wall clock.
    doubted_since: Option<i64>,
    /// The last tick.
    ticked_at: Option<i64>,
    /// Services of which too many periods in a row were no data.
    unheard: BTreeSet<ServiceKey>,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    from: i64,
    to: i64,
    is_doubt: bool,
}

/// Both clocks at one moment.
#[derive(Clone, Copy)]
struct Moment {
    wall: Timestamp,
    steady: i64,
}

impl Moment {
    fn wall_of(self, steady: i64) -> Timestamp {
        self.wall.plus_ms(steady - self.steady)
    }

    fn steady_of(self, wall: Timestamp) -> i64 {
        self.steady + wall.ms_since(self.wall)
    }

    fn absence(self, span: Span) -> Absence {
        let Span { from, to, is_doubt } = span;
        Absence { from: self.wall_of(from), to: self.wall_of(to), is_doubt }
    }

    fn span(self, absence: Absence) -> Span {
        let Absence { from, to, is_doubt } = absence;
        Span { from: self.steady_of(from), to: self.steady_of(to), is_doubt }
    }
}

impl State {
    fn add(&mut self, span: Span) {
        self.absences.push_back(span);
        if self.absences.len() > ABSENCES_MAX {
            self.absences.pop_front();
        }
    }

    /// Returns the absences that go on at this moment.
    fn present(&self, now: i64) -> impl Iterator<Item = Span> + use<> {
        let until_now = |from: i64, is_doubt: bool| Span { from, to: now, is_doubt };
        let stood_still = self.ticked_at.filter(|ticked_at| now - ticked_at > STANDSTILL_MS);
        let away = self.away_since.into_iter().chain(stood_still).min();
        let away = away.map(|from| until_now(from, false));
        away.into_iter().chain(self.doubted_since.map(|from| until_now(from, true)))
    }
}

impl Listening {
    pub(super) fn new(clock: Clock) -> Self {
        Self { clock, state: RwLock::default() }
    }

    /// Takes in what is known of the time before this process, which does not listen yet.
    pub fn begin(&self, before: &[Absence]) {
        let now = self.now();
        let mut state = self.write();
        before.iter().for_each(|absence| state.add(now.span(*absence)));
        // The last of them goes on.
        let last = state.absences.pop_back();
        state.away_since = Some(last.map_or(now.steady, |last| last.from.min(now.steady)));
    }

    /// Pings are accepted from now on.
    pub fn open(&self) {
        let now = self.now();
        let mut state = self.write();
        if let Some(from) = state.away_since.take() {
            state.add(Span { from, to: now.steady, is_doubt: false });
        }
    }

    /// Pings are refused from now on: the process is about to end. Returns the stretch of listening that ends.
    pub fn close(&self) -> Option<(Timestamp, Timestamp)> {
        let (now, stretch) = (self.now(), self.stretch());
        self.write().away_since.get_or_insert(now.steady);
        stretch
    }

    /// The process lives. A tick that is late says that it stood still.
    pub fn tick(&self) {
        let now = self.now().steady;
        let mut state = self.write();
        if let Some(from) = state.ticked_at.filter(|ticked_at| now - ticked_at > STANDSTILL_MS) {
            state.add(Span { from, to: now, is_doubt: false });
        }
        state.ticked_at = Some(now);
    }

    /// Takes in whether the wall clock is trusted.
    pub fn note_trust(&self, is_trusted: bool) {
        let now = self.now().steady;
        let mut state = self.write();
        if !is_trusted {
            state.doubted_since.get_or_insert(now);
        } else if let Some(from) = state.doubted_since.take() {
            state.add(Span { from, to: now, is_doubt: true });
        }
    }

    /// A ping could not be taken: the database is away.
    pub fn note_lost(&self) {
        let now = self.now().steady;
        let mut state = self.write();
        match state.absences.back_mut() {
            Some(last) if !last.is_doubt && now - last.to <= LOST_TOGETHER_MS => {
                last.to = last.to.max(now + 1);
            }
            _ => state.add(Span { from: now, to: now + 1, is_doubt: false }),
        }
    }

    /// This node has taken a partition; these are the times in which nobody listened for its services.
    pub fn note_taken(&self, partition: Partition, before: &[Absence]) {
        let now = self.now();
        let newest = before.iter().skip(before.len().saturating_sub(ABSENCES_MAX));
        let spans = newest.map(|absence| now.span(*absence)).collect();
        self.write().before.insert(partition, spans);
    }

    /// These partitions have gone to other nodes.
    pub fn note_released(&self, partitions: Partitions) {
        let mut state = self.write();
        state.before.retain(|partition, _| !partitions.contains(*partition));
        state.unheard.retain(|service| !partitions.contains(Partition::of(*service)));
    }

    /// The times in which nobody listened for a service, as the wall clock shows them now.
    #[must_use]
    pub fn absences(&self, service: ServiceKey) -> Vec<Absence> {
        let now = self.now();
        let state = self.read();
        let before = state.before.get(&Partition::of(service)).into_iter().flatten().copied();
        let known = before.chain(state.absences.iter().copied()).chain(state.present(now.steady));
        known.map(|span| now.absence(span)).collect()
    }

    /// The stretch of time until now in which this process has listened; `None` while it does not.
    #[must_use]
    pub fn stretch(&self) -> Option<(Timestamp, Timestamp)> {
        let now = self.now();
        let state = self.read();
        if state.present(now.steady).next().is_some() {
            return None;
        }
        let from = state.absences.iter().map(|span| span.to).max()?;
        Some((now.wall_of(from.min(now.steady)), now.wall))
    }

    /// Takes note of a service of which too many periods in a row were no data, or no longer.
    pub(super) fn note_unheard(&self, service: ServiceKey, is_unheard: bool) {
        if self.read().unheard.contains(&service) == is_unheard {
            return;
        }
        let mut state = self.write();
        if is_unheard {
            state.unheard.insert(service);
        } else {
            state.unheard.remove(&service);
        }
    }

    /// The services of which too many periods in a row were no data.
    #[must_use]
    pub fn unheard(&self) -> Vec<ServiceKey> {
        self.read().unheard.iter().copied().collect()
    }

    fn now(&self) -> Moment {
        let steady = i64::try_from(self.clock.steady().as_millis()).unwrap_or(i64::MAX);
        Moment { wall: self.clock.now(), steady }
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}
