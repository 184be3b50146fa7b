//! The metrics of this process, in the Prometheus text format.
//!
//! Sources of metrics implement [`MetricCollector`]; the handler of `/metrics` knows only that trait.

use std::fmt::{Display, Write as _};

/// A source of metrics.
pub trait MetricCollector: Send + Sync {
    /// Appends the current values to `out`.
    fn collect(&self, out: &mut Exposition);
}

/// A page of metrics in the Prometheus text format, version 0.0.4.
#[derive(Debug, Default)]
pub struct Exposition {
    text: String,
}

impl Exposition {
    /// Starts a metric that only grows. Its name ends in `_total`.
    pub fn counter(&mut self, name: &str, help: &str) -> MetricFamily<'_> {
        self.family(name, help, "counter")
    }

    /// Starts a metric that rises and falls.
    pub fn gauge(&mut self, name: &str, help: &str) -> MetricFamily<'_> {
        self.family(name, help, "gauge")
    }

    /// Starts a histogram; its samples are written by [`MetricFamily::buckets`].
    pub fn histogram(&mut self, name: &str, help: &str) -> MetricFamily<'_> {
        self.family(name, help, "histogram")
    }

    /// Returns the page in the text format.
    #[must_use]
    pub fn into_text(self) -> String {
        self.text
    }

    fn family(&mut self, name: &str, help: &str, kind: &str) -> MetricFamily<'_> {
        let name = format!("watchkeeper_{name}");
        // Writing to a `String` does not fail.
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        MetricFamily { text: &mut self.text, name }
    }
}

/// The samples of one metric.
#[derive(Debug)]
pub struct MetricFamily<'a> {
    text: &'a mut String,
    name: String,
}

impl MetricFamily<'_> {
    /// Writes a sample without labels.
    pub fn value(&mut self, value: impl Display) {
        self.labelled(&[], value);
    }

    /// Writes a sample with these labels.
    pub fn labelled(&mut self, labels: &[(&str, &str)], value: impl Display) {
        self.sample("", labels, value);
    }

    /// Writes a histogram: cumulative counts by upper bound in seconds, the sum in seconds, and the count of all.
    pub fn buckets(&mut self, bounds: impl IntoIterator<Item = (f64, u64)>, sum_seconds: f64, count: u64) {
        for (bound, within) in bounds {
            self.sample("_bucket", &[("le", &bound.to_string())], within);
        }
        self.sample("_bucket", &[("le", "+Inf")], count);
        self.sample("_sum", &[], sum_seconds);
        self.sample("_count", &[], count);
    }

    fn sample(&mut self, suffix: &str, labels: &[(&str, &str)], value: impl Display) {
        let escape = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let labels: Vec<String> =
            labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escape(value))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        // Writing to a `String` does not fail.
        let _ = writeln!(self.text, "{}{suffix}{labels} {value}", self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_the_prometheus_text_format() {
        let mut page = Exposition::default();
        page.counter("checks_total", "Finished checks.").labelled(&[("type", "http"), ("odd", "a\"b")], 3);
        page.gauge("waiting", "Waiting.").value(0);
        page.histogram("late_seconds", "Lateness.").buckets([(0.001, 1), (0.01, 2)], 0.5, 3);
        let expected = "# HELP watchkeeper_checks_total Finished checks.\n# TYPE watchkeeper_checks_total counter\n\
            watchkeeper_checks_total{type=\"http\",odd=\"a\\\"b\"} 3\n\
            # HELP watchkeeper_waiting Waiting.\n# TYPE watchkeeper_waiting gauge\nwatchkeeper_waiting 0\n\
            # HELP watchkeeper_late_seconds Lateness.\n# TYPE watchkeeper_late_seconds histogram\n\
            watchkeeper_late_seconds_bucket{le=\"0.001\"} 1\nwatchkeeper_late_seconds_bucket{le=\"0.01\"} 2\n\
            watchkeeper_late_seconds_bucket{le=\"+Inf\"} 3\nwatchkeeper_late_seconds_sum 0.5\n\
            watchkeeper_late_seconds_count 3\n";
        assert_eq!(page.into_text(), expected);
    }
}
