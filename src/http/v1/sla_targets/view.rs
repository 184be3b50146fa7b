//! SLA targets as clients see them.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::openapi::shape::{
    ApiSchema, enum_of, id, integer, number, string, string_or_null, text_in, timestamp,
};
use crate::http::v1::weekly_hours::{HoursView, weekly_hours};
use crate::id::Id;
use crate::model::sla::calendar::{PeriodKind, ROLLING_DAYS};
use crate::model::sla::{NAME_LENGTH, SlaSubject, SlaTarget};

/// An SLA target: the agreed availability of services.
#[derive(Serialize, ToSchema)]
#[schema(as = SlaTarget)]
pub(super) struct SlaTargetView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    #[schema(schema_with = name)]
    name: &'a str,
    #[schema(schema_with = service_id, required)]
    service_id: Option<Id>,
    #[schema(schema_with = string_or_null, required)]
    service_name: Option<&'a str>,
    #[schema(schema_with = tag_id, required)]
    tag_id: Option<Id>,
    #[schema(schema_with = tag_label, required)]
    tag_label: Option<&'a str>,
    #[schema(schema_with = objective)]
    objective: f64,
    #[schema(schema_with = period)]
    period: &'static str,
    #[schema(schema_with = rolling_days, required)]
    rolling_days: Option<u16>,
    #[schema(schema_with = time_zone)]
    time_zone: &'static str,
    #[schema(schema_with = business_hours, required)]
    business_hours: Option<Vec<HoursView>>,
    #[schema(schema_with = timestamp)]
    created_at: Timestamp,
    #[schema(schema_with = timestamp)]
    updated_at: Timestamp,
}

impl<'a> SlaTargetView<'a> {
    /// Creates the view of a target.
    pub(super) fn of(target: &'a SlaTarget) -> Self {
        let (service, tag) = match &target.subject {
            SlaSubject::Service(service) => (Some(service), None),
            SlaSubject::Tag(tag) => (None, Some(tag)),
        };
        let terms = &target.terms;
        Self {
            id: target.id,
            name: &target.name,
            service_id: service.map(|service| service.id),
            service_name: service.map(|service| service.name.as_str()),
            tag_id: tag.map(|tag| tag.id),
            tag_label: tag.map(|tag| tag.label.as_str()),
            objective: terms.objective.percent(),
            period: terms.period.kind().as_str(),
            rolling_days: terms.period.rolling_days(),
            time_zone: terms.zone.name(),
            business_hours: terms.business_hours.as_ref().map(HoursView::of),
            created_at: target.created_at,
            updated_at: target.updated_at,
        }
    }
}

pub(super) fn name() -> ApiSchema {
    text_in(&NAME_LENGTH)
}

pub(super) fn service_id() -> ApiSchema {
    id().nullable().says("The service of the target; null: the services that carry the tag.")
}

pub(super) fn tag_id() -> ApiSchema {
    id().nullable().says("The target applies to all services that carry this tag; null: to one service.")
}

fn tag_label() -> ApiSchema {
    string_or_null().says("`key:value`, or `key` alone.")
}

pub(super) fn objective() -> ApiSchema {
    let words = "Per cent of the measured time that must be up: 50 to 99.9999, with at most four decimals.";
    number().says(words).example(99.9)
}

pub(super) fn period() -> ApiSchema {
    enum_of(PeriodKind::WORDS).says("The calendar period of the objective, or a rolling number of days.")
}

pub(super) fn rolling_days() -> ApiSchema {
    let days = integer().range(u32::from(*ROLLING_DAYS.start()), u32::from(*ROLLING_DAYS.end()));
    days.nullable().says("Length of a rolling period in days of 24 hours; null for the others.")
}

pub(super) fn time_zone() -> ApiSchema {
    string()
        .says("A name of the IANA database, for the calendar and for business hours.")
        .example("Europe/Berlin")
}

pub(super) fn business_hours() -> ApiSchema {
    weekly_hours().nullable().says("Only these hours count, in local time; null: all.")
}
