//! Reads an escalation policy from a request body. Every field is read and every error collected; nothing is stored.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::http::gate::auth::Caller;
use crate::http::kit::field::BodyField;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector};
use crate::http::kit::rule::FieldRule;
use crate::http::v1::escalation_policies::known_rows::KnownRows;
use crate::http::v1::routed_services::{APPLIES_TO, LinkableRows, read_links};
use crate::id::Id;
use crate::model::escalation::{
    AFTER_SECONDS, CHANNELS_MAX, CONTACTS_MAX, EscalationAssignment, EscalationPolicy, EscalationStep,
    INCIDENT_POLICIES_MAX, IncidentSelection, NAME_LENGTH, POLICIES_MAX, REPEAT_SECONDS, SCHEDULES_MAX,
    STEPS_MAX,
};
use crate::model::incident::Severity;
use crate::model::notification::routing::RoutedServices;

const STEP_MEMBERS: [&str; 4] = ["after_seconds", "channel_ids", "contact_ids", "schedule_ids"];

/// Reads escalation policies of one organisation.
pub(super) struct EscalationPolicyParser<'a> {
    /// The caller, whose organisation owns the policy.
    pub(super) caller: &'a Caller,
    /// Rows that the policy may reference.
    pub(super) known: KnownRows,
    /// Number of existing policies.
    pub(super) count: usize,
    pub(super) now: Timestamp,
}

impl EscalationPolicyParser<'_> {
    /// Reads the body of a create request. The default position is the first, so that the policy takes effect.
    pub(super) fn read_new(&self, body: &Map<String, Value>) -> Result<EscalationPolicy, FieldErrors> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let name = fields.required("name").and_then(|field| field.text(NAME_LENGTH)).unwrap_or_default();
        let steps = fields.required("steps").and_then(|field| self.read_steps(&field)).unwrap_or_default();
        let policy = EscalationPolicy {
            key: 0,
            id: Id::random(),
            organisation: self.caller.organisation.key,
            position: 1,
            name,
            assignment: EscalationAssignment { min_severity: Severity::Minor, selection: None },
            steps,
            repeat_after_seconds: None,
            created_at: self.now,
            updated_at: self.now,
        };
        if self.count >= POLICIES_MAX {
            errors.add("position", FieldRule::MaxItems(POLICIES_MAX));
        }
        let policy = self.read(&fields, policy, self.count + 1);
        errors.into_inner().into_result(policy)
    }

    /// Reads the body of an update request, and returns the stored policy with its changes.
    pub(super) fn read_changes(
        &self,
        body: &Map<String, Value>,
        stored: &EscalationPolicy,
    ) -> Result<EscalationPolicy, FieldErrors> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let name = fields.optional("name").and_then(|field| field.text(NAME_LENGTH));
        let steps = fields.optional("steps").and_then(|field| self.read_steps(&field));
        let stored = stored.clone();
        let policy = EscalationPolicy {
            name: name.unwrap_or(stored.name),
            steps: steps.unwrap_or(stored.steps),
            ..stored
        };
        let policy = self.read(&fields, policy, self.count);
        errors.into_inner().into_result(policy)
    }

    /// Reads all fields except name and steps.
    fn read(&self, fields: &BodyFields<'_>, policy: EscalationPolicy, last: usize) -> EscalationPolicy {
        let last = i64::try_from(last.max(1)).unwrap_or(i64::MAX);
        let position = fields.optional("position").and_then(|field| field.integer(1..=last));
        let position = position.and_then(|position| i32::try_from(position).ok());
        let repeat = fields.nullable("repeat_after_seconds");
        let repeat = repeat.read(|field| read_seconds(&field, &REPEAT_SECONDS));
        let severity =
            fields.optional("min_severity").and_then(|field| field.word(Severity::WORDS)?.parse().ok());
        EscalationPolicy {
            position: position.unwrap_or(policy.position),
            assignment: EscalationAssignment {
                min_severity: severity.unwrap_or(policy.assignment.min_severity),
                selection: self.read_selection(fields, policy.assignment.selection),
            },
            repeat_after_seconds: repeat.or_stored(policy.repeat_after_seconds),
            ..policy
        }
    }

    /// Reads which incidents follow the policy (`None` = all). `applies_to` decides whether incidents are selected; without
    /// it, they are selected if the body names tags, services or incident policies.
    fn read_selection(
        &self,
        fields: &BodyFields<'_>,
        stored: Option<IncidentSelection>,
    ) -> Option<IncidentSelection> {
        let word = fields.optional("applies_to").and_then(|field| field.word(&APPLIES_TO).map(str::to_owned));
        let tags = self.known.services.read_tags(fields);
        let services = self.known.services.read_services(fields);
        let known = LinkableRows { kind: "incident policy", keys: &self.known.incident_policies };
        let openers = read_links(fields, "incident_policy_ids", INCIDENT_POLICIES_MAX, &known);
        let names_some = [&tags, &services, &openers].into_iter().flatten().any(|named| !named.is_empty());
        match word.as_deref() {
            Some("all") => None,
            None if stored.is_none() && !names_some => None,
            _ => {
                let stored = stored.unwrap_or_default();
                let services = RoutedServices {
                    tags: tags.unwrap_or(stored.services.tags),
                    services: services.unwrap_or(stored.services.services),
                };
                let incident_policies = openers.unwrap_or(stored.incident_policies);
                Some(IncidentSelection { services, incident_policies })
            }
        }
    }

    fn read_steps(&self, field: &BodyField<'_>) -> Option<Vec<EscalationStep>> {
        let entries = field.list(STEPS_MAX)?;
        if entries.is_empty() {
            return field.refuse(FieldRule::MinItems(1));
        }
        // All steps are read before the first error ends reading, so that every error is reported.
        let read: Vec<Option<EscalationStep>> = entries.iter().map(|entry| self.read_step(entry)).collect();
        read.into_iter().collect()
    }

    fn read_step(&self, field: &BodyField<'_>) -> Option<EscalationStep> {
        let members = field.object()?;
        members.refuse_unknown(&STEP_MEMBERS);
        let after = members.required("after_seconds").and_then(|field| read_seconds(&field, &AFTER_SECONDS));
        let read = |name, most, kind, keys| match members.has(name) {
            true => read_links(&members, name, most, &LinkableRows { kind, keys }),
            false => Some(Vec::new()),
        };
        let channels = read("channel_ids", CHANNELS_MAX, "notification channel", &self.known.channels);
        let contacts = read("contact_ids", CONTACTS_MAX, "contact", &self.known.contacts);
        let schedules = read("schedule_ids", SCHEDULES_MAX, "on-call schedule", &self.known.schedules);
        let step = EscalationStep {
            after_seconds: after?,
            channels: channels?,
            contacts: contacts?,
            schedules: schedules?,
        };
        if [&step.channels, &step.contacts, &step.schedules].iter().all(|named| named.is_empty()) {
            // Rows that are named but do not exist have added an error already.
            let is_silent = ["channel_ids", "contact_ids", "schedule_ids"].iter().all(|name| {
                members
                    .skippable(name)
                    .is_none_or(|field| field.value().as_array().is_some_and(Vec::is_empty))
            });
            if is_silent {
                members.refuse("channel_ids", FieldRule::StepNobody);
            }
            return None;
        }
        Some(step)
    }
}

fn read_seconds(field: &BodyField<'_>, bounds: &RangeInclusive<u32>) -> Option<u32> {
    let bounds = i64::from(*bounds.start())..=i64::from(*bounds.end());
    field.integer(bounds).and_then(|seconds| u32::try_from(seconds).ok())
}
