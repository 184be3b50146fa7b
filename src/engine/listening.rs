//! The times in which this process listened for pings, and its absences: the times in which it could not
//! receive any.
//!
//! One per engine. The app reports when pings are accepted, refused or lost, and ticks every second; actors ask which absences
//! overlap the deadline of their service. All decisions are made by `model::heartbeat`. An engine that receives no reports
//! counts as always listening.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{PoisonError, RwLock};

use crate::clock::{Clock, Timestamp};
use crate::model::listening_gap::ListeningGap;
use crate::model::partition::{Partition, PartitionSet};
use crate::model::service::ServiceKey;

const ABSENCES_MAX: usize = 64;
/// A tick that comes later than this after the previous one means that the process stood still, in
/// milliseconds.
const STANDSTILL_MS: i64 = 5_000;
/// Pings that are lost within this time of each other are one absence, in milliseconds.
const LOST_TOGETHER_MS: i64 = 10_000;

/// The times in which this process listens for pings.
#[derive(Debug)]
pub struct ListeningTracker {
    clock: Clock,
    state: RwLock<ListeningState>,
}

/// Listening state. Times are milliseconds of monotonic time, so that setting the wall clock moves none of them.
#[derive(Debug, Default)]
struct ListeningState {
    /// Absences of this process, oldest first.
    absences: VecDeque<AbsenceSpan>,
    /// Absences of partitions before this node took them.
    before: BTreeMap<Partition, Vec<AbsenceSpan>>,
    /// Start of the current absence.
    away_since: Option<i64>,
    /// Start of the current period in which the wall clock is not trusted.
    doubted_since: Option<i64>,
    ticked_at: Option<i64>,
    /// Services with too many consecutive no-data periods.
    unheard: BTreeSet<ServiceKey>,
}

#[derive(Clone, Copy, Debug)]
struct AbsenceSpan {
    from: i64,
    to: i64,
    is_doubt: bool,
}

/// Monotonic and wall time at one moment.
#[derive(Clone, Copy)]
struct ClockPair {
    wall: Timestamp,
    steady: i64,
}

impl ClockPair {
    fn wall_of(self, steady: i64) -> Timestamp {
        self.wall.plus_ms(steady - self.steady)
    }

    fn steady_of(self, wall: Timestamp) -> i64 {
        self.steady + wall.ms_since(self.wall)
    }

    fn absence(self, span: AbsenceSpan) -> ListeningGap {
        let AbsenceSpan { from, to, is_doubt } = span;
        ListeningGap { from: self.wall_of(from), to: self.wall_of(to), is_doubt }
    }

    fn span(self, absence: ListeningGap) -> AbsenceSpan {
        let ListeningGap { from, to, is_doubt } = absence;
        AbsenceSpan { from: self.steady_of(from), to: self.steady_of(to), is_doubt }
    }
}

impl ListeningState {
    fn add(&mut self, span: AbsenceSpan) {
        self.absences.push_back(span);
        if self.absences.len() > ABSENCES_MAX {
            self.absences.pop_front();
        }
    }

    /// Returns the absences that have not ended at `now`.
    fn present(&self, now: i64) -> impl Iterator<Item = AbsenceSpan> + use<> {
        let until_now = |from: i64, is_doubt: bool| AbsenceSpan { from, to: now, is_doubt };
        let stood_still = self.ticked_at.filter(|ticked_at| now - ticked_at > STANDSTILL_MS);
        let away = self.away_since.into_iter().chain(stood_still).min();
        let away = away.map(|from| until_now(from, false));
        away.into_iter().chain(self.doubted_since.map(|from| until_now(from, true)))
    }
}

impl ListeningTracker {
    pub(super) fn new(clock: Clock) -> Self {
        Self { clock, state: RwLock::default() }
    }

    /// Sets the absences known from before this process, which does not listen yet.
    pub fn begin(&self, before: &[ListeningGap]) {
        let now = self.now();
        let mut state = self.write();
        before.iter().for_each(|absence| state.add(now.span(*absence)));
        // The last absence has not ended yet.
        let last = state.absences.pop_back();
        state.away_since = Some(last.map_or(now.steady, |last| last.from.min(now.steady)));
    }

    /// Records that pings are accepted from now on.
    pub fn open(&self) {
        let now = self.now();
        let mut state = self.write();
        if let Some(from) = state.away_since.take() {
            state.add(AbsenceSpan { from, to: now.steady, is_doubt: false });
        }
    }

    /// Records that pings are refused from now on, because the process is about to end. Returns the listening
    /// period that ends.
    pub fn close(&self) -> Option<(Timestamp, Timestamp)> {
        let (now, stretch) = (self.now(), self.stretch());
        self.write().away_since.get_or_insert(now.steady);
        stretch
    }

    /// Records that the process runs. A late tick means that it stood still.
    pub fn tick(&self) {
        let now = self.now().steady;
        let mut state = self.write();
        if let Some(from) = state.ticked_at.filter(|ticked_at| now - ticked_at > STANDSTILL_MS) {
            state.add(AbsenceSpan { from, to: now, is_doubt: false });
        }
        state.ticked_at = Some(now);
    }

    /// Records whether the wall clock is trusted.
    pub fn note_trust(&self, is_trusted: bool) {
        let now = self.now().steady;
        let mut state = self.write();
        if !is_trusted {
            state.doubted_since.get_or_insert(now);
        } else if let Some(from) = state.doubted_since.take() {
            state.add(AbsenceSpan { from, to: now, is_doubt: true });
        }
    }

    /// Records that a ping could not be stored: the database is unavailable.
    pub fn note_lost(&self) {
        let now = self.now().steady;
        let mut state = self.write();
        match state.absences.back_mut() {
            Some(last) if !last.is_doubt && now - last.to <= LOST_TOGETHER_MS => {
                last.to = last.to.max(now + 1);
            }
            _ => state.add(AbsenceSpan { from: now, to: now + 1, is_doubt: false }),
        }
    }

    /// Records that this node has taken a partition; `before` are the absences for its services.
    pub fn note_taken(&self, partition: Partition, before: &[ListeningGap]) {
        let now = self.now();
        let newest = before.iter().skip(before.len().saturating_sub(ABSENCES_MAX));
        let spans = newest.map(|absence| now.span(*absence)).collect();
        self.write().before.insert(partition, spans);
    }

    /// Records that these partitions have moved to other nodes.
    pub fn note_released(&self, partitions: PartitionSet) {
        let mut state = self.write();
        state.before.retain(|partition, _| !partitions.contains(*partition));
        state.unheard.retain(|service| !partitions.contains(Partition::of(*service)));
    }

    /// Returns the absences that affect a service, converted to the current wall time.
    #[must_use]
    pub fn absences(&self, service: ServiceKey) -> Vec<ListeningGap> {
        let now = self.now();
        let state = self.read();
        let before = state.before.get(&Partition::of(service)).into_iter().flatten().copied();
        let known = before.chain(state.absences.iter().copied()).chain(state.present(now.steady));
        known.map(|span| now.absence(span)).collect()
    }

    /// Returns the current period of listening, up to now; `None` while this process does not listen.
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

    /// Records whether a service has too many consecutive no-data periods.
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

    /// Returns the services with too many consecutive no-data periods.
    #[must_use]
    pub fn unheard(&self) -> Vec<ServiceKey> {
        self.read().unheard.iter().copied().collect()
    }

    fn now(&self) -> ClockPair {
        let steady = i64::try_from(self.clock.steady().as_millis()).unwrap_or(i64::MAX);
        ClockPair { wall: self.clock.now(), steady }
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, ListeningState> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, ListeningState> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}
