//! The report of `watchkeeper bench console`: a Markdown table, or JSON.

use hdrhistogram::Histogram;
use serde_json::{Value, json};

/// Figures of one screen. Times are in microseconds.
#[derive(Clone, Debug)]
pub(super) struct ScreenFigures {
    pub(super) name: &'static str,
    /// Bytes of the first visit, with style sheet and script.
    pub(super) bytes: usize,
    pub(super) times: Histogram<u64>,
}

/// Many changes at the same time, as an open screen sees them.
#[derive(Clone, Copy, Debug)]
pub(super) struct BurstFigures {
    /// Number of changes.
    pub(super) changes: usize,
    /// Time in which they happened.
    pub(super) seconds: f64,
    /// Number of documents that the screen asked for.
    pub(super) documents: u32,
    /// Bytes of events and documents.
    pub(super) bytes: usize,
    /// Milliseconds from the last change until the screen showed all; 0 if it did before the last answer.
    pub(super) right_after_ms: f64,
    /// Seconds from the first change until the screen showed all.
    pub(super) shown_seconds: f64,
}

/// The figures of a run. Times are in microseconds.
#[derive(Clone, Debug)]
pub(super) struct ConsoleFigures {
    pub(super) services: u32,
    /// Milliseconds of the first screen, for which all services are read.
    pub(super) first_ms: f64,
    /// Bare answers of the size of the overview.
    pub(super) floor: Histogram<u64>,
    pub(super) screens: Vec<ScreenFigures>,
    /// Lists with all kinds of queries.
    pub(super) queries: Histogram<u64>,
    /// Another name for a service.
    pub(super) edit: Histogram<u64>,
    pub(super) burst: BurstFigures,
}

/// Returns a time in milliseconds.
fn ms(times: &Histogram<u64>, quantile: f64) -> f64 {
    times.value_at_quantile(quantile) as f64 / 1e3
}

pub(super) fn table(figures: &ConsoleFigures) -> String {
    let mut text = format!(
        "{} services. Times are of one connection.\n\n| {:<34} | bytes | p50 / p95 ms |\n| {:-<34} | ----: | -----------: |\n",
        figures.services, "request", ""
    );
    let mut line = |name: &str, bytes: String, times: &Histogram<u64>| {
        let times = format!("{:.2} / {:.2}", ms(times, 0.5), ms(times, 0.95));
        text += &format!("| {name:<34} | {bytes:>5} | {times:>12} |\n");
    };
    line("bare answer of the same size", "-".into(), &figures.floor);
    for screen in &figures.screens {
        line(screen.name, screen.bytes.to_string(), &screen.times);
    }
    line("searches", "-".into(), &figures.queries);
    line("another name for a service", "-".into(), &figures.edit);
    let BurstFigures { changes, seconds, documents, bytes, right_after_ms, shown_seconds } = figures.burst;
    text += &format!(
        "\nThe first screen after the start took {:.0} ms. Bytes contain style sheet and script. ",
        figures.first_ms
    );
    text += &format!(
        "{changes} changes in {seconds:.2} s: an open list asked for {documents} documents, got {bytes} bytes "
    );
    text + &format!("in {shown_seconds:.2} s, and showed all {right_after_ms:.0} ms after the last one.")
}

pub(super) fn object(figures: &ConsoleFigures) -> Value {
    let times = |times: &Histogram<u64>| json!({"answered": times.len(), "p50_us": times.value_at_quantile(0.5), "p95_us": times.value_at_quantile(0.95)});
    let screen = |screen: &ScreenFigures| json!({"screen": screen.name, "bytes": screen.bytes, "times": times(&screen.times)});
    let burst = &figures.burst;
    json!({
        "services": figures.services,
        "first_ms": figures.first_ms,
        "floor": times(&figures.floor),
        "screens": figures.screens.iter().map(screen).collect::<Vec<_>>(),
        "queries": times(&figures.queries),
        "edit": times(&figures.edit),
        "burst": {
            "changes": burst.changes, "seconds": burst.seconds, "documents": burst.documents, "bytes": burst.bytes,
            "right_after_ms": burst.right_after_ms, "shown_seconds": burst.shown_seconds,
        },
    })
}
