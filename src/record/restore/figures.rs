//! The rolling figures of the time before the engine started.

use std::collections::{BTreeMap, HashMap};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use crate::clock::{DAY_MS, Timestamp};
use crate::engine::Engine;
use crate::model::history::StatusChange;
use crate::model::service::ServiceKey;
use crate::model::service_window::ServiceWindow as DecidedWindow;
use crate::model::time_range::TimeRange;
use crate::record::restore::answered_checks::AnsweredChecks;
use crate::record::restore::{AT_ONCE, RestoredService, recall};
use crate::stats::rolling_stats::{DailyStats, RollingStats, WINDOW_DAYS};
use crate::stats::uptime::{cover, covers, measured, per_day};
use crate::store::history::many_changes;
use crate::store::{Databases, StoreError, windows};

/// Number of services whose rollups and status changes are read together: a few megabytes.
const SERVICES_AT_ONCE: usize = 64;

/// Computes the rolling figures of the time before the engine started, and passes them to the engine.
pub async fn restore_figures(
    databases: &Databases,
    engine: &Engine,
    restored: &[RestoredService],
) -> Result<(), StoreError> {
    let until = engine.started_at();
    let from = window_start(until);
    let keys = restored.iter().map(|service| service.key);
    let mut answered = AnsweredChecks::read(&databases.history, keys, TimeRange { from, to: until }).await?;
    for some in restored.chunks(SERVICES_AT_ONCE) {
        // May record a no-data period, so the changes are read afterwards.
        let recalled = stream::iter(some).map(|service| recall(databases, service, until));
        let recalled: Vec<RestoredService> = recalled.buffered(AT_ONCE).try_collect().await?;
        let keys = recalled.iter().map(|service| service.key).collect();
        let past = PastFigures::read(databases, &mut answered, keys, until).await?;
        for service in &recalled {
            let backed_until = service.backed_until.unwrap_or(from);
            engine.prime(service.id, service.key, &past.of(service.key, backed_until));
        }
    }
    Ok(())
}

/// Recomputes the figures of the past for services where the clock was set back or late results have filled a no-data
/// period, and passes them to the engine. Does nothing if there are no such services.
pub async fn recompute_undone(databases: &Databases, engine: &Engine) -> Result<(), StoreError> {
    let mut services = engine.undone();
    services.sort_unstable_by_key(|service| (service.until, service.key));
    for at_once in services.chunk_by(|service, next| service.until == next.until) {
        let until = at_once[0].until;
        tracing::info!(services = at_once.len(), %until, "recomputing the figures of the past");
        let span = TimeRange { from: window_start(until), to: until };
        let keys = at_once.iter().map(|service| service.key);
        let mut answered = AnsweredChecks::read(&databases.history, keys, span).await?;
        for some in at_once.chunks(SERVICES_AT_ONCE) {
            let keys = some.iter().map(|service| service.key).collect();
            let past = PastFigures::read(databases, &mut answered, keys, until).await?;
            for service in some {
                engine.replace_past(*service, &past.of(service.key, until));
            }
        }
    }
    Ok(())
}

/// Returns the start of the first of the 30 days that end with the day of `until`.
fn window_start(until: Timestamp) -> Timestamp {
    Timestamp::from_ms((until.day() - WINDOW_DAYS + 1) * DAY_MS)
}

/// The past of some services up to `until`, read for all of them with common queries.
struct PastFigures {
    until: Timestamp,
    answers: BTreeMap<ServiceKey, RollingStats>,
    /// Status changes of the span, preceded by the last one before it, by service.
    changes: HashMap<ServiceKey, Vec<StatusChange>>,
    /// Pauses, overrides and maintenances, by service and start.
    decided: Vec<DecidedWindow>,
}

impl PastFigures {
    /// Reads the past of these services, which must be in the order of their keys.
    async fn read(
        databases: &Databases,
        answered: &mut AnsweredChecks<'_>,
        services: Vec<ServiceKey>,
        until: Timestamp,
    ) -> Result<Self, StoreError> {
        let answers = answered.of(&services).await?;
        let from = window_start(until);
        let decided = windows::since(databases.main.reader(), &services, from).await?;
        let changes = many_changes::since_of(databases.history.reader(), &services, from).await?;
        Ok(Self { until, answers, changes, decided })
    }

    /// Returns the figures of one of the services. Results back its last status until `backed_until`.
    fn of(&self, service: ServiceKey, backed_until: Timestamp) -> RollingStats {
        let mut window = self.answers.get(&service).cloned().unwrap_or_default();
        window.merge(&self.availability(service, backed_until));
        window
    }

    fn availability(&self, service: ServiceKey, backed_until: Timestamp) -> RollingStats {
        let span = TimeRange { from: window_start(self.until), to: self.until };
        let changes = self.changes.get(&service).map_or(&[][..], Vec::as_slice);
        let spans = measured(changes, backed_until, span);
        let spans = cover(&spans, &covers(self.decided_on(service), self.until));
        let mut window = RollingStats::default();
        for (day, availability) in per_day(&spans) {
            if !availability.is_empty() {
                window.add(day, DailyStats { availability, ..DailyStats::default() });
            }
        }
        window
    }

    fn decided_on(&self, service: ServiceKey) -> &[DecidedWindow] {
        let begin = self.decided.partition_point(|window| window.service < service);
        let end = self.decided.partition_point(|window| window.service <= service);
        &self.decided[begin..end]
    }
}
