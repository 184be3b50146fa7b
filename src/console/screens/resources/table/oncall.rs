//! On-call schedules and their exceptions, and contacts.

use crate::console::frame::ConsoleSection as Section;
use crate::console::screens::resources::api_lists::{CHANNELS, CONTACTS, SCHEDULES};
use crate::console::screens::resources::spec::{
    FieldKind as Kind, FieldSpec, ResourceSpec, StateCondition, action, field, needed, state,
};
use crate::console::screens::resources::table::hours::{DAYS, HOURS, OWN_QUIET_HOURS};
use crate::model::access::Permission as May;

/// When duty changes hands.
const ROTATION: &[FieldSpec] = &[
    needed("kind", Kind::Word(&["daily", "weekly", "hours"])),
    field("length", Kind::Number),
    field("day", Kind::Word(DAYS)),
    field("at", Kind::Text),
];

/// A layer of a schedule.
const LAYERS: &[FieldSpec] = &[
    needed("name", Kind::Text),
    needed("contact_ids", Kind::Order(CONTACTS)),
    needed("starts_at", Kind::Time),
    field("ends_at", Kind::Time),
    needed("rotation", Kind::Group(ROTATION)),
    field("hours", Kind::Rows(HOURS)),
];

pub(super) static DUTY_SCHEDULES: ResourceSpec = ResourceSpec {
    name: "schedules",
    section: Section::Oncall,
    screen: "/oncall/schedules",
    api: SCHEDULES,
    view: May::OncallView,
    create: Some(May::OncallEdit),
    edit: Some(May::OncallEdit),
    delete: Some(May::OncallEdit),
    columns: &["name", "time_zone"],
    fields: &[
        needed("name", Kind::Text),
        needed("time_zone", Kind::Text),
        needed("layers", Kind::Rows(LAYERS)).ordered(),
    ],
    actions: &[],
    lists: &[],
};

pub(super) static OVERRIDES: ResourceSpec = ResourceSpec {
    name: "overrides",
    section: Section::Oncall,
    screen: "/oncall/overrides",
    api: "/v1/oncall/overrides",
    view: May::OncallView,
    create: Some(May::OncallCover),
    edit: Some(May::OncallCover),
    delete: Some(May::OncallCover),
    columns: &["contact_name", "schedule_name", "starts_at", "ends_at"],
    fields: &[
        needed("schedule_id", Kind::Reference(SCHEDULES)),
        needed("contact_id", Kind::Reference(CONTACTS)),
        needed("starts_at", Kind::Time),
        needed("ends_at", Kind::Time),
    ],
    actions: &[],
    lists: &[],
};

pub(super) static ABSENCES: ResourceSpec = ResourceSpec {
    name: "absences",
    section: Section::Oncall,
    screen: "/oncall/absences",
    api: "/v1/oncall/absences",
    view: May::OncallView,
    create: Some(May::OncallCover),
    edit: Some(May::OncallCover),
    delete: Some(May::OncallCover),
    columns: &["contact_name", "starts_at", "ends_at"],
    fields: &[
        needed("contact_id", Kind::Reference(CONTACTS)),
        needed("starts_at", Kind::Time),
        needed("ends_at", Kind::Time),
    ],
    actions: &[],
    lists: &[],
};

/// A cover request that nobody has accepted or cancelled.
const OPEN: &[StateCondition] = &[state("status", &["open"])];

pub(super) static COVER_REQUESTS: ResourceSpec = ResourceSpec {
    name: "cover-requests",
    section: Section::Oncall,
    screen: "/oncall/cover-requests",
    api: "/v1/oncall/cover-requests",
    view: May::OncallView,
    create: Some(May::OncallCover),
    edit: None,
    delete: None,
    columns: &["contact_name", "status", "schedule_name", "starts_at", "ends_at"],
    fields: &[
        needed("schedule_id", Kind::Reference(SCHEDULES)),
        needed("contact_id", Kind::Reference(CONTACTS)),
        needed("starts_at", Kind::Time),
        needed("ends_at", Kind::Time),
        field("asked_contact_id", Kind::Reference(CONTACTS)),
        field("note", Kind::Long),
    ],
    actions: &[
        action("accept", May::OncallCover, &[needed("contact_id", Kind::Reference(CONTACTS))]).only_if(OPEN),
        action("decline", May::OncallCover, &[needed("contact_id", Kind::Reference(CONTACTS))]).only_if(OPEN),
        action("cancel", May::OncallCover, &[]).only_if(OPEN),
    ],
    lists: &[],
};

pub(super) static PEOPLE: ResourceSpec = ResourceSpec {
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
        field("quiet_hours", Kind::Group(OWN_QUIET_HOURS)),
    ],
    actions: &[action("calendar", May::ContactsEdit, &[])],
    lists: &[],
};
