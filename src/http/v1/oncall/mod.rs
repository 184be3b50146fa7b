//! `/v1/oncall`: who is on duty when, and how people swap duty.
//!
//! - `schedules`: layers of rotations, written by whoever plans duty
//! - `duty`: the shifts and gaps that follow, also before something is saved; who is on duty now
//! - `overrides`, `absences`, `cover_requests`: what stands above the layers, written by whoever swaps
//!
//! Every write locks the organisation first, so that contacts and schedules that are named stay.

pub(in crate::http) mod absences;
pub(in crate::http) mod cover_requests;
pub(in crate::http) mod duty;
mod filter;
mod known;
pub(in crate::http) mod overrides;
mod period;
pub(in crate::http) mod schedules;

use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::rule::FieldRule;
use crate::model::oncall::entry::ENTRIES_MAX;

/// Passes when there is room for one more of what people clear themselves.
fn take_room(count: u64) -> Result<(), ApiError> {
    if count < ENTRIES_MAX {
        return Ok(());
    }
    Err(ApiError::Fields(FieldErrors::of("starts_at", FieldRule::TooMany(ENTRIES_MAX))))
}
