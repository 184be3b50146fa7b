//! Overrides and absences of schedules, as clients create them, with the names of their contacts.
//!
//! `schedule` has the part of them that decides who is on duty.

use crate::clock::{DAY_MS, Timestamp};
use crate::id::Id;
use crate::model::contact::NamedContact;
use crate::model::time_range::TimeRange;

/// Maximum number each of overrides, absences and cover requests of an organisation.
pub const ENTRIES_MAX: u64 = 5_000;
/// The time after which entries that are over make room for new ones, in milliseconds: they are too old to be shown.
pub const RETENTION_MS: i64 = 400 * DAY_MS;
/// The longest time that an entry may cover, in days.
pub const LENGTH_DAYS_MAX: i64 = 366;

/// A schedule as others name it.
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
    /// Database key of the organisation that owns it.
    pub organisation: i64,
    /// The schedule that it changes.
    pub schedule: NamedSchedule,
    /// The contact who takes over.
    pub contact: NamedContact,
    /// The time in which it applies.
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
    /// Database key of the organisation that owns it.
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
