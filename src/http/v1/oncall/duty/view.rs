//! Shifts and contacts on duty as clients see them.

use std::collections::HashMap;

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::openapi::shape::{
    ApiSchema, enum_of, id, list_of, object, string, timestamp, timestamp_or_null,
};
use crate::id::Id;
use crate::model::contact::NamedContact;
use crate::model::oncall::duty_status::DutyStatus;
use crate::model::oncall::roster::{DutyTimeline, Shift, ShiftSource};
use crate::model::oncall::schedule::OncallSchedule;
use crate::model::time_range::TimeRange;

const SOURCES: [&str; 2] = ["layer", "override"];

/// Contacts by database key.
pub(super) type Names = HashMap<i64, NamedContact>;

/// The shifts and uncovered periods of a schedule in a period.
#[derive(Serialize, ToSchema)]
pub(super) struct DutyView<'a> {
    #[schema(schema_with = timestamp)]
    from: Timestamp,
    #[schema(schema_with = timestamp)]
    to: Timestamp,
    #[schema(schema_with = string)]
    time_zone: &'static str,
    #[schema(schema_with = shifts)]
    shifts: Vec<ShiftView<'a>>,
    #[schema(schema_with = gaps)]
    gaps: Vec<UncoveredPeriodView>,
}

#[derive(Serialize)]
struct ShiftView<'a> {
    starts_at: Timestamp,
    ends_at: Timestamp,
    contact_id: Id,
    contact_name: &'a str,
    source: &'static str,
    layer_name: Option<&'a str>,
    override_id: Option<Id>,
}

#[derive(Serialize)]
struct UncoveredPeriodView {
    starts_at: Timestamp,
    ends_at: Timestamp,
}

impl<'a> DutyView<'a> {
    /// Creates the view of the duty of a schedule. Deleted contacts are left out.
    pub(super) fn of(
        schedule: &'a OncallSchedule,
        range: TimeRange,
        duty: &DutyTimeline,
        names: &'a Names,
    ) -> Self {
        let gap = |gap: &TimeRange| UncoveredPeriodView { starts_at: gap.from, ends_at: gap.to };
        Self {
            from: range.from,
            to: range.to,
            time_zone: schedule.zone.name(),
            shifts: duty.shifts.iter().filter_map(|shift| ShiftView::of(schedule, shift, names)).collect(),
            gaps: duty.gaps.iter().map(gap).collect(),
        }
    }
}

impl<'a> ShiftView<'a> {
    fn of(schedule: &'a OncallSchedule, shift: &Shift, names: &'a Names) -> Option<Self> {
        let contact = names.get(&shift.contact)?;
        let (source, layer_name, override_id) = match shift.source {
            ShiftSource::Layer(index) => {
                (0, schedule.layers.get(index).map(|layer| layer.name.as_str()), None)
            }
            ShiftSource::Override(id) => (1, None, Some(id)),
        };
        Some(Self {
            starts_at: shift.range.from,
            ends_at: shift.range.to,
            contact_id: contact.id,
            contact_name: &contact.name,
            source: SOURCES[source],
            layer_name,
            override_id,
        })
    }
}

/// The contacts on duty in a schedule, now and next.
#[derive(Serialize, ToSchema)]
pub(super) struct CurrentView<'a> {
    #[schema(schema_with = id)]
    schedule_id: Id,
    #[schema(schema_with = string)]
    schedule_name: &'a str,
    #[schema(schema_with = on_duty, required)]
    on_duty: Option<PersonView<'a>>,
    #[schema(schema_with = since, required)]
    since: Option<Timestamp>,
    #[schema(schema_with = until, required)]
    until: Option<Timestamp>,
    #[schema(schema_with = next, required)]
    next: Option<NextView<'a>>,
}

#[derive(Serialize)]
struct PersonView<'a> {
    contact_id: Id,
    contact_name: &'a str,
}

#[derive(Serialize)]
struct NextView<'a> {
    contact_id: Id,
    contact_name: &'a str,
    starts_at: Timestamp,
}

impl<'a> CurrentView<'a> {
    /// Creates the view of a schedule at one moment.
    pub(super) fn of(schedule: &'a OncallSchedule, present: &DutyStatus, names: &'a Names) -> Self {
        let person = |shift: &Shift| {
            let contact = names.get(&shift.contact)?;
            Some(PersonView { contact_id: contact.id, contact_name: &contact.name })
        };
        let next = |shift: &Shift| {
            let PersonView { contact_id, contact_name } = person(shift)?;
            Some(NextView { contact_id, contact_name, starts_at: shift.range.from })
        };
        Self {
            schedule_id: schedule.id,
            schedule_name: &schedule.name,
            on_duty: present.on_duty.as_ref().and_then(person),
            since: present.since,
            until: present.until,
            next: present.next.as_ref().and_then(next),
        }
    }
}

fn shifts() -> ApiSchema {
    let layer = string().nullable().says("The name of the layer; null for an override.");
    let shift = object()
        .has_all(&["starts_at", "ends_at"], &timestamp())
        .has("contact_id", id())
        .has("contact_name", string())
        .has("source", enum_of(&SOURCES).says("What puts the contact on duty."))
        .has("layer_name", layer)
        .has("override_id", id().nullable().says("The override; null for a layer."));
    list_of(shift).says("Who is on duty, in chronological order.")
}

fn gaps() -> ApiSchema {
    let gap = object().has_all(&["starts_at", "ends_at"], &timestamp());
    list_of(gap).says("The uncovered periods: nobody is on duty.")
}

fn person() -> ApiSchema {
    object().has("contact_id", id()).has("contact_name", string())
}

fn on_duty() -> ApiSchema {
    person().nullable().says("Who is on duty; null: nobody is.")
}

fn since() -> ApiSchema {
    timestamp_or_null().says("Start of that state; null: more than 400 days ago.")
}

fn until() -> ApiSchema {
    timestamp_or_null().says("End of that state; null: more than 400 days ahead.")
}

fn next() -> ApiSchema {
    person()
        .has("starts_at", timestamp())
        .nullable()
        .says("The shift after that; null: there is none within 400 days.")
}
