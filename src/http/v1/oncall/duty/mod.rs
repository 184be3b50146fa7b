//! Who is on duty when: shifts and gaps of a schedule, also of one that is not saved yet, and who is on duty now.

pub(in crate::http::v1) mod current;
pub(in crate::http) mod openapi;
pub(in crate::http::v1) mod shifts;
mod view;
