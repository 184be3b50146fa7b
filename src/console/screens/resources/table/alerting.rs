//! Channels and messages, policies, and SLA targets.

use crate::console::frame::ConsoleSection as Section;
use crate::console::screens::resources::api_lists::{
    CHANNELS, CONTACTS, INCIDENT_OPENERS, SCHEDULES, SERVICES, TAGS,
};
use crate::console::screens::resources::spec::{
    FieldKind as Kind, FieldSpec, ResourceSpec, action, field, fixed, needed, state,
};
use crate::console::screens::resources::table::hours::{HOURS, QUIET_HOURS};
use crate::model::access::Permission as May;
use crate::model::incident::Severity;
use crate::model::incident_policy::GroupBy;
use crate::model::notification::NotificationEvent;
use crate::model::sla::calendar::PeriodKind;

const APPLIES: &[&str] = &["all", "selected"];

/// A step of an escalation policy.
const STEPS: &[FieldSpec] = &[
    needed("after_seconds", Kind::Number),
    field("channel_ids", Kind::References(CHANNELS)),
    field("contact_ids", Kind::References(CONTACTS)),
    field("schedule_ids", Kind::References(SCHEDULES)),
];

pub(super) static NOTIFICATION_CHANNELS: ResourceSpec = ResourceSpec {
    name: "channels",
    section: Section::Channels,
    screen: "/channels",
    api: CHANNELS,
    view: May::NotificationChannelsView,
    create: Some(May::NotificationChannelsCreate),
    edit: Some(May::NotificationChannelsEdit),
    delete: Some(May::NotificationChannelsDelete),
    columns: &["name", "kind", "is_enabled", "min_severity"],
    fields: &[
        fixed("kind", Kind::ChannelKind),
        needed("name", Kind::Text),
        field("is_enabled", Kind::Flag).preset("true"),
        needed("settings", Kind::ChannelSettings),
        field("events", Kind::Words(&NotificationEvent::CHOICE_WORDS)),
        field("min_severity", Kind::Word(Severity::WORDS)),
        field("applies_to", Kind::Word(APPLIES)),
        field("tag_ids", Kind::References(TAGS)),
        field("service_ids", Kind::References(SERVICES)),
        field("quiet_hours", Kind::Group(QUIET_HOURS)),
        field("digest_above", Kind::Number),
    ],
    actions: &[action("test", May::NotificationChannelsEdit, &[])],
    lists: &[],
};

pub(super) static MESSAGES: ResourceSpec = ResourceSpec {
    name: "messages",
    section: Section::Channels,
    screen: "/channels/messages",
    api: "/v1/notifications",
    view: May::NotificationsView,
    create: None,
    edit: None,
    delete: None,
    columns: &["event", "status", "channel", "contact", "created_at", "last_error"],
    fields: &[],
    actions: &[action("redeliver", May::NotificationsRedeliver, &[]).only_if(&[state("status", &["dead"])])],
    lists: &[],
};

pub(super) static INCIDENT_POLICIES: ResourceSpec = ResourceSpec {
    name: "policies",
    section: Section::Policies,
    screen: "/policies",
    api: INCIDENT_OPENERS,
    view: May::IncidentPoliciesView,
    create: Some(May::IncidentPoliciesCreate),
    edit: Some(May::IncidentPoliciesEdit),
    delete: Some(May::IncidentPoliciesDelete),
    columns: &["name", "position", "tag", "open_after_seconds", "resolve_after_seconds", "publish"],
    fields: &[
        needed("name", Kind::Text),
        field("position", Kind::Number),
        field("tag_id", Kind::Reference(TAGS)),
        field("open_after_seconds", Kind::Number),
        field("resolve_after_seconds", Kind::Number),
        field("down_severity", Kind::Word(Severity::WORDS)),
        field("degraded_severity", Kind::Word(Severity::WORDS)),
        field("unstable_severity", Kind::Word(Severity::WORDS)),
        field("publish", Kind::Flag),
        field("group_by", Kind::Word(GroupBy::WORDS)),
        field("group_by_tag_keys", Kind::Lines),
        field("group_window_seconds", Kind::Number),
    ],
    actions: &[],
    lists: &[],
};

pub(super) static ESCALATION_POLICIES: ResourceSpec = ResourceSpec {
    name: "escalations",
    section: Section::Policies,
    screen: "/policies/escalations",
    api: "/v1/escalation-policies",
    view: May::EscalationPoliciesView,
    create: Some(May::EscalationPoliciesCreate),
    edit: Some(May::EscalationPoliciesEdit),
    delete: Some(May::EscalationPoliciesDelete),
    columns: &["name", "position", "min_severity", "applies_to"],
    fields: &[
        needed("name", Kind::Text),
        field("position", Kind::Number),
        field("min_severity", Kind::Word(Severity::WORDS)),
        field("applies_to", Kind::Word(APPLIES)),
        field("tag_ids", Kind::References(TAGS)),
        field("service_ids", Kind::References(SERVICES)),
        field("incident_policy_ids", Kind::References(INCIDENT_OPENERS)),
        needed("steps", Kind::Rows(STEPS)).ordered(),
        field("repeat_after_seconds", Kind::Number),
    ],
    actions: &[],
    lists: &[],
};

pub(super) static SLA_TARGETS: ResourceSpec = ResourceSpec {
    name: "sla",
    section: Section::Sla,
    screen: "/sla",
    api: "/v1/sla-targets",
    view: May::SlaTargetsView,
    create: Some(May::SlaTargetsCreate),
    edit: Some(May::SlaTargetsEdit),
    delete: Some(May::SlaTargetsDelete),
    columns: &["name", "objective", "period", "service", "tag"],
    fields: &[
        needed("name", Kind::Text),
        field("service_id", Kind::Reference(SERVICES)),
        field("tag_id", Kind::Reference(TAGS)),
        needed("objective", Kind::Number),
        needed("period", Kind::Word(PeriodKind::WORDS)),
        field("rolling_days", Kind::Number),
        field("time_zone", Kind::Text),
        field("business_hours", Kind::Rows(HOURS)),
    ],
    actions: &[],
    lists: &[],
};
