//! From a body to an incident policy: every field is read, every problem is collected, nothing is stored.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::http::kit::field::Field;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{Errors, Fields, Given};
use crate::http::kit::linked::read_id;
use crate::http::kit::rule::FieldRule;
use crate::id::Id;
use crate::model::incident::Severity;
use crate::model::incident_policy::{
    GROUP_WINDOW_SECONDS, GroupBy, IncidentPolicy, IncidentRules, NAME_LENGTH, PATIENCE_SECONDS,
    POLICIES_MAX, PolicyTag,
};

/// The context in which a policy is written.
pub(super) struct Draft {
    /// Database key of the organisation.
    pub(super) organisation: i64,
    /// The tag that the body names, if there is such a tag.
    pub(super) tag: Option<PolicyTag>,
    /// Policies that there are.
    pub(super) count: usize,
    /// Now.
    pub(super) now: Timestamp,
}

impl Draft {
    /// The new policy of a create request; without a place it is the first one, so that it is asked at all.
    pub(super) fn create(&self, body: &Map<String, Value>) -> Result<IncidentPolicy, FieldErrors> {
        let errors = Errors::default();
        let fields = Fields::new(body, "", &errors);
        let name = fields.required("name").and_then(|field| field.text(NAME_LENGTH)).unwrap_or_default();
        let policy = IncidentPolicy {
            key: 0,
            id: Id::random(),
            organisation: self.organisation,
            position: 1,
            name,
            tag: None,
            rules: IncidentRules::default(),
            created_at: self.now,
            updated_at: self.now,
        };
        if self.count >= POLICIES_MAX {
            errors.add("position", FieldRule::MaxItems(POLICIES_MAX));
        }
        let policy = self.read(&fields, policy, self.count + 1);
        errors.into_inner().into_result(policy)
    }

    /// The stored policy with the changes of an update request.
    pub(super) fn update(
        &self,
        body: &Map<String, Value>,
        stored: &IncidentPolicy,
    ) -> Result<IncidentPolicy, FieldErrors> {
        let errors = Errors::default();
        let fields = Fields::new(body, "", &errors);
        let name = fields.optional("name").and_then(|field| field.text(NAME_LENGTH));
        let name = name.unwrap_or_else(|| stored.name.clone());
        let policy = self.read(&fields, IncidentPolicy { name, ..stored.clone() }, self.count);
        errors.into_inner().into_result(policy)
    }

    /// Everything but the name.
    fn read(&self, fields: &Fields<'_>, policy: IncidentPolicy, last: usize) -> IncidentPolicy {
        let last = i64::try_from(last.max(1)).unwrap_or(i64::MAX);
        let position = fields.optional("position").and_then(|field| field.integer(1..=last));
        let position = position.and_then(|position| i32::try_from(position).ok());
        let tag = fields.nullable("tag_id").read(|field| {
            let id = read_id(&field)?;
            let unknown = || field.refuse(FieldRule::UnknownId { kind: "tag", id: id.to_string() });
            self.tag.clone().or_else(unknown)
        });
        IncidentPolicy {
            position: position.unwrap_or(policy.position),
            tag: tag.or_stored(policy.tag),
            rules: read_rules(fields, &policy.rules),
            ..policy
        }
    }
}

/// What a policy makes of outages; what the body does not say stays.
pub(in crate::http::v1) fn read_rules(fields: &Fields<'_>, rules: &IncidentRules) -> IncidentRules {
    let seconds = |name: &str, bounds: RangeInclusive<u32>, stored| {
        fields.optional(name).and_then(|field| read_seconds(&field, &bounds)).unwrap_or(stored)
    };
    let severity = |name: &str, stored| {
        let sent: Given<Severity> =
            fields.nullable(name).read(|field| field.word(Severity::WORDS)?.parse().ok());
        sent.or_stored(stored)
    };
    let resolve_after = fields.nullable("resolve_after_seconds");
    let resolve_after = resolve_after.read(|field| read_seconds(&field, &PATIENCE_SECONDS));
    let group_by = fields.optional("group_by").and_then(|field| field.word(GroupBy::WORDS)?.parse().ok());
    IncidentRules {
        open_after_seconds: seconds("open_after_seconds", PATIENCE_SECONDS, rules.open_after_seconds),
        resolve_after_seconds: resolve_after.or_stored(rules.resolve_after_seconds),
        down_severity: severity("down_severity", rules.down_severity),
        degraded_severity: severity("degraded_severity", rules.degraded_severity),
        unstable_severity: severity("unstable_severity", rules.unstable_severity),
        publish: fields.optional("publish").and_then(|field| field.boolean()).unwrap_or(rules.publish),
        group_by: group_by.unwrap_or(rules.group_by),
        group_window_seconds: seconds(
            "group_window_seconds",
            GROUP_WINDOW_SECONDS,
            rules.group_window_seconds,
        ),
    }
}

fn read_seconds(field: &Field<'_>, bounds: &RangeInclusive<u32>) -> Option<u32> {
    let bounds = i64::from(*bounds.start())..=i64::from(*bounds.end());
    field.integer(bounds).and_then(|seconds| u32::try_from(seconds).ok())
}
