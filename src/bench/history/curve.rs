//! `watchkeeper bench history --curve`: the cost of a check as the history grows.
//!
//! One fleet writes continuously. At each size everything is sealed, merged and measured; the next size starts a few
//! simulated days later.

use std::process::ExitCode;
use tokio::time::Instant;

use hdrhistogram::Histogram;
use serde_json::Value;

use crate::bench::history::curve_point::{COLUMNS, CurvePoint};
use crate::bench::history::fleet::SimulatedFleet;
use crate::bench::history::ingest::{HOUR_MS, IngestPipeline};
use crate::bench::history::plan::HistoryBenchPlan;
use crate::bench::history::storage::{self, BenchStorage};
use crate::bench::history::{plot, progress, report};
use crate::config::Config;
use crate::store::history::History;
use crate::store::history::checks::{CheckFilter, page};

/// Pages read at each size.
const PAGES: u32 = 1_000;
/// Rows of a page and one more, as the API reads them.
const PAGE_ROWS: u64 = 51;
/// Step between the numbers of the services whose pages are read: a prime, so that they are far from each other.
const STRIDE: u32 = 7_919;

/// Measures all sizes, prints the figures and draws the curve.
pub(super) async fn run(plan: &HistoryBenchPlan, config: &Config) -> anyhow::Result<ExitCode> {
    let sizes = plan.sizes();
    let bar = progress(plan, sizes.last().copied().unwrap_or(0));
    let storage = BenchStorage::new(config)?;
    let pipeline = IngestPipeline::start(plan, config, &storage).await?;
    let mut fleet = SimulatedFleet::new(plan)?;
    let mut points: Vec<CurvePoint> = Vec::new();
    let mut written = 0;
    for results in &sizes {
        let (fed, mut spent) = pipeline.feed(fleet, results - written, HOUR_MS, &bar).await?;
        fleet = fed;
        spent += pipeline.settle(&mut fleet).await?;
        written = *results;
        points.push(CurvePoint {
            results: *results,
            per_second: spent.per_second(),
            cpu_us: spent.cpu_us(),
            bytes_per_result: pipeline.bytes(&storage).await? as f64 / written as f64,
            page_p99_us: newest_pages(&pipeline.databases().history, plan).await?,
        });
    }
    bar.finish_and_clear();
    let is_complete = storage::sealed(pipeline.databases()).await?.results == written;
    pipeline.stop().await;
    if let Some(file) = &plan.plot {
        std::fs::write(file, plot::draw(&points))?;
    }
    if plan.as_json {
        println!("{}", Value::from(points.iter().map(CurvePoint::object).collect::<Vec<_>>()));
    } else {
        let rows: Vec<_> = points.iter().map(CurvePoint::cells).collect();
        print!("{}", report::table(COLUMNS, &rows));
    }
    Ok(if is_complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the 99th percentile of the time to read the newest checks of a service, in microseconds.
async fn newest_pages(history: &History, plan: &HistoryBenchPlan) -> anyhow::Result<u64> {
    let mut latency_us: Histogram<u64> = Histogram::new_with_max(60_000_000, 2)?;
    for number in 0..PAGES {
        let service = i64::from(number.wrapping_mul(STRIDE) % plan.services) + 1;
        let asked_at = Instant::now();
        page(history, service, &CheckFilter::default(), PAGE_ROWS).await?;
        latency_us.saturating_record(u64::try_from(asked_at.elapsed().as_micros())?.max(1));
    }
    Ok(latency_us.value_at_quantile(0.99))
}
