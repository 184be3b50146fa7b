//! Figures from the history database for the API and for status pages: sums of measurements, and the days of services.

pub mod location_results;
pub mod response_series;
pub mod service_days;
pub mod sums;
