//! Quiet hours of a channel or a contact, stored as JSON in one column.

use serde::{Deserialize, Serialize};

use crate::model::notification::quiet_hours::QuietHours;

/// Stored form of quiet hours.
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

    /// Converts the stored form to quiet hours; `None` if a value cannot be read.
    pub(super) fn read(&self) -> Option<QuietHours> {
        Some(QuietHours {
            hours: self.hours.parse().ok()?,
            zone: self.time_zone.parse().ok()?,
            except_from: self.except_from.parse().ok()?,
        })
    }
}
