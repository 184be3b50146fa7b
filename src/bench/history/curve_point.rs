//! A point of the curve: what a check costs at one size of the history, as a line of the table and as JSON.

use serde_json::{Value, json};

/// Heading and width of the columns of the table.
pub(super) const COLUMNS: [(&str, usize); 5] = [
    ("results, millions", 17),
    ("results/s", 9),
    ("CPU µs a result", 15),
    ("bytes a result", 14),
    ("newest page p99 ms", 18),
];

/// Figures at one size of the history.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CurvePoint {
    pub(super) results: u64,
    /// Results per second since the previous size, including sealing and merging.
    pub(super) per_second: f64,
    /// Microseconds of CPU time per result since the previous size.
    pub(super) cpu_us: f64,
    /// Bytes of the whole history per result.
    pub(super) bytes_per_result: f64,
    /// 99th percentile of reading the newest page of checks, in microseconds.
    pub(super) page_p99_us: u64,
}

impl CurvePoint {
    /// Returns the number of results in the history, in millions.
    pub(super) fn millions(&self) -> f64 {
        self.results as f64 / 1e6
    }

    /// Returns the figures as a line of the table.
    pub(super) fn cells(&self) -> [String; 5] {
        [
            format!("{}", self.millions()),
            format!("{:.0}", self.per_second),
            format!("{:.1}", self.cpu_us),
            format!("{:.2}", self.bytes_per_result),
            format!("{:.2}", self.page_p99_us as f64 / 1e3),
        ]
    }

    /// Returns the figures as JSON.
    pub(super) fn object(&self) -> Value {
        json!({
            "results": self.results,
            "results_per_second": self.per_second,
            "cpu_us": self.cpu_us,
            "bytes_per_result": self.bytes_per_result,
            "newest_page_p99_us": self.page_p99_us,
        })
    }
}
