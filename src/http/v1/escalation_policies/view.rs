//! Escalation policies as clients see them.

use std::ops::RangeInclusive;

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::openapi::shape::{ApiSchema, enum_of, id, integer, list_of, object, text_in, timestamp};
use crate::http::v1::routed_services::APPLIES_TO;
use crate::id::Id;
use crate::model::escalation::{
    AFTER_SECONDS, CHANNELS_MAX, CONTACTS_MAX, EscalationPolicy, EscalationStep, INCIDENT_POLICIES_MAX,
    NAME_LENGTH, REPEAT_SECONDS, SCHEDULES_MAX, STEPS_MAX,
};
use crate::model::incident::Severity;
use crate::model::notification::routing::{ResourceReference, SERVICES_MAX, TAGS_MAX};

/// A rule that determines who is notified of incidents, step by step.
#[derive(Serialize, ToSchema)]
pub(super) struct EscalationPolicyView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    #[schema(schema_with = position)]
    position: i32,
    #[schema(schema_with = name)]
    name: &'a str,
    #[schema(schema_with = min_severity)]
    min_severity: &'static str,
    #[schema(schema_with = applies_to)]
    applies_to: &'static str,
    #[schema(schema_with = incident_policy_ids)]
    incident_policy_ids: Vec<Id>,
    #[schema(schema_with = tag_ids)]
    tag_ids: Vec<Id>,
    #[schema(schema_with = service_ids)]
    service_ids: Vec<Id>,
    #[schema(schema_with = steps)]
    steps: Vec<StepView>,
    #[schema(schema_with = repeat_after, required)]
    repeat_after_seconds: Option<u32>,
    #[schema(schema_with = timestamp)]
    created_at: Timestamp,
    #[schema(schema_with = timestamp)]
    updated_at: Timestamp,
}

#[derive(Serialize)]
struct StepView {
    after_seconds: u32,
    channel_ids: Vec<Id>,
    contact_ids: Vec<Id>,
    schedule_ids: Vec<Id>,
}

impl<'a> EscalationPolicyView<'a> {
    /// Creates the view of a policy.
    pub(super) fn of(policy: &'a EscalationPolicy) -> Self {
        let ids = |named: &[ResourceReference]| named.iter().map(|named| named.id).collect::<Vec<Id>>();
        let chosen = policy.assignment.selection.as_ref();
        let step = |step: &EscalationStep| StepView {
            after_seconds: step.after_seconds,
            channel_ids: ids(&step.channels),
            contact_ids: ids(&step.contacts),
            schedule_ids: ids(&step.schedules),
        };
        Self {
            id: policy.id,
            position: policy.position,
            name: &policy.name,
            min_severity: policy.assignment.min_severity.as_str(),
            applies_to: APPLIES_TO[usize::from(chosen.is_some())],
            incident_policy_ids: chosen.map(|chosen| ids(&chosen.incident_policies)).unwrap_or_default(),
            tag_ids: chosen.map(|chosen| ids(&chosen.services.tags)).unwrap_or_default(),
            service_ids: chosen.map(|chosen| ids(&chosen.services.services)).unwrap_or_default(),
            steps: policy.steps.iter().map(step).collect(),
            repeat_after_seconds: policy.repeat_after_seconds,
            created_at: policy.created_at,
            updated_at: policy.updated_at,
        }
    }
}

fn seconds(bounds: &RangeInclusive<u32>) -> ApiSchema {
    integer().range(*bounds.start(), *bounds.end())
}

pub(super) fn position() -> ApiSchema {
    integer()
        .at_least(1)
        .says("Position in the order, from 1; an incident follows the first policy that matches it.")
}

pub(super) fn name() -> ApiSchema {
    text_in(&NAME_LENGTH)
}

pub(super) fn min_severity() -> ApiSchema {
    enum_of(Severity::WORDS).says("The least severity of an incident that follows this policy.")
}

pub(super) fn applies_to() -> ApiSchema {
    let words = "`selected`: only incidents that one of `incident_policy_ids` opened, or that affect a service of `tag_ids` or `service_ids`.";
    enum_of(&APPLIES_TO).says(words)
}

pub(super) fn incident_policy_ids() -> ApiSchema {
    list_of(id()).items(0, INCIDENT_POLICIES_MAX).says("Incidents that these incident policies opened.")
}

pub(super) fn tag_ids() -> ApiSchema {
    list_of(id()).items(0, TAGS_MAX).says("Services that carry one of these tags.")
}

pub(super) fn service_ids() -> ApiSchema {
    list_of(id()).items(0, SERVICES_MAX).says("These services.")
}

pub(super) fn steps() -> ApiSchema {
    let after = "Seconds since the step before it; of the first one: since the incident was opened.";
    let channels = list_of(id()).items(0, CHANNELS_MAX).says("The notification channels that are notified.");
    let contacts = "The contacts that are notified by their own channels, outside of their quiet hours.";
    let contacts = list_of(id()).items(0, CONTACTS_MAX).says(contacts);
    let schedules = "On-call schedules: the contact on duty is notified, at any hour.";
    let schedules = list_of(id()).items(0, SCHEDULES_MAX).says(schedules);
    let step = object()
        .has("after_seconds", seconds(&AFTER_SECONDS).says(after))
        .may_have("channel_ids", channels)
        .may_have("contact_ids", contacts)
        .may_have("schedule_ids", schedules);
    let words = "Who is notified, and when, in this order; each step names at least one channel, contact or schedule.";
    list_of(step).items(1, STEPS_MAX).says(words)
}

pub(super) fn repeat_after() -> ApiSchema {
    let words = "Seconds after the last step before the first one is repeated; null: the last step is final.";
    seconds(&REPEAT_SECONDS).nullable().says(words)
}
