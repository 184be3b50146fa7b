//! The report of `watchkeeper bench history`: Markdown tables for people, JSON for machines.

use serde_json::{Value, json};

use crate::bench::history::ingest;
use crate::bench::history::plain;
use crate::bench::history::plan::HistoryBenchPlan;
use crate::bench::history::reads;

/// Promised results per second on two cores, by database.
const PROMISED_PER_SECOND: [(&str, u32); 2] = [("SQLite", 50_000), ("PostgreSQL", 60_000)];
const PROMISED_BYTES: f64 = 12.0;

const COLUMNS: [(&str, usize); 6] = [
    ("what", 30),
    ("results", 11),
    ("results/s", 9),
    ("promised", 8),
    ("CPU µs a result", 15),
    ("bytes a result", 14),
];
const READ_COLUMNS: [(&str, usize); 6] = [
    ("request", 37),
    ("p50 / p99 / max ms", 22),
    ("promised p99", 12),
    ("entries", 7),
    ("asked", 6),
    ("failed", 6),
];

#[derive(Clone, Debug, Default)]
pub(super) struct HistoryReport {
    /// The plan of the run.
    pub(super) plan: HistoryBenchPlan,
    /// True if the history is in SQLite.
    pub(super) is_sqlite: bool,
    pub(super) plain: plain::PlainRowFigures,
    pub(super) history: ingest::HistoryFigures,
    /// Reads, if they were measured.
    pub(super) reads: Option<reads::ReadsReport>,
}

impl HistoryReport {
    /// Returns true if every result is in a block and every request was answered.
    pub(super) fn is_clean(&self) -> bool {
        let is_complete = self.history.sealed.results == self.plan.results;
        is_complete
            && self
                .reads
                .iter()
                .flat_map(|reads| &reads.figures)
                .all(|read| read.failed == 0 && read.asked > 0)
    }

    fn promised(&self) -> (&'static str, u32) {
        PROMISED_PER_SECOND[usize::from(!self.is_sqlite)]
    }

    pub(super) fn tables(&self) -> String {
        let (store, promised) = self.promised();
        let (plain, history) = (&self.plain, &self.history);
        let line = |what: String, spent: &ingest::IngestCost, promised: String, bytes: u64| {
            let each = bytes as f64 / spent.results.max(1) as f64;
            [
                what,
                spent.results.to_string(),
                format!("{:.0}", spent.per_second()),
                promised,
                format!("{:.1}", spent.cpu_us()),
                format!("{each:.2}"),
            ]
        };
        let rows = [
            line(format!("plain rows, {store} (floor)"), &plain.spent, "-".into(), plain.bytes),
            line(format!("history, {store}"), &history.spent, promised.to_string(), history.bytes),
        ];
        let mut text = table(COLUMNS, &rows);
        text.push_str(&self.composition());
        if let Some(reads) = &self.reads {
            let rows: Vec<_> = reads.figures.iter().map(reads::ReadLatency::cells).collect();
            text.push('\n');
            text.push_str(&table(READ_COLUMNS, &rows));
            text.push_str(&format!(
                "\nThe service has {} results. {:.0} results/s were written beside.",
                reads.results, reads.written_per_second
            ));
        }
        text.trim_end().to_owned()
    }

    /// Returns the lines with the composition of a result's bytes.
    fn composition(&self) -> String {
        let (sealed, results) = (&self.history.sealed, self.history.spent.results.max(1) as f64);
        let each = |bytes: u64| bytes as f64 / results;
        let bodies = sealed.block_bytes + sealed.rollup_bytes;
        format!(
            "\nBytes a result: {:.2} blocks, {:.2} rollups, {:.2} keys, indexes and pages, {:.2} beside segments; \
            promised {PROMISED_BYTES}. {:.0} results a block.\n",
            each(sealed.block_bytes),
            each(sealed.rollup_bytes),
            each(sealed.segment_bytes.saturating_sub(bodies)),
            each(self.history.bytes.saturating_sub(sealed.segment_bytes)),
            sealed.results as f64 / sealed.blocks.max(1) as f64,
        )
    }

    pub(super) fn object(&self) -> Value {
        let (store, promised) = self.promised();
        let (plain, history, sealed) = (&self.plain, &self.history, &self.history.sealed);
        let spent = |spent: &ingest::IngestCost, bytes: u64| {
            json!({
                "results": spent.results,
                "seconds": spent.elapsed.as_secs_f64(),
                "results_per_second": spent.per_second(),
                "cpu_us": spent.cpu_us(),
                "bytes": bytes,
                "bytes_per_result": bytes as f64 / spent.results.max(1) as f64,
            })
        };
        json!({
            "store": store,
            "services": self.plan.services,
            "locations": self.plan.locations,
            "interval_seconds": self.plan.interval_seconds,
            "plain_rows": spent(&plain.spent, plain.bytes),
            "history": spent(&history.spent, history.bytes),
            "promised_per_second": promised,
            "promised_bytes_per_result": PROMISED_BYTES,
            "sealed": {
                "results": sealed.results,
                "blocks": sealed.blocks,
                "block_bytes": sealed.block_bytes,
                "rollup_bytes": sealed.rollup_bytes,
                "segment_bytes": sealed.segment_bytes,
            },
            "reads": self.reads.as_ref().map(|reads| json!({
                "results": reads.results,
                "written_per_second": reads.written_per_second,
                "requests": reads.figures.iter().map(reads::ReadLatency::object).collect::<Vec<_>>(),
            })),
        })
    }
}

pub(super) fn table<const WIDTH: usize>(columns: [(&str, usize); WIDTH], rows: &[[String; WIDTH]]) -> String {
    let line = |cells: [String; WIDTH]| {
        let padded: Vec<String> =
            cells.into_iter().zip(columns).map(|(cell, (_, width))| format!("{cell:>width$}")).collect();
        format!("| {} |\n", padded.join(" | "))
    };
    let names = line(columns.map(|(name, _)| name.to_owned()));
    let rules = line(columns.map(|(_, width)| format!("{}:", "-".repeat(width - 1))));
    let lines: String = rows.iter().cloned().map(line).collect();
    format!("{names}{rules}{lines}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::bench::history::ingest::IngestCost;
    use crate::bench::history::storage::SealedTotals;

    fn report() -> HistoryReport {
        let spent =
            IngestCost { results: 1_000, elapsed: Duration::from_millis(20), cpu: Duration::from_millis(15) };
        let sealed = SealedTotals {
            results: 1_000,
            blocks: 2,
            block_bytes: 8_000,
            rollup_bytes: 500,
            segment_bytes: 9_000,
        };
        HistoryReport {
            plan: HistoryBenchPlan { results: 1_000, ..HistoryBenchPlan::default() },
            is_sqlite: true,
            plain: plain::PlainRowFigures { spent, bytes: 100_000 },
            history: ingest::HistoryFigures { spent, sealed, bytes: 10_000 },
            reads: None,
        }
    }

    #[test]
    fn table_rows_align_with_the_head() {
        let tables = report().tables();
        let lines: Vec<&str> = tables.lines().collect();
        let ends = |text: &str| -> Vec<usize> {
            text.chars().enumerate().filter(|(_, found)| *found == '|').map(|(index, _)| index).collect()
        };
        assert_eq!((ends(lines[2]), ends(lines[3])), (ends(lines[0]), ends(lines[0])), "{tables}");
        assert!(lines[3].contains("50000 |") && lines[3].contains("10.00"), "{tables}");
        assert!(tables.ends_with("8.00 blocks, 0.50 rollups, 0.50 keys, indexes and pages, 1.00 beside segments; promised 12. 500 results a block."), "{tables}");
    }

    #[test]
    fn the_json_report_contains_numbers() {
        let object = report().object();
        assert_eq!(object["history"]["results_per_second"], 50_000.0);
        assert_eq!(object["history"]["bytes_per_result"], 10.0);
        assert_eq!(object["plain_rows"]["cpu_us"], 15.0);
        assert_eq!((&object["store"], &object["promised_per_second"]), (&json!("SQLite"), &json!(50_000)));
    }

    #[test]
    fn an_unsealed_result_is_a_failure() {
        let mut report = report();
        assert!(report.is_clean());
        report.history.sealed.results -= 1;
        assert!(!report.is_clean());
    }
}
