//! Time-based transitions that need no request.
//!
//! Every transition is decided by the database row and made in one transaction, so any number of processes may handle the
//! same timetable, and each transition is made once.
//!
//! A round fails if the main database fails.

pub mod domains;
pub mod maintenance_reminders;
pub mod maintenance_series;
pub mod maintenances;
pub mod wall_clock;
