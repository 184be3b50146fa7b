//! Incident policies as clients see them.

use std::ops::RangeInclusive;

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::openapi::shape::{
    ApiSchema, enum_of, id, integer, list_of, string_or_null, text_in, timestamp,
};
use crate::id::Id;
use crate::model::incident::Severity;
use crate::model::incident_policy::{
    GROUP_TAG_KEYS_MAX, GROUP_WINDOW_SECONDS, GroupBy, IncidentPolicy, NAME_LENGTH, PATIENCE_SECONDS,
};
use crate::model::tag::KEY_MAX_LENGTH;

/// A rule by which outages become incidents.
#[derive(Serialize, ToSchema)]
pub(super) struct IncidentPolicyView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    #[schema(schema_with = position)]
    position: i32,
    #[schema(schema_with = name)]
    name: &'a str,
    #[schema(schema_with = tag_id, required)]
    tag_id: Option<Id>,
    #[schema(schema_with = tag_label, required)]
    tag_label: Option<&'a str>,
    #[schema(schema_with = open_after)]
    open_after_seconds: u32,
    #[schema(schema_with = resolve_after, required)]
    resolve_after_seconds: Option<u32>,
    #[schema(schema_with = severity, required)]
    down_severity: Option<&'static str>,
    #[schema(schema_with = severity, required)]
    degraded_severity: Option<&'static str>,
    #[schema(schema_with = severity, required)]
    unstable_severity: Option<&'static str>,
    /// True if status pages show the incident from its start.
    publish: bool,
    #[schema(schema_with = group_by)]
    group_by: &'static str,
    #[schema(schema_with = group_by_tag_keys)]
    group_by_tag_keys: &'a [String],
    #[schema(schema_with = group_window)]
    group_window_seconds: u32,
    #[schema(schema_with = timestamp)]
    created_at: Timestamp,
    #[schema(schema_with = timestamp)]
    updated_at: Timestamp,
}

impl<'a> IncidentPolicyView<'a> {
    /// Creates the view of a policy.
    pub(super) fn of(policy: &'a IncidentPolicy) -> Self {
        let rules = &policy.rules;
        Self {
            id: policy.id,
            position: policy.position,
            name: &policy.name,
            tag_id: policy.tag.as_ref().map(|tag| tag.id),
            tag_label: policy.tag.as_ref().map(|tag| tag.label.as_str()),
            open_after_seconds: rules.open_after_seconds,
            resolve_after_seconds: rules.resolve_after_seconds,
            down_severity: rules.down_severity.map(Severity::as_str),
            degraded_severity: rules.degraded_severity.map(Severity::as_str),
            unstable_severity: rules.unstable_severity.map(Severity::as_str),
            publish: rules.publish,
            group_by: rules.group_by.as_str(),
            group_by_tag_keys: &rules.group_by_tag_keys,
            group_window_seconds: rules.group_window_seconds,
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
        .says("Position in the order, from 1; the first policy that matches a service decides.")
}

pub(super) fn name() -> ApiSchema {
    text_in(&NAME_LENGTH)
}

pub(super) fn tag_id() -> ApiSchema {
    id().nullable().says("Services that carry this tag; null: all services.")
}

fn tag_label() -> ApiSchema {
    string_or_null().says("`key:value`, or `key` alone.")
}

pub(super) fn open_after() -> ApiSchema {
    seconds(&PATIENCE_SECONDS).says("Seconds that an outage lasts before it becomes an incident.")
}

pub(super) fn resolve_after() -> ApiSchema {
    let words = "Seconds without failure before the incident is resolved; null: it is resolved by hand.";
    seconds(&PATIENCE_SECONDS).nullable().says(words)
}

pub(super) fn severity() -> ApiSchema {
    enum_of(Severity::WORDS).nullable().says("The severity of such an incident; null: there is none.")
}

pub(super) fn group_by() -> ApiSchema {
    let words = "The failures that become one incident, if they come close together. Bodies may also use the former words \
        `tag` (`tags`) and `tag_or_parent` (`parent_or_tags`).";
    enum_of(GroupBy::WORDS).says(words)
}

pub(super) fn group_by_tag_keys() -> ApiSchema {
    let words = "Keys of the tags that group failures: services with the same value of one of them belong together; \
        empty: any common tag.";
    list_of(text_in(&(1..=KEY_MAX_LENGTH))).items(0, GROUP_TAG_KEYS_MAX).says(words)
}

pub(super) fn group_window() -> ApiSchema {
    seconds(&GROUP_WINDOW_SECONDS).says("Seconds within which failures become one incident.")
}
