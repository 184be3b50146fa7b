//! Weekly hours and the time zone in which they are evaluated: how both are read from a body, and their view.

use serde::Serialize;
use utoipa::ToSchema;

use crate::http::kit::field::BodyField;
use crate::http::kit::rule::FieldRule;
use crate::http::openapi::shape::{ApiSchema, enum_of, list_of, object, string};
use crate::model::recurrence::zone::IanaZone;
use crate::model::sla::business_hours::{BusinessHours, ClockTime, DayOfWeek, ENTRIES_MAX, WeeklyHours};

const MEMBERS: [&str; 3] = ["days", "from", "to"];

/// Reads weekly hours, a list of at least one entry.
pub(super) fn read_hours(field: &BodyField<'_>) -> Option<BusinessHours> {
    let entries = field.list(ENTRIES_MAX)?;
    if entries.is_empty() {
        return field.refuse(FieldRule::MinItems(1));
    }
    // All entries are read before the first error ends reading, so that every error is reported.
    let read: Vec<Option<WeeklyHours>> = entries.iter().map(read_entry).collect();
    read.into_iter().collect::<Option<_>>().map(BusinessHours)
}

/// Reads a time zone by its name in the IANA database.
pub(super) fn read_zone(field: &BodyField<'_>) -> Option<IanaZone> {
    let name = field.string()?.trim();
    name.parse().ok().or_else(|| field.refuse(FieldRule::TimeZone))
}

fn read_entry(field: &BodyField<'_>) -> Option<WeeklyHours> {
    let members = field.object()?;
    members.refuse_unknown(&MEMBERS);
    let days = members.required("days").and_then(|field| read_days(&field));
    let from = members.required("from").and_then(|field| read_time(&field));
    let to = members.required("to").and_then(|field| read_time(&field));
    let hours = WeeklyHours { days: days?, from: from?, to: to? };
    if hours.to <= hours.from {
        members.refuse("to", FieldRule::After("from"));
        return None;
    }
    Some(hours)
}

fn read_days(field: &BodyField<'_>) -> Option<Vec<DayOfWeek>> {
    let entries = field.list(DayOfWeek::ALL.len())?;
    if entries.is_empty() {
        return field.refuse(FieldRule::MinItems(1));
    }
    let read: Vec<Option<DayOfWeek>> =
        entries.iter().map(|entry| entry.word(DayOfWeek::WORDS)?.parse().ok()).collect();
    read.into_iter().collect()
}

fn read_time(field: &BodyField<'_>) -> Option<ClockTime> {
    let text = field.string()?.trim();
    text.parse().ok().or_else(|| field.refuse(FieldRule::ClockTime))
}

/// Hours that are the same on some days of the week.
#[derive(Serialize, ToSchema)]
pub(super) struct HoursView {
    #[schema(schema_with = days)]
    days: Vec<&'static str>,
    #[schema(schema_with = time)]
    from: String,
    #[schema(schema_with = time)]
    to: String,
}

impl HoursView {
    /// Creates the views of weekly hours, in the order of their entries.
    pub(super) fn of(hours: &BusinessHours) -> Vec<Self> {
        let entry = |hours: &WeeklyHours| Self {
            days: hours.days.iter().map(|day| day.as_str()).collect(),
            from: hours.from.to_string(),
            to: hours.to.to_string(),
        };
        hours.0.iter().map(entry).collect()
    }
}

fn days() -> ApiSchema {
    list_of(enum_of(DayOfWeek::WORDS)).items(1, DayOfWeek::ALL.len())
}

fn time() -> ApiSchema {
    string().pattern("^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$").example("09:00")
}

pub(super) fn weekly_hours() -> ApiSchema {
    let entry = object().has("days", days()).has("from", time()).has("to", time());
    list_of(entry).items(1, ENTRIES_MAX)
}
