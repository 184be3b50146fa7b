//! Numbers and response times of the answered checks of each day, from rollups of sealed checks and sums of fresh checks.
//!
//! One view of the history serves all requested services: fresh results are summed up by the database in one query,
//! and sealed ones are read for many services at a time.

use std::collections::{BTreeMap, BTreeSet};

use crate::clock::DAY_MS;
use crate::model::service::ServiceKey;
use crate::model::time_range::TimeRange;
use crate::stats::rolling_stats::{DailyStats, RollingStats};
use crate::stats::rollup::{self, RollupQuery, RollupRoot};
use crate::store::HistoryError;
use crate::store::history::History;
use crate::store::history::days::{self, DayAnswers};
use crate::store::history::figure_parts::{FigureParts, ResultScope, SegmentView};
use crate::store::history::fresh_checks::bucket_of;
use crate::store::history::sealed::damaged_rollup;

/// Maximum number of attempts to read, because a read is repeated when segments were dropped meanwhile.
const ATTEMPTS: u32 = 3;

/// A view of the history, and the fresh answers in it of all services of some buckets.
#[derive(Debug)]
pub(super) struct AnsweredChecks<'a> {
    history: &'a History,
    /// The buckets of the requested services.
    buckets: Vec<i16>,
    span: TimeRange,
    view: SegmentView,
    fresh: Vec<DayAnswers>,
}

impl<'a> AnsweredChecks<'a> {
    /// Reads the answers of these services in a span, as the history is now.
    pub(super) async fn read(
        history: &'a History,
        services: impl Iterator<Item = ServiceKey>,
        span: TimeRange,
    ) -> Result<Self, HistoryError> {
        let buckets: BTreeSet<i16> = services.map(bucket_of).collect();
        Self::read_buckets(history, buckets.into_iter().collect(), span).await
    }

    async fn read_buckets(
        history: &'a History,
        buckets: Vec<i16>,
        span: TimeRange,
    ) -> Result<Self, HistoryError> {
        let snapshot = history.snapshot().await?;
        let fresh = days::fresh(&snapshot.rows, &buckets, span).await?;
        Ok(Self { history, buckets, span, view: SegmentView::of(snapshot).await?, fresh })
    }

    /// Returns the answers of some of the services, as figures of days.
    pub(super) async fn of(
        &mut self,
        services: &[ServiceKey],
    ) -> Result<BTreeMap<ServiceKey, RollingStats>, HistoryError> {
        let mut attempt = 1;
        loop {
            match self.windows(services).await {
                Ok(windows) => return Ok(windows),
                Err(error) if attempt == ATTEMPTS || !self.view.is_outdated(self.history).await? => {
                    return Err(error);
                }
                Err(_) => {
                    *self = Self::read_buckets(self.history, self.buckets.clone(), self.span).await?;
                    attempt += 1;
                }
            }
        }
    }

    async fn windows(
        &self,
        services: &[ServiceKey],
    ) -> Result<BTreeMap<ServiceKey, RollingStats>, HistoryError> {
        let TimeRange { from, to } = self.span;
        let wanted = RollupQuery { from, to, bucket_ms: Some(DAY_MS) };
        let slivers = |level, start| wanted.slivers(level, start).iter().collect();
        let scope = ResultScope { span: self.span, locations: None, slivers: &slivers };
        let mut windows = BTreeMap::new();
        for (service, parts) in self.view.sealed(services, &scope).await? {
            windows.insert(service, window(&wanted, &parts)?);
        }
        for service in services {
            let begin = self.fresh.partition_point(|answers| answers.service < *service);
            for answers in self.fresh[begin..].iter().take_while(|answers| answers.service == *service) {
                let window: &mut RollingStats = windows.entry(*service).or_default();
                let sum_us = u64::try_from(answers.sum_us).unwrap_or_default();
                add(window, answers.day, u64::try_from(answers.answered).unwrap_or_default(), sum_us);
            }
        }
        Ok(windows)
    }
}

/// Returns the sums per day; percentiles are not needed here.
fn window(wanted: &RollupQuery, parts: &FigureParts) -> Result<RollingStats, HistoryError> {
    let mut window = RollingStats::default();
    for (level, rollup) in &parts.rollups {
        let root = RollupRoot { level: *level, start: rollup.start };
        let covered = rollup::cover(root, &rollup.body, wanted, &mut |start, node| {
            if let Some(times) = node.times.summary {
                add(&mut window, start.day(), times.count, times.sum_us);
            }
        });
        covered.map_err(|error| damaged_rollup(rollup, &error))?;
    }
    for sample in &parts.samples {
        if let Some(response_us) = sample.response_us {
            add(&mut window, sample.checked_at.day(), 1, u64::from(response_us));
        }
    }
    Ok(window)
}

fn add(window: &mut RollingStats, day: i64, answered: u64, sum_us: u64) {
    let answered = u32::try_from(answered).unwrap_or(u32::MAX);
    window.add(day, DailyStats { answered, sum_us, ..DailyStats::default() });
}
