//! One file a table of Watchkeeper's two databases.
//!
//! Main database: `installation`, `organisation`, `token`, `service`, `service_window`, `history_erasure`.
//! History database: `location`, `check_result`, `status_change`, `check_hour`, `history_progress`.
//! All instants are Unix milliseconds, all durations microseconds. The rules are elsewhere; these are rows.

pub mod check_hour;
pub mod check_result;
pub mod history_erasure;
pub mod history_progress;
pub mod installation;
pub mod location;
pub mod organisation;
pub mod service;
pub mod service_window;
pub mod status_change;
pub mod token;
