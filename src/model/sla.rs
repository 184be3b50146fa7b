//! SLA targets: the promise about a service, or about all services with a tag, over some time.
//!
//! The promise is an `objective` in per cent of the measured time of a period (`calendar`), in a time zone, and
//! optionally only of business hours (`business_hours`). The allowed downtime is the `budget`; the speed of its use
//! is `burn`. The classification of a service's time is arithmetic of intervals (`stats::sla`).

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

/// Permitted number of characters of a name.
pub const NAME_LENGTH: RangeInclusive<usize> = 1..=255;

/// The subject of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlaSubject {
    /// A single service.
    Service(NamedService),
    /// All services that carry the tag at the time of the query.
    Tag(PolicyTag),
}

/// The promise of a target, and its period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlaTerms {
    /// The share of the time in which it must work.
    pub objective: SlaObjective,
    /// The time over which it is judged.
    pub period: SlaPeriod,
    /// The zone of the calendar and of business hours.
    pub zone: IanaZone,
    /// The hours that count; `None` = all.
    pub business_hours: Option<BusinessHours>,
}

/// An SLA target: a promised availability of services.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlaTarget {
    /// Database key.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
    /// Database key of the organisation.
    pub organisation: i64,
    /// Display name.
    pub name: String,
    /// The services that it is about.
    pub subject: SlaSubject,
    /// Objective, period and hours of the promise.
    pub terms: SlaTerms,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last write by a client.
    pub updated_at: Timestamp,
}
