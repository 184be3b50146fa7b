//! The report of `watchkeeper bench page`: a Markdown table, or JSON.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde_json::{Value, json};

use crate::bench::crowd::CrowdMeasurement;

/// Figures of many equal requests.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CrowdFigures {
    pub(super) answered: u64,
    /// Responses that were neither 2xx nor 304.
    pub(super) failed: u64,
    pub(super) per_second: f64,
    p50_us: u64,
    p99_us: u64,
    /// Processor time of the server for a request, in microseconds.
    cpu_us: Option<f64>,
}

impl CrowdFigures {
    /// Computes the figures from the clients' measurements and the server's CPU time.
    pub(super) fn of(seen: &CrowdMeasurement, cpu: Option<Duration>) -> Self {
        let answered = seen.latency_us.len();
        Self {
            answered,
            failed: seen.failed,
            per_second: answered as f64 / seen.elapsed.as_secs_f64(),
            p50_us: seen.latency_us.value_at_quantile(0.5),
            p99_us: seen.latency_us.value_at_quantile(0.99),
            cpu_us: cpu.map(|cpu| cpu.as_micros() as f64 / answered.max(1) as f64),
        }
    }

    fn object(&self) -> Value {
        json!({
            "answered": self.answered, "failed": self.failed, "requests_per_second": self.per_second,
            "p50_us": self.p50_us, "p99_us": self.p99_us, "server_cpu_us": self.cpu_us,
        })
    }
}

/// The figures of a run.
#[derive(Clone, Debug)]
pub(super) struct PageFigures {
    /// Bytes of the compressed page.
    pub(super) bytes: usize,
    /// Bare answers of the same size.
    pub(super) floor_full: CrowdFigures,
    /// The page from memory.
    pub(super) full: CrowdFigures,
    /// Bare answers 304.
    pub(super) floor_unchanged: CrowdFigures,
    /// The page for visitors who have it.
    pub(super) unchanged: CrowdFigures,
    /// First answers after a change, on one connection.
    pub(super) after_change_us: Histogram<u64>,
    /// Bare answers of the same size, on one connection.
    pub(super) single_us: Histogram<u64>,
}

impl PageFigures {
    /// Returns the number of failed requests.
    pub(super) const fn failed(&self) -> u64 {
        self.floor_full.failed + self.full.failed + self.floor_unchanged.failed + self.unchanged.failed
    }

    /// Requests a second of the page as a part of those of the floor: from memory, and for visitors who have it.
    fn ratios(&self) -> [f64; 2] {
        [
            self.full.per_second / self.floor_full.per_second,
            self.unchanged.per_second / self.floor_unchanged.per_second,
        ]
    }
}

pub(super) fn table(figures: &PageFigures) -> String {
    let [full, unchanged] = figures.ratios();
    let line = |name: &str, one: &CrowdFigures, ratio: Option<f64>| {
        let ms = |us: u64| us as f64 / 1e3;
        let ratio = ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
        let cpu = one.cpu_us.map_or_else(|| "-".to_owned(), |us| format!("{us:.1}"));
        let times = format!("{:.1} / {:.1}", ms(one.p50_us), ms(one.p99_us));
        format!(
            "| {name:<34} | {:>10.0} | {ratio:>5} | {times:>12} | {cpu:>13} | {:>6} |\n",
            one.per_second, one.failed
        )
    };
    let single = |times: &Histogram<u64>| {
        let ms = |quantile: f64| times.value_at_quantile(quantile) as f64 / 1e3;
        format!("{:.2} / {:.2} ms", ms(0.5), ms(0.95))
    };
    let mut text = format!(
        "| {:<34} | requests/s | ratio | p50 / p99 ms | server CPU µs | failed |\n| {:-<34} | ---------: | ----: | -----------: | ------------: | -----: |\n",
        "request", ""
    );
    text += &line("bare answer of the same size", &figures.floor_full, None);
    text += &line("the page from memory", &figures.full, Some(full));
    text += &line("bare 304", &figures.floor_unchanged, None);
    text += &line("the page with If-None-Match", &figures.unchanged, Some(unchanged));
    text += &format!("\nThe page has {} bytes compressed. ", figures.bytes);
    text += &format!(
        "First answer after a change, one connection, p50 / p95: {}; ",
        single(&figures.after_change_us)
    );
    text + &format!("a bare answer: {}.", single(&figures.single_us))
}

pub(super) fn object(figures: &PageFigures) -> Value {
    let [full, unchanged] = figures.ratios();
    let single = |times: &Histogram<u64>| json!({"p50_us": times.value_at_quantile(0.5), "p95_us": times.value_at_quantile(0.95), "answered": times.len()});
    json!({
        "bytes": figures.bytes,
        "floor": figures.floor_full.object(),
        "page": figures.full.object(),
        "page_ratio": full,
        "floor_unchanged": figures.floor_unchanged.object(),
        "page_unchanged": figures.unchanged.object(),
        "page_unchanged_ratio": unchanged,
        "after_change": single(&figures.after_change_us),
        "floor_single": single(&figures.single_us),
    })
}
