//! Reads an incident policy from a request body. Every field is read and every error collected; nothing is stored.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::http::kit::field::BodyField;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector, FieldPatch};
use crate::http::kit::linked_ids::read_id;
use crate::http::kit::rule::FieldRule;
use crate::id::Id;
use crate::model::incident::Severity;
use crate::model::incident_policy::{
    GROUP_TAG_KEYS_MAX, GROUP_WINDOW_SECONDS, GroupBy, IncidentPolicy, IncidentRules, NAME_LENGTH,
    PATIENCE_SECONDS, POLICIES_MAX, PolicyTag,
};
use crate::model::tag::{KEY_MAX_LENGTH, is_key};

/// Reads incident policies of one organisation.
pub(super) struct IncidentPolicyParser {
    /// Database key of the organisation.
    pub(super) organisation: i64,
    /// The tag named in the body, if it exists.
    pub(super) tag: Option<PolicyTag>,
    /// Number of existing policies.
    pub(super) count: usize,
    pub(super) now: Timestamp,
}

impl IncidentPolicyParser {
    /// Reads the body of a create request. The default position is the first, so that the policy takes effect.
    pub(super) fn read_new(&self, body: &Map<String, Value>) -> Result<IncidentPolicy, FieldErrors> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
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

    /// Reads the body of an update request, and returns the stored policy with its changes.
    pub(super) fn read_changes(
        &self,
        body: &Map<String, Value>,
        stored: &IncidentPolicy,
    ) -> Result<IncidentPolicy, FieldErrors> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let name = fields.optional("name").and_then(|field| field.text(NAME_LENGTH));
        let name = name.unwrap_or_else(|| stored.name.clone());
        let policy = self.read(&fields, IncidentPolicy { name, ..stored.clone() }, self.count);
        errors.into_inner().into_result(policy)
    }

    /// Reads all fields except the name.
    fn read(&self, fields: &BodyFields<'_>, policy: IncidentPolicy, last: usize) -> IncidentPolicy {
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

/// Reads the rules for outages; rules that are missing in the body are kept.
pub(in crate::http::v1) fn read_rules(fields: &BodyFields<'_>, rules: &IncidentRules) -> IncidentRules {
    let seconds = |name: &str, bounds: RangeInclusive<u32>, stored| {
        fields.optional(name).and_then(|field| read_seconds(&field, &bounds)).unwrap_or(stored)
    };
    let severity = |name: &str, stored| {
        let sent: FieldPatch<Severity> =
            fields.nullable(name).read(|field| field.word(Severity::WORDS)?.parse().ok());
        sent.or_stored(stored)
    };
    let resolve_after = fields.nullable("resolve_after_seconds");
    let resolve_after = resolve_after.read(|field| read_seconds(&field, &PATIENCE_SECONDS));
    let group_by = fields.optional("group_by").and_then(|field| read_group_by(&field));
    let tag_keys = fields.optional("group_by_tag_keys").and_then(|field| read_tag_keys(&field));
    let adds_tags = !fields.has("group_by") && tag_keys.as_ref().is_some_and(|keys| !keys.is_empty());
    let stored_group_by = if adds_tags { rules.group_by.with_tags() } else { rules.group_by };
    IncidentRules {
        open_after_seconds: seconds("open_after_seconds", PATIENCE_SECONDS, rules.open_after_seconds),
        resolve_after_seconds: resolve_after.or_stored(rules.resolve_after_seconds),
        down_severity: severity("down_severity", rules.down_severity),
        degraded_severity: severity("degraded_severity", rules.degraded_severity),
        unstable_severity: severity("unstable_severity", rules.unstable_severity),
        publish: fields.optional("publish").and_then(|field| field.boolean()).unwrap_or(rules.publish),
        group_by: group_by.unwrap_or(stored_group_by),
        group_by_tag_keys: tag_keys.unwrap_or_else(|| rules.group_by_tag_keys.clone()),
        group_window_seconds: seconds(
            "group_window_seconds",
            GROUP_WINDOW_SECONDS,
            rules.group_window_seconds,
        ),
    }
}

fn read_group_by(field: &BodyField<'_>) -> Option<GroupBy> {
    let known = field.value().as_str().and_then(GroupBy::from_word);
    known.or_else(|| field.word(GroupBy::WORDS)?.parse().ok())
}

/// Reads keys of tags in lower case, without repetitions; `None` if any is invalid.
fn read_tag_keys(field: &BodyField<'_>) -> Option<Vec<String>> {
    let entries = field.list(GROUP_TAG_KEYS_MAX)?;
    // All entries are read before the first error ends reading, so that every error is reported.
    let keys: Vec<Option<String>> = entries.iter().map(read_tag_key).collect();
    let mut distinct: Vec<String> = Vec::new();
    for key in keys {
        let key = key?;
        if !distinct.contains(&key) {
            distinct.push(key);
        }
    }
    Some(distinct)
}

fn read_tag_key(field: &BodyField<'_>) -> Option<String> {
    let key = field.text(1..=KEY_MAX_LENGTH)?.to_ascii_lowercase();
    if is_key(&key) { Some(key) } else { field.refuse(FieldRule::TagKey) }
}

fn read_seconds(field: &BodyField<'_>, bounds: &RangeInclusive<u32>) -> Option<u32> {
    let bounds = i64::from(*bounds.start())..=i64::from(*bounds.end());
    field.integer(bounds).and_then(|seconds| u32::try_from(seconds).ok())
}
