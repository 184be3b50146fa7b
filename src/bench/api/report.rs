//! The report of `watchkeeper bench api`: a Markdown table with a line per kind of request, or JSON.

use std::time::Duration;

use serde_json::{Value, json};

use crate::bench::api::plan::MeasuredRequest;
use crate::bench::crowd::CrowdMeasurement;

const COLUMNS: [(&str, usize); 6] = [
    ("request", 36),
    ("requests/s", 10),
    ("promised", 8),
    ("p50 / p99 / max ms", 20),
    ("server CPU µs", 13),
    ("failed", 6),
];

/// Figures of one kind of request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RequestFigures {
    pub(super) question: MeasuredRequest,
    pub(super) answered: u64,
    /// Responses that were not 2xx.
    pub(super) failed: u64,
    per_second: f64,
    p50_us: u64,
    p99_us: u64,
    max_us: u64,
    cpu_us: Option<f64>,
}

impl RequestFigures {
    /// Computes the figures from the clients' measurements and the server's CPU time.
    pub(super) fn of(question: MeasuredRequest, seen: &CrowdMeasurement, cpu: Option<Duration>) -> Self {
        let answered = seen.latency_us.len();
        Self {
            question,
            answered,
            failed: seen.failed,
            per_second: answered as f64 / seen.elapsed.as_secs_f64(),
            p50_us: seen.latency_us.value_at_quantile(0.5),
            p99_us: seen.latency_us.value_at_quantile(0.99),
            max_us: seen.latency_us.max(),
            cpu_us: cpu.map(|cpu| cpu.as_micros() as f64 / answered.max(1) as f64),
        }
    }

    fn cells(&self) -> [String; 6] {
        let ms = |us: u64| format!("{:.1}", us as f64 / 1e3);
        [
            self.question.described().to_owned(),
            format!("{:.0}", self.per_second),
            self.question.promised().map_or_else(|| "-".to_owned(), |rate| rate.to_string()),
            [ms(self.p50_us), ms(self.p99_us), ms(self.max_us)].join(" / "),
            self.cpu_us.map_or_else(|| "-".to_owned(), |us| format!("{us:.1}")),
            self.failed.to_string(),
        ]
    }
}

pub(super) fn table(measured: &[RequestFigures], checks_per_second: f64, first_search: Duration) -> String {
    let row = |cells: [String; 6]| {
        let padded: Vec<String> =
            cells.into_iter().zip(COLUMNS).map(|(cell, (_, width))| format!("{cell:>width$}")).collect();
        format!("| {} |\n", padded.join(" | "))
    };
    let names = row(COLUMNS.map(|(name, _)| name.to_owned()));
    let rules = row(COLUMNS.map(|(_, width)| format!("{}:", "-".repeat(width - 1))));
    let lines: String = measured.iter().map(|figures| row(figures.cells())).collect();
    let first_ms = first_search.as_secs_f64() * 1e3;
    format!(
        "{names}{rules}{lines}\n{checks_per_second:.0} checks/s beside; the first list by status, for which all services are read: {first_ms:.1} ms"
    )
}

pub(super) fn object(measured: &[RequestFigures], checks_per_second: f64, first_search: Duration) -> Value {
    let requests: Vec<Value> = measured
        .iter()
        .map(|figures| {
            json!({
                "request": figures.question.as_str(),
                "requests_per_second": figures.per_second,
                "promised_per_second": figures.question.promised(),
                "answered": figures.answered,
                "failed": figures.failed,
                "p50_us": figures.p50_us,
                "p99_us": figures.p99_us,
                "max_us": figures.max_us,
                "server_cpu_us": figures.cpu_us,
            })
        })
        .collect();
    json!({
        "checks_per_second": checks_per_second,
        "first_search_ms": first_search.as_secs_f64() * 1e3,
        "requests": requests,
    })
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;

    use super::*;

    fn figures() -> RequestFigures {
        let mut latency_us = Histogram::new_with_max(60_000_000, 2).unwrap();
        latency_us.record_n(2_000, 10_000).unwrap();
        let seen = CrowdMeasurement { latency_us, failed: 1, elapsed: Duration::from_secs(2) };
        RequestFigures::of(MeasuredRequest::List, &seen, Some(Duration::from_secs(1)))
    }

    #[test]
    fn table_rows_align_with_the_head() {
        let table = table(&[figures()], 998.7, Duration::from_millis(7));
        let ends = |text: &str| -> Vec<usize> {
            text.chars().enumerate().filter(|(_, found)| *found == '|').map(|(index, _)| index).collect()
        };
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!((ends(lines[1]), ends(lines[2])), (ends(lines[0]), ends(lines[0])), "{table}");
        assert!(lines[2].contains("5000 |") && lines[2].contains("100.0"), "{table}");
        assert_eq!(
            lines.last(),
            Some(&"999 checks/s beside; the first list by status, for which all services are read: 7.0 ms")
        );
    }

    #[test]
    fn the_json_report_contains_numbers() {
        let object = object(&[figures()], 1.0, Duration::ZERO);
        assert_eq!(object["requests"][0]["request"], "list");
        assert_eq!(object["requests"][0]["requests_per_second"], 5_000.0);
        assert_eq!(object["requests"][0]["failed"], 1);
    }
}
