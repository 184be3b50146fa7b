//! Reads the wall clock every second, so that a jump is noticed when it happens, and stores the newest trusted time in the
//! main database for the next start. The decision is made by `clock::judgement`.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior};

use crate::clock::Clock;
use crate::clock::guard::ClockGuard;
use crate::clock::judgement::ClockMark;
use crate::store::history::{recent, segments};
use crate::store::{Databases, MainError, StoreError, clock_mark};
use crate::telemetry::{Exposition, MetricCollector};

/// The time between two readings of the clock.
const CHECK_EVERY: Duration = Duration::from_secs(1);
/// The interval between two writes of the newest time, unless the judgement changes.
const KEEP_EVERY: Duration = Duration::from_secs(60);

/// Creates the guard of this clock from the times in the databases. With `operator_trusts` the clock is trusted without
/// them.
pub async fn guard(
    databases: &Databases,
    clock: &Clock,
    operator_trusts: bool,
) -> Result<Arc<ClockGuard>, StoreError> {
    let mark = if operator_trusts { None } else { load_mark(databases).await? };
    Ok(Arc::new(ClockGuard::new(clock.clone(), mark.as_ref())))
}

/// Returns the stored time, or, for databases of an earlier version, the newest time of the history.
async fn load_mark(databases: &Databases) -> Result<Option<ClockMark>, StoreError> {
    if let Some(mark) = clock_mark::find(databases.main.reader()).await? {
        return Ok(Some(mark));
    }
    if !databases.history.is_prepared() {
        return Ok(None);
    }
    let reader = databases.history.reader();
    let sealed = segments::visible(reader).await?.iter().map(|segment| segment.purpose.from).max();
    let newest = recent::last_fresh(reader).await?.max(sealed);
    Ok(newest.map(|newest| ClockMark { newest, doubted: None }))
}

/// Reads the clock and stores the newest time until the future is dropped.
pub async fn run(databases: Databases, guard: Arc<ClockGuard>) {
    let mut ticks = tokio::time::interval(CHECK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut last: Option<(Instant, bool)> = None;
    loop {
        ticks.tick().await;
        let mark = guard.mark();
        let is_doubted = mark.doubted.is_some();
        let is_due =
            last.is_none_or(|(at, was_doubted)| at.elapsed() >= KEEP_EVERY || was_doubted != is_doubted);
        if !is_due {
            continue;
        }
        if let Err(error) = keep(&databases, mark).await {
            tracing::warn!(%error, "cannot store the newest wall time; retrying");
        }
        last = Some((Instant::now(), is_doubted));
    }
}

/// Stores the newest mark of the clock.
pub async fn keep(databases: &Databases, mark: ClockMark) -> Result<(), MainError> {
    let transaction = databases.main.begin().await?;
    clock_mark::put(&transaction, mark).await?;
    transaction.commit().await
}

/// The metrics of the clock for `/metrics`.
#[derive(Debug)]
pub struct ClockMetrics(pub Arc<ClockGuard>);

impl MetricCollector for ClockMetrics {
    fn collect(&self, out: &mut Exposition) {
        let state = self.0.state();
        out.gauge(
            "clock_trusted",
            "Whether the wall clock is trusted; nothing ends by its age while it is not.",
        )
        .value(u8::from(state.doubt.is_none()));
        out.gauge("clock_ahead_seconds", "Seconds by which the wall clock is ahead of the expected time.")
            .value(state.now.ms_since(state.expected) / 1_000);
        out.gauge("clock_trusted_in_seconds", "Steady seconds after which a doubted clock is trusted again.")
            .value(state.doubt.map_or(0, |doubt| doubt.trusted_in.as_secs()));
    }
}
