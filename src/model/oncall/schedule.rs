//! On-call schedules as they are stored: layers of rotations, overrides, absences.

use std::ops::RangeInclusive;

use chrono::{Datelike as _, NaiveDate, TimeDelta};

use crate::clock::{DAY_MS, Timestamp};
use crate::id::Id;
use crate::model::notification::routing::ResourceReference;
use crate::model::recurrence::zone::IanaZone;
use crate::model::sla::business_hours::{BusinessHours, ClockTime, DayOfWeek};
use crate::model::time_range::TimeRange;

/// Permitted number of characters of the name of a schedule, and of a layer.
pub const NAME_LENGTH: RangeInclusive<usize> = 1..=255;
/// Maximum number of schedules of an organisation on any plan.
pub const SCHEDULES_MAX: u64 = 200;
/// Maximum number of layers of a schedule. There is at least one.
pub const LAYERS_MAX: usize = 10;
/// Maximum number of contacts of a layer. There is at least one.
pub const CONTACTS_MAX: usize = 50;
/// Permitted number of hours, days or weeks between two hand-overs.
pub const LENGTH: RangeInclusive<u32> = 1..=366;
/// Maximum number of days for which one request may compute shifts.
pub const DAYS_MAX: i64 = 400;
const HOUR_MS: i64 = 3_600_000;

/// An on-call schedule as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OncallSchedule {
    /// Key of the row; 0 before it is stored.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
    /// Database key of the organisation that owns the schedule.
    pub organisation: i64,
    /// Name, 1..255 characters.
    pub name: String,
    /// The time zone of the hand-overs.
    pub zone: IanaZone,
    /// The layers, the lowest first.
    pub layers: Vec<RotationLayer>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last write by a client.
    pub updated_at: Timestamp,
}

/// A layer of a schedule: contacts who are on duty in rotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RotationLayer {
    /// Name, 1..255 characters.
    pub name: String,
    /// The contacts, in the order of their shifts; at least one.
    pub contacts: Vec<ResourceReference>,
    /// Start of the layer, inclusive.
    pub starts_at: Timestamp,
    /// End of the layer, exclusive; `None` = open end.
    pub ends_at: Option<Timestamp>,
    /// How duty passes from contact to contact.
    pub rotation: Rotation,
    /// The hours with duty; `None` = around the clock.
    pub hours: Option<BusinessHours>,
}

/// When duty passes to the next contact of a layer.
///
/// Shifts of days and weeks are counted by the calendar of the zone, from the last hand-over time at or before the start of
/// the layer. So the first shift has its full length if the layer starts at a hand-over time. A hand-over time that clocks
/// skip is read with the offset before the gap; of a time that clocks show twice, the first is used (RFC 5545, 3.3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rotation {
    /// Every `days` days at this time.
    Daily {
        /// Length of a shift in days.
        days: u32,
        /// The time of the hand-over, in the zone of the schedule.
        at: ClockTime,
    },
    /// Every `weeks` weeks on this day at this time.
    Weekly {
        /// Length of a shift in weeks.
        weeks: u32,
        /// Day of the hand-over.
        day: DayOfWeek,
        /// The time of the hand-over, in the zone of the schedule.
        at: ClockTime,
    },
    /// Every `hours` hours from the start of the layer, also across changes of the clocks.
    Hours {
        /// Length of a shift in hours.
        hours: u32,
    },
}

/// An override: a contact takes over for a time, with precedence over all layers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DutyOverride {
    /// Key of the row. Newer overrides have higher keys.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
    /// Database key of the contact who takes over.
    pub contact: i64,
    /// The time in which the override applies.
    pub range: TimeRange,
}

/// An absence: a contact is not on duty for a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContactAbsence {
    /// Database key of the absent contact.
    pub contact: i64,
    /// The time of the absence.
    pub range: TimeRange,
}

impl OncallSchedule {
    /// Returns true if a layer contains this contact.
    #[must_use]
    pub fn names(&self, contact: i64) -> bool {
        self.layers.iter().flat_map(|layer| &layer.contacts).any(|named| named.key == contact)
    }
}

/// Computes the starts of the shifts of a layer.
pub(super) enum RotationCalendar {
    /// Shifts start on dates, at a time of the zone.
    Dates { zone: IanaZone, first: NaiveDate, days: i64, at: ClockTime },
    /// Shifts have equal lengths in milliseconds.
    Steady { first: Timestamp, ms: i64 },
}

impl RotationLayer {
    /// The calendar by which the shifts of this layer start.
    pub(super) fn turns(&self, zone: IanaZone) -> RotationCalendar {
        match self.rotation {
            Rotation::Hours { hours } => {
                RotationCalendar::Steady { first: self.starts_at, ms: i64::from(hours.max(1)) * HOUR_MS }
            }
            Rotation::Daily { days, at } => {
                let first = first_date(zone, self.starts_at, at, None);
                RotationCalendar::Dates { zone, first, days: i64::from(days.max(1)), at }
            }
            Rotation::Weekly { weeks, day, at } => {
                let first = first_date(zone, self.starts_at, at, Some(day));
                RotationCalendar::Dates { zone, first, days: i64::from(weeks.max(1)) * 7, at }
            }
        }
    }
}

/// The date of the last hand-over at or before a time.
fn first_date(zone: IanaZone, starts_at: Timestamp, at: ClockTime, day: Option<DayOfWeek>) -> NaiveDate {
    let shown = zone.wall(starts_at).map_or(NaiveDate::MIN, |wall| wall.date());
    let is_it = |date: &NaiveDate| {
        let is_day = day.is_none_or(|day| day as u32 == date.weekday().num_days_from_monday());
        is_day && moment(zone, *date, at) <= starts_at
    };
    // The first candidate is tomorrow, because a zone may have changed sides of the date line.
    let candidates = (0..16).filter_map(|back| shown.checked_sub_signed(TimeDelta::days(back - 1)));
    candidates.into_iter().find(is_it).unwrap_or(shown)
}

fn moment(zone: IanaZone, date: NaiveDate, at: ClockTime) -> Timestamp {
    zone.instant(date.and_time(chrono::NaiveTime::MIN) + TimeDelta::minutes(at.minutes()))
}

impl RotationCalendar {
    /// The start of the shift with this number; 0 is the first of the layer.
    pub(super) fn begin(&self, turn: i64) -> Timestamp {
        match self {
            Self::Steady { first, ms } => first.plus_ms(turn * ms),
            Self::Dates { zone, first, days, at } => {
                let date = first.checked_add_signed(TimeDelta::days(turn * days)).unwrap_or(*first);
                moment(*zone, date, *at)
            }
        }
    }

    /// The number of the shift that contains a moment. Where a zone skips whole days, several shifts may have no length;
    /// then the last one that starts at or before the moment.
    pub(super) fn turn_at(&self, at: Timestamp) -> i64 {
        let mut turn = match self {
            Self::Steady { first, ms } => at.ms_since(*first).div_euclid(*ms),
            Self::Dates { days, .. } => at.ms_since(self.begin(0)).div_euclid(days * DAY_MS),
        };
        while self.begin(turn) > at {
            turn -= 1;
        }
        while self.begin(turn + 1) <= at {
            turn += 1;
        }
        turn
    }
}
