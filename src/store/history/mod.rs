//! Measurements in the history database: appended in batches, read by service and time.
//!
//! Fresh results are rows; finished hours are summed up into `check_hour` so that long ranges are merges of
//! histograms. Nothing here decides what a figure means; that is `stats`.

pub mod append;
pub mod blocks;
pub mod changes;
pub mod checks;
pub mod days;
pub mod erase;
pub mod hours;
pub mod locations;
pub mod recent;
pub mod samples;
