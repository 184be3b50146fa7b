//! Hours of a week, and quiet hours made of them.

use crate::console::screens::resources::spec::{FieldKind as Kind, FieldSpec, field, needed};
use crate::model::incident::Severity;
use crate::model::sla::business_hours::DayOfWeek;

pub(super) const DAYS: &[&str] = DayOfWeek::WORDS;

/// Hours that are the same on some days of the week.
pub(super) const HOURS: &[FieldSpec] =
    &[needed("days", Kind::Words(DAYS)), needed("from", Kind::Text), needed("to", Kind::Text)];

const EXCEPTION: FieldSpec = field("except_from", Kind::Word(Severity::WORDS));

/// Quiet hours of a channel.
pub(super) const QUIET_HOURS: &[FieldSpec] =
    &[needed("hours", Kind::Rows(HOURS)), field("time_zone", Kind::Text), EXCEPTION];

/// Quiet hours of a contact, in the time zone of the contact.
pub(super) const OWN_QUIET_HOURS: &[FieldSpec] = &[needed("hours", Kind::Rows(HOURS)), EXCEPTION];
