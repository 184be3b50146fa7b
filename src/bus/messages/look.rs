//! What a location is asked for beside its schedule.

use serde::{Deserialize, Serialize};

use crate::id::Id;

/// A request to look at a service. It is not answered: one that is lost costs the location a turn, no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// The service.
    pub service: Id,
    /// It is to look at once instead of waiting for its turn.
    pub look_now: bool,
    /// It is to look more often for so many milliseconds; 0 ends that. Not a time: clocks may differ.
    pub hurry_ms: i64,
}
