//! Statistics: availability from status intervals, and percentiles from histograms that merge exactly.
//!
//! Everything is pure arithmetic on `model` values, without database and clock.

pub mod histogram;
pub mod rolling_stats;
pub mod rollup;
pub mod service_days;
pub mod sla;
pub mod uptime;
