//! Figures from the history database for the API, the console and status pages: sums of measurements, the days of services, and
//! charts of response times.

pub mod location_results;
pub mod response_chart;
pub mod response_series;
pub mod service_days;
pub mod sums;
