//! The report: a Markdown table with a line per kind for people, or a JSON object per kind for machines.
//!
//! CPU time is per exchange with a target, which is a check except for `icmp`, where it is a packet. The ratio is
//! relative to the bare exchange at the same pace.

use serde_json::{Value, json};

use crate::bench::figures::{ON_TIME_MS, ProbeFigures};

const COLUMNS: [(&str, usize); 14] = [
    ("type", 5),
    ("checks/s", 8),
    ("done %", 6),
    ("on time %", 9),
    ("late p50 / p99 / max ms", 23),
    ("CPU µs", 7),
    ("paced µs", 8),
    ("ratio", 5),
    ("satur. µs", 9),
    ("up %", 6),
    ("durable", 9),
    ("RSS MiB", 7),
    ("B/service", 9),
    ("DB B/check", 10),
];

pub(super) fn head() -> String {
    let names = COLUMNS.map(|(name, width)| format!("{name:>width$}"));
    let rules = COLUMNS.map(|(_, width)| format!("{}:", "-".repeat(width - 1)));
    format!("| {} |\n| {} |", names.join(" | "), rules.join(" | "))
}

/// Legend below the table: the meaning of its ratios.
pub(super) const LEGEND: &str = "\
\"CPU\" is the processor time of one exchange with a target, everything included (scheduling, judging, storing); \"paced\" is that of a \
bare exchange at the same pace on the same machine, and \"ratio\" how many times as much a check costs. \"satur.\" is a bare exchange as fast \
as one thread can, \"late\" how long after its due time a check began, and \"durable\" the checks that were in the database at the end.";

/// Returns the line of the table for one kind.
pub(super) fn line(figures: &ProbeFigures) -> String {
    let lateness = &figures.lateness;
    let late =
        [lateness.p50_us, lateness.p99_us, lateness.max_us].map(|us| format!("{:.1}", us as f64 / 1e3));
    let cells = [
        figures.kind.as_str().to_owned(),
        format!("{:.0}", figures.checks_per_second()),
        format!("{:.2}", figures.done_pct()),
        format!("{:.2}", figures.on_time_pct()),
        late.join(" / "),
        decimal(figures.cpu_us(), 1),
        decimal(figures.paced_us(), 1),
        decimal(figures.ratio(), 2),
        decimal(figures.saturated_us(), 1),
        decimal(figures.up_pct(), 2),
        figures.durable.to_string(),
        decimal(figures.memory.resident_bytes.map(|bytes| bytes as f64 / 1_048_576.0), 1),
        decimal(figures.memory.per_service_bytes.map(|bytes| bytes as f64), 0),
        decimal(figures.stored_bytes, 1),
    ];
    let padded: Vec<String> =
        cells.into_iter().zip(COLUMNS).map(|(cell, (_, width))| format!("{cell:>width$}")).collect();
    format!("| {} |", padded.join(" | "))
}

fn decimal(number: Option<f64>, digits: usize) -> String {
    number.map_or_else(|| "-".to_owned(), |number| format!("{number:.digits$}"))
}

pub(super) fn object(figures: &ProbeFigures) -> Value {
    json!({
        "type": figures.kind.as_str(),
        "window_seconds": figures.elapsed.as_secs_f64(),
        "checks_expected": figures.expected,
        "checks_done": figures.finished,
        "checks_up": figures.up,
        "checks_shed": figures.shed,
        "checks_per_second": figures.checks_per_second(),
        "on_time_ms": ON_TIME_MS,
        "on_time_pct": figures.on_time_pct(),
        "lateness_p50_us": figures.lateness.p50_us,
        "lateness_p99_us": figures.lateness.p99_us,
        "lateness_max_us": figures.lateness.max_us,
        "exchanges_per_check": figures.kind.exchanges(),
        "cpu_us_per_exchange": figures.cpu_us(),
        "floor_paced_cpu_us_per_exchange": figures.paced_us(),
        "floor_saturated_cpu_us_per_exchange": figures.saturated_us(),
        "ratio": figures.ratio(),
        "rows_durable": figures.durable,
        "rss_bytes": figures.memory.resident_bytes,
        "rss_bytes_per_service": figures.memory.per_service_bytes,
        "database_bytes_per_check": figures.stored_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::figures::tests::figures;
    use crate::bench::kind::BenchKind;

    #[test]
    fn a_table_row_aligns_with_the_head() {
        let (head, line) = (head(), line(&figures(BenchKind::Https)));
        let ends = |text: &str| -> Vec<usize> {
            text.chars().enumerate().filter(|(_, found)| *found == '|').map(|(index, _)| index).collect()
        };
        for row in head.lines() {
            assert_eq!(ends(row), ends(&line), "{head}\n{line}");
        }
        assert!(line.contains("0.6 / 2.5 / 31.0"), "{line}");
    }

    /// Columns of comparisons are explained below the table.
    #[test]
    fn the_legend_explains_compared_columns() {
        for (column, _) in COLUMNS {
            let word = column.split_whitespace().next().unwrap_or_default();
            let needs_no_word =
                ["type", "checks/s", "done", "on", "up", "RSS", "B/service", "DB"].contains(&word);
            assert!(needs_no_word || LEGEND.contains(&format!("\"{word}\"")), "{column}");
        }
    }

    #[test]
    fn unknown_figures_are_null_in_json() {
        let object = object(&figures(BenchKind::Tcp));
        assert_eq!(object["rows_durable"], 19_995);
        assert_eq!(object["cpu_us_per_exchange"], 100.0);
        for name in ["ratio", "rss_bytes", "database_bytes_per_check"] {
            assert_eq!(object.get(name), Some(&Value::Null), "{name}");
        }
    }
}
