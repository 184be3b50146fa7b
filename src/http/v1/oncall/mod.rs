//! `/v1/oncall`: on-call schedules, and changes of duty.
//!
//! - `schedules`: layers of rotations, written by planners
//! - `duty`: the resulting shifts and uncovered periods, also as a preview; the contacts on duty now
//! - `overrides`, `absences`, `cover_requests`: entries that override the layers, written by the contacts themselves
//!
//! Every write locks the organisation first, so that contacts and schedules in the body are not deleted meanwhile.

pub(in crate::http) mod absences;
pub(in crate::http) mod cover_requests;
pub(in crate::http) mod duty;
mod filter;
mod oncall_links;
pub(in crate::http) mod overrides;
mod period;
pub(in crate::http) mod schedules;

use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::rule::FieldRule;
use crate::model::oncall::entry::ENTRIES_MAX;

/// Refuses another override, absence or cover request if the limit is reached; `count` is the number of existing ones.
fn check_entry_limit(count: u64) -> Result<(), ApiError> {
    if count < ENTRIES_MAX {
        return Ok(());
    }
    Err(ApiError::Fields(FieldErrors::of("starts_at", FieldRule::TooMany(ENTRIES_MAX))))
}
