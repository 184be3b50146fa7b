//! The measured reads, with their promised latencies, and the measurements of one of them.

use std::time::Duration;

use hdrhistogram::Histogram;

/// A kind of measured read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MeasuredRead {
    /// The newest page of checks.
    Newest,
    /// Page 1,000 of checks, by its cursor.
    Far,
    /// All checks that were down, page by page.
    Down,
    /// Figures of 30 days.
    Metrics,
    /// Availability of 90 days.
    Uptime,
}

impl MeasuredRead {
    /// All kinds, in the order of the report.
    pub(super) const ALL: [Self; 5] = [Self::Newest, Self::Far, Self::Down, Self::Metrics, Self::Uptime];

    /// Returns the name of the request in JSON.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Newest => "newest_page",
            Self::Far => "page_1000",
            Self::Down => "all_down",
            Self::Metrics => "metrics_30d",
            Self::Uptime => "uptime_90d",
        }
    }

    /// Returns a description of the request for the report.
    pub(super) const fn described(self) -> &'static str {
        match self {
            Self::Newest => "checks: newest page of 50",
            Self::Far => "checks: page 1,000 of 50 by cursor",
            Self::Down => "checks?status=down: all pages of 100",
            Self::Metrics => "metrics?range=30d",
            Self::Uptime => "uptime?days=90",
        }
    }

    /// Returns the promised latency at p99 on two cores, in milliseconds.
    pub(super) const fn promised_ms(self) -> u32 {
        match self {
            Self::Newest => 5,
            Self::Far | Self::Metrics | Self::Uptime => 10,
            Self::Down => 50,
        }
    }

    /// Returns the number of repetitions, at most `most`.
    pub(super) fn repetitions(self, most: u32) -> u32 {
        let wanted = match self {
            Self::Newest | Self::Far => 2_000,
            Self::Down => 200,
            Self::Metrics | Self::Uptime => 1_000,
        };
        wanted.min(most)
    }
}

/// Measurements of one kind of read.
#[derive(Debug)]
pub(super) struct ReadMeasurement {
    /// Microseconds from the first byte sent to the last byte read; over all pages, if there are several.
    pub(super) latency_us: Histogram<u64>,
    /// Responses that were not 2xx.
    pub(super) failed: u64,
    /// Entries of the last response.
    pub(super) entries: u64,
}

impl ReadMeasurement {
    /// Creates an empty measurement, for latencies of up to a minute with 1 % precision.
    pub(super) fn nothing() -> anyhow::Result<Self> {
        let longest = Duration::from_secs(60);
        let latency_us = Histogram::new_with_max(u64::try_from(longest.as_micros())?, 2)?;
        Ok(Self { latency_us, failed: 0, entries: 0 })
    }
}
