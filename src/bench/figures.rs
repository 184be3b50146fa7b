//! Figures of a measurement window: differences of counts, and values derived from them.

use std::time::Duration;

use tokio::time::Instant;

use crate::bench::floor::FloorCosts;
use crate::bench::kind::BenchKind;
use crate::bench::plan::ProbeBenchPlan;

/// A check that starts within this time of being due is on time.
pub(super) const ON_TIME_MS: u64 = 250;

#[derive(Clone, Copy, Debug)]
pub(super) struct PipelineCounts {
    pub(super) at: Instant,
    pub(super) cpu: Duration,
    pub(super) finished: u64,
    /// Finished checks that found their target up.
    pub(super) up: u64,
    /// Attempts that could not be made, and skipped runs.
    pub(super) shed: u64,
    pub(super) durable: u64,
}

/// Delays of the starts of checks, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct LatenessFigures {
    pub(super) p50_us: u64,
    pub(super) p99_us: u64,
    pub(super) max_us: u64,
    /// Number of checks that started within [`ON_TIME_MS`].
    pub(super) on_time: u64,
}

/// Memory of this process, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemoryFigures {
    pub(super) resident_bytes: Option<u64>,
    /// Growth since before the services were added; `None` when memory of an earlier kind was reused.
    pub(super) per_service_bytes: Option<u64>,
}

#[derive(Clone, Debug)]
pub(super) struct ProbeFigures {
    pub(super) kind: BenchKind,
    pub(super) elapsed: Duration,
    pub(super) expected: f64,
    pub(super) finished: u64,
    pub(super) up: u64,
    pub(super) shed: u64,
    pub(super) durable: u64,
    pub(super) cpu: Duration,
    pub(super) lateness: LatenessFigures,
    pub(super) memory: MemoryFigures,
    /// Bytes of the database per stored result; `None` for a database that this run does not own.
    pub(super) stored_bytes: Option<f64>,
    pub(super) floors: Option<FloorCosts>,
}

impl ProbeFigures {
    /// Computes the figures of the window between two moments; the caller fills in memory, storage and floor.
    pub(super) fn between(
        kind: BenchKind,
        plan: &ProbeBenchPlan,
        before: PipelineCounts,
        after: PipelineCounts,
        lateness: LatenessFigures,
    ) -> Self {
        let elapsed = after.at - before.at;
        Self {
            kind,
            elapsed,
            expected: plan.due_in(elapsed.as_secs_f64()),
            finished: after.finished - before.finished,
            up: after.up - before.up,
            shed: after.shed - before.shed,
            durable: after.durable - before.durable,
            cpu: after.cpu.saturating_sub(before.cpu),
            lateness,
            memory: MemoryFigures { resident_bytes: None, per_service_bytes: None },
            stored_bytes: None,
            floors: None,
        }
    }

    pub(super) fn checks_per_second(&self) -> f64 {
        self.finished as f64 / self.elapsed.as_secs_f64()
    }

    /// Returns the finished checks in percent of those due.
    pub(super) fn done_pct(&self) -> f64 {
        100.0 * self.finished as f64 / self.expected
    }

    /// Returns the checks that started on time in percent of those due.
    pub(super) fn on_time_pct(&self) -> f64 {
        100.0 * self.lateness.on_time as f64 / self.expected
    }

    /// Returns the checks that found their target up, in percent of those finished; `None` if none finished.
    pub(super) fn up_pct(&self) -> Option<f64> {
        (self.finished > 0).then(|| 100.0 * self.up as f64 / self.finished as f64)
    }

    /// Returns the CPU time per exchange with a target in microseconds, including all work; `None` if no check finished.
    pub(super) fn cpu_us(&self) -> Option<f64> {
        let exchanges = self.finished * u64::from(self.kind.exchanges());
        (exchanges > 0).then(|| self.cpu.as_secs_f64() * 1e6 / exchanges as f64)
    }

    /// Returns the CPU time of the bare exchange at the pace of the checks, in microseconds.
    pub(super) fn paced_us(&self) -> Option<f64> {
        self.floors.as_ref()?.paced.cpu_us()
    }

    /// Returns the CPU time of the bare exchange at the highest rate of one thread, in microseconds.
    pub(super) fn saturated_us(&self) -> Option<f64> {
        self.floors.as_ref()?.saturated.cpu_us()
    }

    /// Returns the CPU time of an exchange as a multiple of the paced floor.
    pub(super) fn ratio(&self) -> Option<f64> {
        Some(self.cpu_us()? / self.paced_us()?)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::bench::floor::ExchangeCost;

    fn floors(failed: u64) -> Option<FloorCosts> {
        let floor = |cpu_ms| ExchangeCost { exchanges: 1_000, failed, cpu: Duration::from_millis(cpu_ms) };
        Some(FloorCosts { paced: floor(50), saturated: floor(25) })
    }

    pub(crate) fn figures(kind: BenchKind) -> ProbeFigures {
        let at = Instant::now();
        let before =
            PipelineCounts { at, cpu: Duration::from_secs(1), finished: 10, up: 10, shed: 0, durable: 5 };
        let after = PipelineCounts {
            at: at + Duration::from_secs(10),
            cpu: Duration::from_secs(3),
            finished: 20_010,
            up: 19_010,
            shed: 3,
            durable: 20_000,
        };
        let plan = ProbeBenchPlan {
            kinds: vec![kind],
            services: 20_000,
            interval_seconds: 10,
            warmup_seconds: 10,
            seconds: 10,
            locations: 1,
            targets: Vec::new(),
            as_json: false,
        };
        let lateness = LatenessFigures { p50_us: 600, p99_us: 2_500, max_us: 31_000, on_time: 19_990 };
        ProbeFigures::between(kind, &plan, before, after, lateness)
    }

    #[test]
    fn figures_follow_from_the_differences() {
        let figures = ProbeFigures { floors: floors(0), ..figures(BenchKind::Http) };
        let close =
            |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-9, "{found} is not {wanted}");
        close(figures.expected, 20_000.0);
        close(figures.checks_per_second(), 2_000.0);
        close(figures.done_pct(), 100.0);
        close(figures.on_time_pct(), 99.95);
        close(figures.up_pct().unwrap(), 95.0);
        close(figures.cpu_us().unwrap(), 100.0);
        close(figures.ratio().unwrap(), 2.0);
        close(figures.saturated_us().unwrap(), 25.0);
        assert_eq!((figures.shed, figures.durable), (3, 19_995));
    }

    #[test]
    fn a_ping_check_is_counted_by_its_packets() {
        let per_packet = figures(BenchKind::Icmp).cpu_us().unwrap();
        assert!((per_packet * f64::from(BenchKind::Icmp.exchanges()) - 100.0).abs() < 1e-9);
    }

    #[test]
    fn a_failed_baseline_is_not_used() {
        let figures = ProbeFigures { floors: floors(11), ..figures(BenchKind::Tcp) };
        assert_eq!((figures.paced_us(), figures.saturated_us(), figures.ratio()), (None, None, None));
    }
}
