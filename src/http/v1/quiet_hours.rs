//! Quiet hours of a channel or a contact: how they are read from a body, and their view.

use serde::Serialize;
use utoipa::ToSchema;

use crate::http::kit::field::BodyField;
use crate::http::kit::fields::BodyFields;
use crate::http::openapi::shape::{ApiSchema, enum_of, object, string};
use crate::http::v1::weekly_hours::{HoursView, read_hours, read_zone, weekly_hours};
use crate::model::incident::Severity;
use crate::model::notification::quiet_hours::QuietHours;
use crate::model::recurrence::zone::IanaZone;
use crate::model::sla::business_hours::BusinessHours;

const MEMBERS: [&str; 3] = ["hours", "time_zone", "except_from"];
/// Members of a contact's quiet hours, which use the time zone of the contact.
const OWN_MEMBERS: [&str; 2] = ["hours", "except_from"];

/// Reads quiet hours. Without `except_from`, critical messages are not held back.
pub(super) fn read_quiet_hours(field: &BodyField<'_>) -> Option<QuietHours> {
    let members = field.object()?;
    members.refuse_unknown(&MEMBERS);
    let zone = members.required("time_zone").and_then(|field| read_zone(&field));
    let (hours, except_from) = read_parts(&members);
    Some(QuietHours { hours: hours?, zone: zone?, except_from })
}

/// Reads the quiet hours of a contact, whose time zone is `zone`.
pub(super) fn read_own_quiet_hours(field: &BodyField<'_>, zone: IanaZone) -> Option<QuietHours> {
    let members = field.object()?;
    members.refuse_unknown(&OWN_MEMBERS);
    let (hours, except_from) = read_parts(&members);
    Some(QuietHours { hours: hours?, zone, except_from })
}

fn read_parts(members: &BodyFields<'_>) -> (Option<BusinessHours>, Severity) {
    let hours = members.required("hours").and_then(|field| read_hours(&field));
    let except_from =
        members.optional("except_from").and_then(|field| field.word(Severity::WORDS)?.parse().ok());
    (hours, except_from.unwrap_or(Severity::Critical))
}

/// Quiet hours: weekly hours in which less severe messages are held back.
#[derive(Serialize, ToSchema)]
pub(super) struct QuietHoursView {
    hours: Vec<HoursView>,
    time_zone: &'static str,
    except_from: &'static str,
}

impl QuietHoursView {
    /// Creates the view of quiet hours.
    pub(super) fn of(quiet: &QuietHours) -> Self {
        Self {
            hours: HoursView::of(&quiet.hours),
            time_zone: quiet.zone.name(),
            except_from: quiet.except_from.as_str(),
        }
    }
}

/// Quiet hours of a contact, in the contact's time zone: weekly hours in which less severe messages are held back.
#[derive(Serialize, ToSchema)]
pub(super) struct OwnQuietHoursView {
    hours: Vec<HoursView>,
    except_from: &'static str,
}

impl OwnQuietHoursView {
    /// Creates the view of a contact's quiet hours.
    pub(super) fn of(quiet: &QuietHours) -> Self {
        Self { hours: HoursView::of(&quiet.hours), except_from: quiet.except_from.as_str() }
    }
}

/// The schema of a contact's quiet hours, or null.
pub(super) fn own_quiet_hours() -> ApiSchema {
    let words = "In these hours, in the contact's time zone, messages less severe than `except_from` are held until the hours end; null: none is held. A contact on duty is notified at any hour.";
    object()
        .has("hours", weekly_hours())
        .may_have("except_from", enum_of(Severity::WORDS).says("`critical` unless given."))
        .nullable()
        .says(words)
}

/// The schema of quiet hours with a time zone, or null.
pub(super) fn quiet_hours() -> ApiSchema {
    let words = "In these hours, in the local time of `time_zone`, messages less severe than `except_from` are held until the hours end; null: none is held.";
    object()
        .has("hours", weekly_hours())
        .has("time_zone", string().says("A name of the IANA database.").example("Europe/Berlin"))
        .may_have("except_from", enum_of(Severity::WORDS).says("`critical` unless given."))
        .nullable()
        .says(words)
}
