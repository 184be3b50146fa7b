//! Turns no-data periods into measured time once late results that cover them are stored.
//!
//! Many late results arrive at once when a location reconnects. So the periods of a service are filled once no
//! more results arrive, or after a limited time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, interval};

use crate::clock::{Clock, Timestamp};
use crate::engine::Engine;
use crate::model::history::CheckRecord;
use crate::model::location::LocationCode;
use crate::model::service::{ServiceAddress, ServiceKey};
use crate::model::time_range::TimeRange;
use crate::record::gap_filling::{self, LateResults};
use crate::remote::assignments::AssignmentRegistry;
use crate::store::history::History;

/// A result is late if it is stored more than this many milliseconds after it was measured.
const LATE_MS: i64 = 10_000;
/// The poll interval.
const EVERY: Duration = Duration::from_secs(1);
/// The periods of a service are filled once no late result has arrived for this long.
const QUIET: Duration = Duration::from_secs(3);
/// The periods of a service are filled at most this long after the first late result.
const LONGEST: Duration = Duration::from_secs(30);

/// The services with late results. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct LateResultSpans(Arc<Mutex<HashMap<ServiceKey, LateResultSpan>>>);

/// The period from which late results of a service came, and when they arrived.
#[derive(Clone, Debug)]
struct LateResultSpan {
    location: LocationCode,
    span: TimeRange,
    first_at: Instant,
    last_at: Instant,
}

impl LateResultSpans {
    /// Records the late results among these stored ones.
    pub fn note(&self, records: &[CheckRecord], now: Timestamp) {
        let late = records.iter().filter(|record| now.ms_since(record.checked_at) > LATE_MS);
        for CheckRecord { service, location, checked_at, .. } in late {
            let span = TimeRange { from: *checked_at, to: checked_at.plus_ms(1) };
            let at = Instant::now();
            self.put(
                *service,
                &LateResultSpan { location: location.clone(), span, first_at: at, last_at: at },
            );
        }
    }

    fn put(&self, service: ServiceKey, mark: &LateResultSpan) {
        let mut marks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = marks.entry(service).or_insert_with(|| mark.clone());
        known.span.from = known.span.from.min(mark.span.from);
        known.span.to = known.span.to.max(mark.span.to);
        known.last_at = mark.last_at;
    }

    /// Takes the services that have waited long enough.
    fn take(&self) -> Vec<(ServiceKey, LateResultSpan)> {
        let mut marks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due =
            |mark: &LateResultSpan| mark.last_at.elapsed() >= QUIET || mark.first_at.elapsed() >= LONGEST;
        marks.extract_if(|_, mark| is_due(mark)).collect()
    }
}

/// Fills no-data periods. Cheap to clone.
#[derive(Clone, Debug)]
pub struct GapFiller {
    /// Services with late results.
    pub marks: LateResultSpans,
    /// The assignments, with the intervals of checks.
    pub assignments: Arc<AssignmentRegistry>,
    /// The history with the no-data periods.
    pub history: History,
    /// The engine with the current figures.
    pub engine: Engine,
    /// Source of the wall time.
    pub clock: Clock,
}

impl GapFiller {
    /// Fills no-data periods until the future is dropped.
    pub async fn run(self) {
        let mut ticks = interval(EVERY);
        loop {
            ticks.tick().await;
            for (service, mark) in self.marks.take() {
                self.fill(service, mark).await;
            }
        }
    }

    /// Fills the no-data periods of a service; a service that is no longer assigned is skipped.
    async fn fill(&self, service: ServiceKey, mark: LateResultSpan) {
        let Some(of_location) = self.assignments.of(&mark.location) else { return };
        let assigned = of_location.read().unwrap_or_else(PoisonError::into_inner).get(service).copied();
        let Some(assigned) = assigned else { return };
        let late = LateResults { service, interval_ms: assigned.interval_ms, span: mark.span };
        match gap_filling::fill(&self.history, late, self.clock.now()).await {
            Ok(true) => self.engine.past_changed(ServiceAddress { id: assigned.id, key: service }),
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(service = %assigned.id, %error, "cannot fill a no-data period; retrying");
                self.marks.put(service, &mark);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::check::{ErrorCode, Measurement, PhaseTimings};
    use crate::model::service::ProbeRole;

    fn record(service: ServiceKey, at: i64) -> CheckRecord {
        CheckRecord {
            service,
            location: "fra".parse().unwrap(),
            role: ProbeRole::Full,
            scheduled_at: Timestamp::from_ms(at),
            checked_at: Timestamp::from_ms(at),
            attempt: 1,
            measurement: Measurement::unanswered(ErrorCode::ALL[0], "", PhaseTimings::default()),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_gap_is_filled_after_a_quiet_time_or_a_maximum_wait() {
        let (marks, now) = (LateResultSpans::default(), Timestamp::from_ms(1_000_000));
        marks.note(&[record(1, 100_000), record(1, 60_000), record(2, 999_000)], now);
        assert!(marks.take().is_empty(), "more may come");
        tokio::time::sleep(QUIET).await;
        let taken = marks.take();
        assert_eq!(taken.len(), 1, "what was in time is not late");
        assert_eq!((taken[0].1.span.from.ms(), taken[0].1.span.to.ms()), (60_000, 100_001));
        for _ in 0..15 {
            assert!(marks.take().is_empty());
            marks.note(&[record(1, 100_000)], now);
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
        assert_eq!(marks.take().len(), 1);
    }
}
