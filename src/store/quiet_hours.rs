//! Quiet hours of a channel or a contact, as JSON of a column.

use serde::{Deserialize, Serialize};

use crate::model::notification::quiet_hours::QuietHours;

/// Quiet hours as they are stored.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredQuietHours {
    hours: String,
    time_zone: String,
    except_from: String,
}

impl StoredQuietHours {
    pub(super) fn of(quiet: &QuietHours) -> Self {
        Self {
            hours: quiet.hours.to_string(),
            time_zone: quiet.zone.name().to_owned(),
            except_from: quiet.except_from.to_string(),
        }
    }

    /// As they were stored; `None` when they cannot be read.
    pub(super) fn read(&self) -> Option<QuietHours> {
        Some(QuietHours {
            hours: self.hours.parse().ok()?,
            zone: self.time_zone.parse().ok()?,
            except_from: self.except_from.parse().ok()?,
        })
    }
}
