//! SLA targets: an agreed availability of a service, or of all services with a tag.
//!
//! A target has an `objective` in per cent of the measured time of a period (`calendar`) in a time zone. It may be
//! restricted to business hours (`business_hours`). The allowed downtime is the `budget`; the speed of its use is `burn`.
//! How the time of a service is classified is in `stats::sla`.

pub mod budget;
pub mod burn;
pub mod business_hours;
pub mod calendar;
pub mod objective;

use std::ops::RangeInclusive;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::incident_policy::PolicyTag;
use crate::model::recurrence::zone::IanaZone;
use crate::model::service::NamedService;
use crate::model::sla::business_hours::BusinessHours;
use crate::model::sla::calendar::SlaPeriod;
use crate::model::sla::objective::SlaObjective;

/// Permitted number of characters of the name of a target.
pub const NAME_LENGTH: RangeInclusive<usize> = 1..=255;

/// The services that a target is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlaSubject {
    /// A single service.
    Service(NamedService),
    /// All services that carry the tag at the time of the query.
    Tag(PolicyTag),
}

/// The objective of a target, and the time in which it applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlaTerms {
    /// The share of the measured time that must be up.
    pub objective: SlaObjective,
    /// The period for which the objective is evaluated.
    pub period: SlaPeriod,
    /// The time zone of the period and of business hours.
    pub zone: IanaZone,
    /// The hours that count; `None` = all hours.
    pub business_hours: Option<BusinessHours>,
}

/// An SLA target: a promised availability of services.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlaTarget {
    /// Key of the row.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
    /// Database key of the organisation.
    pub organisation: i64,
    /// Display name.
    pub name: String,
    /// The services that the target is about.
    pub subject: SlaSubject,
    /// Objective, period and business hours.
    pub terms: SlaTerms,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last write by a client.
    pub updated_at: Timestamp,
}
