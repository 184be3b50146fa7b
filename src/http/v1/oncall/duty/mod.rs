//! Shifts and uncovered periods of a schedule (stored or only sent for a preview), and the contacts on duty now.

pub(in crate::http::v1) mod current;
pub(in crate::http) mod openapi;
pub(in crate::http::v1) mod shifts;
mod view;
