//! The rolling figures of the time before the engine started.

use std::collections::BTreeMap;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use crate::clock::{DAY_MS, Timestamp};
use crate::engine::Engine;
use crate::model::service::ServiceKey;
use crate::model::service_window::ServiceWindow as DecidedWindow;
use crate::model::time_range::TimeRange;
use crate::record::restore::answered_checks::AnsweredChecks;
use crate::record::restore::{AT_ONCE, RestoredService, recall};
use crate::stats::rolling_stats::{DailyStats, RollingStats, WINDOW_DAYS};
use crate::stats::uptime::{cover, covers, measured, per_day};
use crate::store::history::changes;
use crate::store::{Databases, StoreError, windows};

/// Number of services recomputed at the same time; small, because others need connections of PostgreSQL meanwhile.
const UNDONE_AT_ONCE: usize = 4;
/// Number of services whose rollups are read in one query: a few megabytes.
const SERVICES_AT_ONCE: usize = 32;

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
        let keys = some.iter().map(|service| service.key).collect();
        let past = PastFigures::read(databases, &mut answered, keys, until).await?;
        let given = stream::iter(some).map(|service| async {
            let service = recall(databases, service, until).await?;
            let backed_until = service.backed_until.unwrap_or(from);
            engine.prime(service.id, service.key, &past.of(service.key, backed_until).await?);
            Ok::<(), StoreError>(())
        });
        given.buffer_unordered(AT_ONCE).try_collect::<()>().await?;
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
            let given = stream::iter(some).map(|service| async {
                engine.replace_past(*service, &past.of(service.key, until).await?);
                Ok::<(), StoreError>(())
            });
            given.buffer_unordered(UNDONE_AT_ONCE).try_collect::<()>().await?;
        }
    }
    Ok(())
}

/// Returns the start of the first of the 30 days that end with the day of `until`.
fn window_start(until: Timestamp) -> Timestamp {
    Timestamp::from_ms((until.day() - WINDOW_DAYS + 1) * DAY_MS)
}

/// The past of some services up to `until`, read for all of them with common queries.
struct PastFigures<'a> {
    databases: &'a Databases,
    until: Timestamp,
    answers: BTreeMap<ServiceKey, RollingStats>,
    /// Pauses, overrides and maintenances, by service and start.
    decided: Vec<DecidedWindow>,
}

impl<'a> PastFigures<'a> {
    /// Reads the past of these services, which must be in the order of their keys.
    async fn read(
        databases: &'a Databases,
        answered: &mut AnsweredChecks<'_>,
        services: Vec<ServiceKey>,
        until: Timestamp,
    ) -> Result<Self, StoreError> {
        let answers = answered.of(&services).await?;
        let decided = windows::since(databases.main.reader(), &services, window_start(until)).await?;
        Ok(Self { databases, until, answers, decided })
    }

    /// Returns the figures of one of the services. Results back its last status until `backed_until`.
    async fn of(&self, service: ServiceKey, backed_until: Timestamp) -> Result<RollingStats, StoreError> {
        let mut window = self.answers.get(&service).cloned().unwrap_or_default();
        window.merge(&self.availability(service, backed_until).await?);
        Ok(window)
    }

    async fn availability(
        &self,
        service: ServiceKey,
        backed_until: Timestamp,
    ) -> Result<RollingStats, StoreError> {
        let Self { databases, until, .. } = *self;
        let from = window_start(until);
        let changes = changes::since(databases.history.reader(), service, from).await?;
        let spans = measured(&changes, backed_until, TimeRange { from, to: until });
        let spans = cover(&spans, &covers(self.decided_on(service), until));
        let mut window = RollingStats::default();
        for (day, availability) in per_day(&spans) {
            if !availability.is_empty() {
                window.add(day, DailyStats { availability, ..DailyStats::default() });
            }
        }
        Ok(window)
    }

    fn decided_on(&self, service: ServiceKey) -> &[DecidedWindow] {
        let begin = self.decided.partition_point(|window| window.service < service);
        let end = self.decided.partition_point(|window| window.service <= service);
        &self.decided[begin..end]
    }
}
