//! Reads of a service with a long history, over the API, while results of other services are written.

use indicatif::ProgressBar;
use serde_json::{Value, json};

use crate::bench::history::fixture::HistoryFixture;
use crate::bench::history::plan::HistoryBenchPlan;
use crate::bench::history::read_measurement::{MeasuredRead, ReadMeasurement};
use crate::config::Config;

/// Figures of one kind of read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ReadLatency {
    question: MeasuredRead,
    /// Number of responses.
    pub(super) asked: u64,
    /// Responses that were not 2xx.
    pub(super) failed: u64,
    /// Number of entries of a response, or of all its pages.
    entries: u64,
    p50_us: u64,
    p99_us: u64,
    max_us: u64,
}

impl ReadLatency {
    pub(super) fn of(question: MeasuredRead, seen: &ReadMeasurement) -> Self {
        Self {
            question,
            asked: seen.latency_us.len(),
            failed: seen.failed,
            entries: seen.entries,
            p50_us: seen.latency_us.value_at_quantile(0.5),
            p99_us: seen.latency_us.value_at_quantile(0.99),
            max_us: seen.latency_us.max(),
        }
    }

    /// Returns the figures as a line of the table.
    pub(super) fn cells(&self) -> [String; 6] {
        let ms = |us: u64| format!("{:.1}", us as f64 / 1e3);
        [
            self.question.described().to_owned(),
            [ms(self.p50_us), ms(self.p99_us), ms(self.max_us)].join(" / "),
            self.question.promised_ms().to_string(),
            self.entries.to_string(),
            self.asked.to_string(),
            self.failed.to_string(),
        ]
    }

    pub(super) fn object(&self) -> Value {
        json!({
            "request": self.question.as_str(),
            "asked": self.asked,
            "failed": self.failed,
            "entries": self.entries,
            "p50_us": self.p50_us,
            "p99_us": self.p99_us,
            "max_us": self.max_us,
            "promised_p99_us": self.question.promised_ms() * 1_000,
        })
    }
}

/// Figures of all reads, and the concurrent rate of writes.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadsReport {
    pub(super) figures: Vec<ReadLatency>,
    /// Number of results of the service that was read.
    pub(super) results: u64,
    /// Results of other services per second that became durable meanwhile.
    pub(super) written_per_second: f64,
}

/// Fills a history, serves it, and measures the reads.
pub(super) async fn measure(
    plan: &HistoryBenchPlan,
    config: &Config,
    bar: &ProgressBar,
) -> anyhow::Result<ReadsReport> {
    let fixture = HistoryFixture::build(plan, config, bar).await?;
    let before = fixture.written().await?;
    let started = tokio::time::Instant::now();
    let mut figures = Vec::new();
    for question in MeasuredRead::ALL {
        let seen = fixture.ask(question, plan.repetitions).await?;
        figures.push(ReadLatency::of(question, &seen));
    }
    let written = fixture.written().await? - before;
    Ok(ReadsReport {
        figures,
        results: fixture.results,
        written_per_second: written / started.elapsed().as_secs_f64(),
    })
}
