//! Requests to a location for checks outside its schedule.

use serde::{Deserialize, Serialize};

use crate::id::Id;

/// A request to check a service. Requests are not answered: a lost one delays a check, but loses no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteCheckRequest {
    /// Public id of the service.
    pub service: Id,
    /// True if the location has to check at once instead of at its scheduled time.
    #[serde(rename = "look_now")]
    pub check_now: bool,
    /// Milliseconds for which the location has to check more often; 0 ends that. A duration and not a time,
    /// because clocks differ.
    #[serde(rename = "hurry_ms")]
    pub fast_rechecks_ms: i64,
}
