//! Overrides and absences of schedules as clients see them, with the names of the contacts.
//!
//! The types in `schedule` hold only the facts that decide who is on duty.

use crate::clock::{DAY_MS, Timestamp};
use crate::id::Id;
use crate::model::contact::NamedContact;
use crate::model::time_range::TimeRange;

/// Maximum number of overrides of an organisation, and likewise of absences and of cover requests.
pub const ENTRIES_MAX: u64 = 5_000;
/// Age after its end at which an entry may be deleted to make room for a new one, in milliseconds: 400 days.
pub const RETENTION_MS: i64 = 400 * DAY_MS;
/// The longest time that an entry may cover, in days.
pub const LENGTH_DAYS_MAX: i64 = 366;

/// A schedule, with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedSchedule {
    /// Key of the row.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
    /// Display name of the schedule.
    pub name: String,
}

/// An override as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverrideEntry {
    /// Key of the row; 0 before it is stored.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
    /// Database key of the organisation that owns the override.
    pub organisation: i64,
    /// The schedule to which it applies.
    pub schedule: NamedSchedule,
    /// The contact who takes over.
    pub contact: NamedContact,
    /// The time in which the override applies.
    pub range: TimeRange,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last write by a client.
    pub updated_at: Timestamp,
}

/// An absence as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbsenceEntry {
    /// Key of the row; 0 before it is stored.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
    /// Database key of the organisation that owns the absence.
    pub organisation: i64,
    /// The contact who is absent.
    pub contact: NamedContact,
    /// The time of the absence.
    pub range: TimeRange,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last write by a client.
    pub updated_at: Timestamp,
}
