//! Reads an SLA target from a request body. Every field is read and every error collected; nothing is stored.

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::http::kit::field::BodyField;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector, FieldPatch};
use crate::http::kit::linked_ids::read_id;
use crate::http::kit::rule::FieldRule;
use crate::http::v1::weekly_hours::{read_hours, read_zone};
use crate::id::Id;
use crate::model::incident_policy::PolicyTag;
use crate::model::service::NamedService;
use crate::model::sla::calendar::{PeriodKind, ROLLING_DAYS, SlaPeriod};
use crate::model::sla::objective::SlaObjective;
use crate::model::sla::{NAME_LENGTH, SlaSubject, SlaTarget, SlaTerms};

/// Reads SLA targets of one organisation.
pub(super) struct SlaTargetParser {
    /// Database key of the organisation.
    pub(super) organisation: i64,
    /// The service named in the body, if it exists.
    pub(super) service: Option<NamedService>,
    /// The tag named in the body, if it exists.
    pub(super) tag: Option<PolicyTag>,
    pub(super) now: Timestamp,
}

impl SlaTargetParser {
    /// Reads the body of a create request.
    pub(super) fn read_new(&self, body: &Map<String, Value>) -> Result<SlaTarget, FieldErrors> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let name = fields.required("name").and_then(|field| field.text(NAME_LENGTH));
        let subject = self.read_subject(&fields, None);
        let objective = fields.required("objective").and_then(|field| read_objective(&field));
        let period = read_period(&fields, None);
        let zone = fields.required("time_zone").and_then(|field| read_zone(&field));
        let business_hours = fields.nullable("business_hours").read(|field| read_hours(&field));
        errors.into_inner().into_result(())?;
        let terms = objective.zip(period).zip(zone).map(|((objective, period), zone)| SlaTerms {
            objective,
            period,
            zone,
            business_hours: business_hours.or_stored(None),
        });
        let missing = || FieldErrors::of("name", FieldRule::Required);
        Ok(SlaTarget {
            key: 0,
            id: Id::random(),
            organisation: self.organisation,
            name: name.ok_or_else(missing)?,
            subject: subject.ok_or_else(missing)?,
            terms: terms.ok_or_else(missing)?,
            created_at: self.now,
            updated_at: self.now,
        })
    }

    /// Reads the body of an update request, and returns the stored target with its changes.
    pub(super) fn read_changes(
        &self,
        body: &Map<String, Value>,
        stored: &SlaTarget,
    ) -> Result<SlaTarget, FieldErrors> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let was = &stored.terms;
        let name = fields.optional("name").and_then(|field| field.text(NAME_LENGTH));
        let subject = self.read_subject(&fields, Some(&stored.subject));
        let objective = fields.optional("objective").and_then(|field| read_objective(&field));
        let period = read_period(&fields, Some(was.period));
        let zone = fields.optional("time_zone").and_then(|field| read_zone(&field));
        let business_hours = fields.nullable("business_hours").read(|field| read_hours(&field));
        let terms = SlaTerms {
            objective: objective.unwrap_or(was.objective),
            period: period.unwrap_or(was.period),
            zone: zone.unwrap_or(was.zone),
            business_hours: business_hours.or_stored(was.business_hours.clone()),
        };
        let changed = SlaTarget {
            name: name.unwrap_or_else(|| stored.name.clone()),
            subject: subject.unwrap_or_else(|| stored.subject.clone()),
            terms,
            ..stored.clone()
        };
        errors.into_inner().into_result(changed)
    }

    /// Reads the service or the tag, which replaces the stored service or tag.
    fn read_subject(&self, fields: &BodyFields<'_>, stored: Option<&SlaSubject>) -> Option<SlaSubject> {
        let service =
            fields.nullable("service_id").read(|field| known(&field, "service", self.service.clone()));
        let tag = fields.nullable("tag_id").read(|field| known(&field, "tag", self.tag.clone()));
        let is_tried = |name| fields.skippable(name).is_some();
        match (is_tried("service_id"), is_tried("tag_id")) {
            (true, false) => service.or_stored(None).map(SlaSubject::Service),
            (false, true) => tag.or_stored(None).map(SlaSubject::Tag),
            (true, true) => {
                fields.refuse("tag_id", FieldRule::SlaSubject);
                None
            }
            (false, false) => {
                let cleared = |name| fields.has(name);
                let unchanged = stored.filter(|stored| match stored {
                    SlaSubject::Service(_) => !cleared("service_id"),
                    SlaSubject::Tag(_) => !cleared("tag_id"),
                });
                if unchanged.is_none() {
                    fields.refuse("service_id", FieldRule::SlaSubject);
                }
                unchanged.cloned()
            }
        }
    }
}

/// Returns the row whose id is sent; an id that does not exist is an error.
fn known<T>(field: &BodyField<'_>, kind: &'static str, found: Option<T>) -> Option<T> {
    let id = read_id(field)?;
    found.or_else(|| field.refuse(FieldRule::UnknownId { kind, id: id.to_string() }))
}

fn read_objective(field: &BodyField<'_>) -> Option<SlaObjective> {
    let Some(percent) = field.value().as_f64() else { return field.refuse(FieldRule::Number) };
    SlaObjective::from_percent(percent).or_else(|| field.refuse(FieldRule::Objective))
}

/// Reads the period and, for a rolling one, its days. Missing values keep their stored value.
fn read_period(fields: &BodyFields<'_>, stored: Option<SlaPeriod>) -> Option<SlaPeriod> {
    let field = match stored {
        None => fields.required("period"),
        Some(_) => fields.optional("period"),
    };
    let sent: Option<PeriodKind> = field.and_then(|field| field.word(PeriodKind::WORDS)?.parse().ok());
    let kind = sent.or_else(|| stored.map(SlaPeriod::kind))?;
    let days = fields.nullable("rolling_days").read(|field| {
        let bounds = i64::from(*ROLLING_DAYS.start())..=i64::from(*ROLLING_DAYS.end());
        u16::try_from(field.integer(bounds)?).ok()
    });
    if kind != PeriodKind::Rolling {
        if matches!(days, FieldPatch::Value(_)) {
            fields.refuse("rolling_days", FieldRule::RollingDays);
        }
        return SlaPeriod::new(kind, None);
    }
    if days == FieldPatch::Null {
        fields.refuse("rolling_days", FieldRule::NotNull);
    }
    let days = days.or_stored(stored.and_then(SlaPeriod::rolling_days));
    if days.is_none() && !fields.has("rolling_days") {
        fields.refuse("rolling_days", FieldRule::Required);
    }
    SlaPeriod::new(kind, days)
}
