//! The resources: their lists, fields and actions. Words and limits are those of the API, which refuses anything else.

use crate::console::frame::ConsoleSection as Section;
use crate::console::screens::resources::spec::{
    ActionSpec, FieldKind as Kind, FieldSpec, FieldTime, ResourceSpec, field, fixed, needed,
};
use crate::model::access::Permission as May;

const SEVERITIES: &[&str] = &["minor", "major", "critical"];
const APPLIES: &[&str] = &["all", "selected"];
const SERVICES: &str = "/v1/services";
const TAGS: &str = "/v1/tags";
const PAGES: &str = "/v1/statuspages";
const CONTACTS: &str = "/v1/contacts";
const CHANNELS: &str = "/v1/notification-channels";
const SCHEDULES: &str = "/v1/oncall/schedules";
const SCOPES: &str = "/v1/access-scopes";

const fn on_change(name: &'static str, kind: Kind) -> FieldSpec {
    FieldSpec { name, kind, is_required: false, when: FieldTime::Change }
}

const fn on_creation(name: &'static str, kind: Kind) -> FieldSpec {
    FieldSpec { name, kind, is_required: false, when: FieldTime::Creation }
}

const fn action(name: &'static str, permission: May, fields: &'static [FieldSpec]) -> ActionSpec {
    ActionSpec { name, permission, fields }
}

/// All resources, in the order of the sections.
pub(super) static RESOURCES: [&ResourceSpec; 22] = [
    &INCIDENTS,
    &MAINTENANCES,
    &SERIES,
    &STATUSPAGES,
    &COMPONENTS,
    &DOMAINS,
    &SUBSCRIBERS,
    &DUTY_SCHEDULES,
    &OVERRIDES,
    &ABSENCES,
    &COVER_REQUESTS,
    &PEOPLE,
    &NOTIFICATION_CHANNELS,
    &MESSAGES,
    &INCIDENT_POLICIES,
    &ESCALATION_POLICIES,
    &SLA_TARGETS,
    &TAG_LIST,
    &ACCESS_SCOPES,
    &USERS,
    &TOKENS,
    &WALL_KEYS,
];

static INCIDENTS: ResourceSpec = ResourceSpec {
    name: "incidents",
    section: Section::Incidents,
    screen: "/incidents",
    api: "/v1/incidents",
    view: May::IncidentsView,
    create: Some(May::IncidentsCreate),
    edit: Some(May::IncidentsEdit),
    delete: Some(May::IncidentsDelete),
    columns: &["title", "status", "severity", "services", "started_at", "resolved_at"],
    fields: &[
        needed("title", Kind::Text),
        on_creation("message", Kind::Long),
        field("severity", Kind::Word(SEVERITIES)),
        field("service_ids", Kind::References(SERVICES)),
        field("statuspage_ids", Kind::References(PAGES)),
        field("is_published", Kind::Flag),
        on_creation("notify_subscribers", Kind::Flag),
        field("sla_counts_as_downtime", Kind::Flag),
        field("started_at", Kind::Time),
    ],
    actions: &[
        action("acknowledge", May::IncidentsAcknowledge, &[field("note", Kind::Text)]),
        action(
            "updates",
            May::IncidentsEdit,
            &[
                needed("status", Kind::Word(&["investigating", "identified", "monitoring"])),
                needed("message", Kind::Long),
                field("notify_subscribers", Kind::Flag),
            ],
        ),
        action(
            "resolve",
            May::IncidentsResolve,
            &[needed("message", Kind::Long), field("notify_subscribers", Kind::Flag)],
        ),
    ],
    lists: &[],
};

static MAINTENANCES: ResourceSpec = ResourceSpec {
    name: "maintenances",
    section: Section::Maintenances,
    screen: "/maintenances",
    api: "/v1/maintenances",
    view: May::MaintenancesView,
    create: Some(May::MaintenancesCreate),
    edit: Some(May::MaintenancesEdit),
    delete: Some(May::MaintenancesDelete),
    columns: &["title", "status", "type", "scheduled_start", "scheduled_end", "services"],
    fields: &[
        needed("title", Kind::Text),
        field("type", Kind::Word(&["planned", "emergency"])),
        needed("scheduled_start", Kind::Time),
        field("scheduled_end", Kind::Time),
        field("service_ids", Kind::References(SERVICES)),
        field("statuspage_ids", Kind::References(PAGES)),
        on_creation("message", Kind::Long),
        field("auto_start", Kind::Flag),
        field("auto_complete", Kind::Flag),
        on_creation("notify_announcement", Kind::Flag),
        on_creation("recurrence.rrule", Kind::Text),
        on_creation("recurrence.time_zone", Kind::Text),
    ],
    actions: &[
        action("start", May::MaintenancesEdit, &[]),
        action("complete", May::MaintenancesEdit, &[]),
        action(
            "extend",
            May::MaintenancesEdit,
            &[needed("scheduled_end", Kind::Time), field("message", Kind::Long)],
        ),
        action("cancel", May::MaintenancesEdit, &[]),
    ],
    lists: &[],
};

static SERIES: ResourceSpec = ResourceSpec {
    name: "series",
    section: Section::Maintenances,
    screen: "/maintenances/series",
    api: "/v1/maintenance-series",
    view: May::MaintenancesView,
    create: None,
    edit: Some(May::MaintenancesEdit),
    delete: Some(May::MaintenancesDelete),
    columns: &["title", "status", "recurrence.rrule", "recurrence.time_zone", "services"],
    fields: &[
        field("title", Kind::Text),
        field("recurrence.rrule", Kind::Text),
        field("recurrence.time_zone", Kind::Text),
        field("service_ids", Kind::References(SERVICES)),
        field("statuspage_ids", Kind::References(PAGES)),
    ],
    actions: &[],
    lists: &[],
};

static STATUSPAGES: ResourceSpec = ResourceSpec {
    name: "statuspages",
    section: Section::Statuspages,
    screen: "/statuspages",
    api: PAGES,
    view: May::StatuspagesView,
    create: Some(May::StatuspagesCreate),
    edit: Some(May::StatuspagesEdit),
    delete: Some(May::StatuspagesDelete),
    columns: &["name", "is_published", "url", "access_type"],
    fields: &[
        needed("name", Kind::Text),
        field("slug", Kind::Text),
        field("access_type", Kind::Word(&["public", "password", "email_whitelist"])),
        field("password", Kind::Secret),
        field("email_whitelist", Kind::Lines),
        field("appearance", Kind::Word(&["system", "light", "dark"])),
        field("primary_color", Kind::Text),
        field("secondary_color", Kind::Text),
        field(
            "subscriber_channels",
            Kind::Words(&["email", "webhook", "slack", "teams", "discord", "telegram"]),
        ),
        field("imprint_url", Kind::Text),
        field("privacy_policy_url", Kind::Text),
        field("custom_css", Kind::Long),
        field("show_locations", Kind::Flag),
        field("show_sla", Kind::Flag),
    ],
    actions: &[
        action("publish", May::StatuspagesPublish, &[]),
        action("unpublish", May::StatuspagesPublish, &[]),
    ],
    lists: &["components", "domains", "subscribers"],
};

static COMPONENTS: ResourceSpec = ResourceSpec {
    name: "components",
    section: Section::Statuspages,
    screen: "/statuspages/{id}/components",
    api: "/v1/statuspages/{id}/components",
    view: May::StatuspagesView,
    create: Some(May::StatuspagesEdit),
    edit: Some(May::StatuspagesEdit),
    delete: Some(May::StatuspagesEdit),
    columns: &["name", "is_group", "status", "display_order"],
    fields: &[
        needed("name", Kind::Text),
        field("description", Kind::Long),
        on_creation("is_group", Kind::Flag),
        field("service_id", Kind::Reference(SERVICES)),
        field("parent_id", Kind::Text),
        field("display_order", Kind::Number),
        field("sync_tag_id", Kind::Reference(TAGS)),
        field("show_uptime_bars", Kind::Flag),
        field("hide_operational_children", Kind::Flag),
    ],
    actions: &[],
    lists: &[],
};

static DOMAINS: ResourceSpec = ResourceSpec {
    name: "domains",
    section: Section::Statuspages,
    screen: "/statuspages/{id}/domains",
    api: "/v1/statuspages/{id}/custom-domains",
    view: May::StatuspagesView,
    create: Some(May::StatuspagesEdit),
    edit: None,
    delete: Some(May::StatuspagesEdit),
    columns: &["hostname", "status", "dns_records", "certificate"],
    fields: &[needed("hostname", Kind::Text)],
    actions: &[action("verify", May::StatuspagesEdit, &[])],
    lists: &[],
};

static SUBSCRIBERS: ResourceSpec = ResourceSpec {
    name: "subscribers",
    section: Section::Statuspages,
    screen: "/statuspages/{id}/subscribers",
    api: "/v1/statuspages/{id}/subscribers",
    view: May::SubscribersView,
    create: Some(May::SubscribersCreate),
    edit: None,
    delete: Some(May::SubscribersDelete),
    columns: &["address", "channel", "status", "language", "confirmed_at"],
    fields: &[
        needed("channel", Kind::Word(&["email", "webhook", "slack", "teams", "discord", "telegram"])),
        needed("address", Kind::Text),
        field("language", Kind::Text),
        field("skip_confirmation", Kind::Flag),
    ],
    actions: &[],
    lists: &[],
};

static DUTY_SCHEDULES: ResourceSpec = ResourceSpec {
    name: "schedules",
    section: Section::Oncall,
    screen: "/oncall/schedules",
    api: SCHEDULES,
    view: May::OncallView,
    create: Some(May::OncallEdit),
    edit: Some(May::OncallEdit),
    delete: Some(May::OncallEdit),
    columns: &["name", "time_zone"],
    fields: &[needed("name", Kind::Text), needed("time_zone", Kind::Text), needed("layers", Kind::Data)],
    actions: &[],
    lists: &[],
};

static OVERRIDES: ResourceSpec = ResourceSpec {
    name: "overrides",
    section: Section::Oncall,
    screen: "/oncall/overrides",
    api: "/v1/oncall/overrides",
    view: May::OncallView,
    create: Some(May::OncallCover),
    edit: Some(May::OncallCover),
    delete: Some(May::OncallCover),
    columns: &["contact", "schedule", "starts_at", "ends_at"],
    fields: &[
        needed("schedule_id", Kind::Reference(SCHEDULES)),
        needed("contact_id", Kind::Reference(CONTACTS)),
        needed("starts_at", Kind::Time),
        needed("ends_at", Kind::Time),
    ],
    actions: &[],
    lists: &[],
};

static ABSENCES: ResourceSpec = ResourceSpec {
    name: "absences",
    section: Section::Oncall,
    screen: "/oncall/absences",
    api: "/v1/oncall/absences",
    view: May::OncallView,
    create: Some(May::OncallCover),
    edit: Some(May::OncallCover),
    delete: Some(May::OncallCover),
    columns: &["contact", "starts_at", "ends_at"],
    fields: &[
        needed("contact_id", Kind::Reference(CONTACTS)),
        needed("starts_at", Kind::Time),
        needed("ends_at", Kind::Time),
    ],
    actions: &[],
    lists: &[],
};

static COVER_REQUESTS: ResourceSpec = ResourceSpec {
    name: "cover-requests",
    section: Section::Oncall,
    screen: "/oncall/cover-requests",
    api: "/v1/oncall/cover-requests",
    view: May::OncallView,
    create: Some(May::OncallCover),
    edit: None,
    delete: None,
    columns: &["contact", "status", "schedule", "starts_at", "ends_at"],
    fields: &[
        needed("schedule_id", Kind::Reference(SCHEDULES)),
        needed("contact_id", Kind::Reference(CONTACTS)),
        needed("starts_at", Kind::Time),
        needed("ends_at", Kind::Time),
        field("asked_contact_id", Kind::Reference(CONTACTS)),
        field("note", Kind::Long),
    ],
    actions: &[
        action("accept", May::OncallCover, &[needed("contact_id", Kind::Reference(CONTACTS))]),
        action("decline", May::OncallCover, &[needed("contact_id", Kind::Reference(CONTACTS))]),
        action("cancel", May::OncallCover, &[]),
    ],
    lists: &[],
};

static PEOPLE: ResourceSpec = ResourceSpec {
    name: "contacts",
    section: Section::Oncall,
    screen: "/oncall/contacts",
    api: CONTACTS,
    view: May::ContactsView,
    create: Some(May::ContactsCreate),
    edit: Some(May::ContactsEdit),
    delete: Some(May::ContactsDelete),
    columns: &["name", "email", "time_zone"],
    fields: &[
        needed("name", Kind::Text),
        needed("email", Kind::Text),
        field("time_zone", Kind::Text),
        field("language", Kind::Text),
        field("channel_ids", Kind::References(CHANNELS)),
        field("quiet_hours", Kind::Data),
    ],
    actions: &[action("calendar", May::ContactsEdit, &[])],
    lists: &[],
};

static NOTIFICATION_CHANNELS: ResourceSpec = ResourceSpec {
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
        fixed("kind", Kind::Word(crate::model::notification::ChannelKind::WORDS)),
        needed("name", Kind::Text),
        needed("settings", Kind::Data),
        field("is_enabled", Kind::Flag),
        field("min_severity", Kind::Word(SEVERITIES)),
        field("applies_to", Kind::Word(APPLIES)),
        field("tag_ids", Kind::References(TAGS)),
        field("service_ids", Kind::References(SERVICES)),
        field("quiet_hours", Kind::Data),
        field("digest_above", Kind::Number),
    ],
    actions: &[action("test", May::NotificationChannelsEdit, &[])],
    lists: &[],
};

static MESSAGES: ResourceSpec = ResourceSpec {
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
    actions: &[action("redeliver", May::NotificationsRedeliver, &[])],
    lists: &[],
};

static INCIDENT_POLICIES: ResourceSpec = ResourceSpec {
    name: "policies",
    section: Section::Policies,
    screen: "/policies",
    api: "/v1/incident-policies",
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
        field("down_severity", Kind::Word(SEVERITIES)),
        field("degraded_severity", Kind::Word(SEVERITIES)),
        field("unstable_severity", Kind::Word(SEVERITIES)),
        field("publish", Kind::Flag),
        field("group_by", Kind::Word(crate::model::incident_policy::GroupBy::WORDS)),
        field("group_by_tag_keys", Kind::Lines),
        field("group_window_seconds", Kind::Number),
    ],
    actions: &[],
    lists: &[],
};

static ESCALATION_POLICIES: ResourceSpec = ResourceSpec {
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
        field("min_severity", Kind::Word(SEVERITIES)),
        field("applies_to", Kind::Word(APPLIES)),
        field("tag_ids", Kind::References(TAGS)),
        field("service_ids", Kind::References(SERVICES)),
        needed("steps", Kind::Data),
        field("repeat_after_seconds", Kind::Number),
    ],
    actions: &[],
    lists: &[],
};

static SLA_TARGETS: ResourceSpec = ResourceSpec {
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
        field("period", Kind::Word(crate::model::sla::calendar::PeriodKind::WORDS)),
        field("rolling_days", Kind::Number),
        field("time_zone", Kind::Text),
        field("business_hours", Kind::Data),
    ],
    actions: &[],
    lists: &[],
};

static TAG_LIST: ResourceSpec = ResourceSpec {
    name: "tags",
    section: Section::Settings,
    screen: "/settings/tags",
    api: TAGS,
    view: May::ServicesView,
    create: Some(May::ServicesEdit),
    edit: Some(May::ServicesEdit),
    delete: Some(May::ServicesEdit),
    columns: &["label", "color", "services_count"],
    fields: &[needed("key", Kind::Text), field("value", Kind::Text), field("color", Kind::Text)],
    actions: &[],
    lists: &[],
};

static ACCESS_SCOPES: ResourceSpec = ResourceSpec {
    name: "scopes",
    section: Section::Settings,
    screen: "/settings/scopes",
    api: SCOPES,
    view: May::AccessScopesView,
    create: Some(May::AccessScopesCreate),
    edit: Some(May::AccessScopesEdit),
    delete: Some(May::AccessScopesDelete),
    columns: &["name", "tags", "tokens_count"],
    fields: &[needed("name", Kind::Text), needed("tags", Kind::Lines)],
    actions: &[],
    lists: &[],
};

static USERS: ResourceSpec = ResourceSpec {
    name: "users",
    section: Section::Settings,
    screen: "/settings/users",
    api: "/v1/users",
    view: May::UsersManage,
    create: Some(May::UsersManage),
    edit: Some(May::UsersManage),
    delete: Some(May::UsersManage),
    columns: &["name", "email", "role", "access_scope", "has_password"],
    fields: &[
        needed("email", Kind::Text),
        on_change("name", Kind::Text),
        needed("role", Kind::Word(crate::model::console_user::UserRole::WORDS)),
        field("access_scope_id", Kind::Reference(SCOPES)),
    ],
    actions: &[action("reset", May::UsersManage, &[])],
    lists: &["sessions"],
};

static TOKENS: ResourceSpec = ResourceSpec {
    name: "tokens",
    section: Section::Settings,
    screen: "/settings/tokens",
    api: "/v1/tokens",
    view: May::TokensManage,
    create: Some(May::TokensManage),
    edit: Some(May::TokensManage),
    delete: Some(May::TokensManage),
    columns: &["name", "permissions", "access_scope", "expires_at", "created_at"],
    fields: &[
        needed("name", Kind::Text),
        needed("permissions", Kind::Permissions),
        field("access_scope_id", Kind::Reference(SCOPES)),
        field("expires_at", Kind::Time),
    ],
    actions: &[],
    lists: &[],
};

static WALL_KEYS: ResourceSpec = ResourceSpec {
    name: "wall-keys",
    section: Section::Settings,
    screen: "/settings/wall-keys",
    api: "/v1/wall-keys",
    view: May::TokensManage,
    create: Some(May::TokensManage),
    edit: None,
    delete: Some(May::TokensManage),
    columns: &["name", "access_scope", "created_at"],
    fields: &[needed("name", Kind::Text), field("access_scope_id", Kind::Reference(SCOPES))],
    actions: &[],
    lists: &[],
};
