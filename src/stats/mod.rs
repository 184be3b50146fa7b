//! Figures: availability from status intervals, percentiles from histograms that merge exactly.
//!
//! Pure arithmetic over `model` values. It reads no database and no clock.

pub mod histogram;
pub mod rolling_stats;
pub mod rollup;
pub mod sla;
pub mod uptime;
