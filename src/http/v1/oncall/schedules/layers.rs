//! Layers of an on-call schedule: how they are read from a body, and their view.

use std::collections::HashMap;

use serde::Serialize;

use crate::clock::Timestamp;
use crate::http::kit::field::BodyField;
use crate::http::kit::fields::{BodyFields, FieldPatch};
use crate::http::kit::linked_ids::read_id;
use crate::http::kit::rule::FieldRule;
use crate::http::openapi::shape::{
    ApiSchema, enum_of, id, instant, integer, list_of, object, string, text_in,
};
use crate::http::v1::weekly_hours::{HoursView, read_hours, weekly_hours};
use crate::id::Id;
use crate::model::notification::routing::ResourceReference;
use crate::model::oncall::schedule::{
    CONTACTS_MAX, LAYERS_MAX, LENGTH, NAME_LENGTH, Rotation, RotationLayer,
};
use crate::model::sla::business_hours::{ClockTime, DayOfWeek};

const MEMBERS: [&str; 6] = ["name", "contact_ids", "starts_at", "ends_at", "rotation", "hours"];
const ROTATION_MEMBERS: [&str; 4] = ["kind", "length", "at", "day"];
const KINDS: [&str; 3] = ["daily", "weekly", "hours"];

/// Reads a list of at least one layer, the lowest first.
pub(super) fn read_layers(field: &BodyField<'_>, contacts: &HashMap<Id, i64>) -> Option<Vec<RotationLayer>> {
    let entries = field.list(LAYERS_MAX)?;
    if entries.is_empty() {
        return field.refuse(FieldRule::MinItems(1));
    }
    // All layers are read before the first error ends reading, so that every error is reported.
    let read: Vec<Option<RotationLayer>> = entries.iter().map(|entry| read_layer(entry, contacts)).collect();
    read.into_iter().collect()
}

fn read_layer(field: &BodyField<'_>, contacts: &HashMap<Id, i64>) -> Option<RotationLayer> {
    let members = field.object()?;
    members.refuse_unknown(&MEMBERS);
    let name = members.required("name").and_then(|field| field.text(NAME_LENGTH));
    let contacts = members.required("contact_ids").and_then(|field| read_contacts(&field, contacts));
    let starts_at = members.required("starts_at").and_then(|field| field.timestamp());
    let ends_at = members.nullable("ends_at").read(|field| field.timestamp()).or_stored(None);
    let rotation = members.required("rotation").and_then(|field| read_rotation(&field));
    let hours = members.nullable("hours").read(|field| read_hours(&field)).or_stored(None);
    let starts_at = starts_at?;
    if ends_at.is_some_and(|ends_at| ends_at <= starts_at) {
        members.refuse("ends_at", FieldRule::After("starts_at"));
        return None;
    }
    Some(RotationLayer { name: name?, contacts: contacts?, starts_at, ends_at, rotation: rotation?, hours })
}

/// Reads the contacts in the order of their shifts; a contact may occur several times.
fn read_contacts(field: &BodyField<'_>, contacts: &HashMap<Id, i64>) -> Option<Vec<ResourceReference>> {
    let entries = field.list(CONTACTS_MAX)?;
    if entries.is_empty() {
        return field.refuse(FieldRule::MinItems(1));
    }
    let read = |entry: &BodyField<'_>| {
        let id = read_id(entry)?;
        let unknown = || FieldRule::UnknownId { kind: "contact", id: id.to_string() };
        let key = contacts.get(&id).copied().or_else(|| entry.refuse(unknown()))?;
        Some(ResourceReference { key, id })
    };
    let read: Vec<Option<ResourceReference>> = entries.iter().map(read).collect();
    read.into_iter().collect()
}

fn read_rotation(field: &BodyField<'_>) -> Option<Rotation> {
    let members = field.object()?;
    members.refuse_unknown(&ROTATION_MEMBERS);
    let kind = members.required("kind").and_then(|field| field.word(&KINDS))?;
    let bounds = i64::from(*LENGTH.start())..=i64::from(*LENGTH.end());
    let length = match members.nullable("length") {
        FieldPatch::Value(field) => field.integer(bounds).and_then(|length| u32::try_from(length).ok()),
        FieldPatch::Absent | FieldPatch::Null => Some(1),
    };
    let day =
        || members.required("day").and_then(|field| field.word(DayOfWeek::WORDS)?.parse::<DayOfWeek>().ok());
    let at = || members.required("at").and_then(|field| read_time(&field));
    match kind {
        "daily" => {
            refuse_members(&members, &["day"])?;
            Some(Rotation::Daily { days: length?, at: at()? })
        }
        "weekly" => {
            let (day, at) = (day(), at());
            Some(Rotation::Weekly { weeks: length?, day: day?, at: at? })
        }
        _ => {
            refuse_members(&members, &["day", "at"])?;
            Some(Rotation::Hours { hours: length? })
        }
    }
}

/// Refuses members of another kind of rotation, unless they are null, as responses show them.
fn refuse_members(members: &BodyFields<'_>, names: &[&str]) -> Option<()> {
    let sent: Vec<&&str> = names.iter().filter(|name| members.skippable(name).is_some()).collect();
    for name in &sent {
        members.refuse(name, FieldRule::RotationField);
    }
    sent.is_empty().then_some(())
}

/// Reads a time of day; midnight is 00:00, not 24:00.
fn read_time(field: &BodyField<'_>) -> Option<ClockTime> {
    let read: Option<ClockTime> = field.string()?.trim().parse().ok();
    let within = read.filter(|time| time.minutes() < 24 * 60);
    within.or_else(|| field.refuse(FieldRule::Form("a time as HH:MM, from 00:00 to 23:59")))
}

/// A layer: contacts who take turns on duty.
#[derive(Serialize)]
pub(super) struct LayerView<'a> {
    name: &'a str,
    contact_ids: Vec<Id>,
    starts_at: Timestamp,
    ends_at: Option<Timestamp>,
    rotation: RotationView,
    hours: Option<Vec<HoursView>>,
}

#[derive(Serialize)]
struct RotationView {
    kind: &'static str,
    length: u32,
    day: Option<&'static str>,
    at: Option<String>,
}

impl<'a> LayerView<'a> {
    /// Creates the view of a layer.
    pub(super) fn of(layer: &'a RotationLayer) -> Self {
        Self {
            name: &layer.name,
            contact_ids: layer.contacts.iter().map(|contact| contact.id).collect(),
            starts_at: layer.starts_at,
            ends_at: layer.ends_at,
            rotation: RotationView::of(layer.rotation),
            hours: layer.hours.as_ref().map(HoursView::of),
        }
    }
}

impl RotationView {
    fn of(rotation: Rotation) -> Self {
        match rotation {
            Rotation::Daily { days, at } => {
                Self { kind: KINDS[0], length: days, day: None, at: Some(at.to_string()) }
            }
            Rotation::Weekly { weeks, day, at } => {
                Self { kind: KINDS[1], length: weeks, day: Some(day.as_str()), at: Some(at.to_string()) }
            }
            Rotation::Hours { hours } => Self { kind: KINDS[2], length: hours, day: None, at: None },
        }
    }
}

/// The schema of the layers in a body.
pub(super) fn layers() -> ApiSchema {
    let contacts = "Who takes turns, in this order; a contact may be listed several times.";
    let layer = object()
        .has("name", text_in(&NAME_LENGTH))
        .has("contact_ids", list_of(id()).items(1, CONTACTS_MAX).says(contacts))
        .has("starts_at", instant().says("The time from which the layer applies."))
        .may_have(
            "ends_at",
            instant().nullable().says("The time until which the layer applies; null: no end."),
        )
        .has("rotation", rotation())
        .may_have("hours", weekly_hours().nullable().says("The hours of duty; null: always."));
    let words = "People who take turns. A later layer overrides an earlier one.";
    list_of(layer).items(1, LAYERS_MAX).says(words)
}

fn rotation() -> ApiSchema {
    let length = integer().range(*LENGTH.start(), *LENGTH.end());
    let at = string().pattern("^([01][0-9]|2[0-3]):[0-5][0-9]$").nullable().example("09:00");
    object()
        .has(
            "kind",
            enum_of(&KINDS).says("The unit of turns; `hours` are counted from the start of the layer."),
        )
        .may_have("length", length.says("Days, weeks or hours of a turn; 1 unless given."))
        .may_have("day", enum_of(DayOfWeek::WORDS).nullable().says("The weekday of a weekly hand-over."))
        .may_have(
            "at",
            at.says("The local time of a daily or weekly hand-over, in the time zone of the schedule."),
        )
        .says("When duty changes hands.")
}
