//! Incidents and maintenances.

use crate::console::frame::ConsoleSection as Section;
use crate::console::screens::resources::api_lists::{PAGES, SERVICES};
use crate::console::screens::resources::spec::{
    FieldKind as Kind, ResourceSpec, action, field, needed, on_creation, state,
};
use crate::model::access::Permission as May;
use crate::model::incident::Severity;

/// Statuses of an incident that is not resolved.
const OPEN: &[&str] = &["investigating", "identified", "monitoring"];

pub(super) static INCIDENTS: ResourceSpec = ResourceSpec {
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
        field("severity", Kind::Word(Severity::WORDS)),
        field("service_ids", Kind::References(SERVICES)),
        field("statuspage_ids", Kind::References(PAGES)),
        field("is_published", Kind::Flag),
        on_creation("notify_subscribers", Kind::Flag),
        field("sla_counts_as_downtime", Kind::Flag),
        field("started_at", Kind::Time),
    ],
    actions: &[
        action("acknowledge", May::IncidentsAcknowledge, &[field("note", Kind::Text)])
            .only_if(&[state("acknowledged", &["null"]), state("status", OPEN)]),
        action(
            "updates",
            May::IncidentsEdit,
            &[
                needed("status", Kind::Word(OPEN)),
                needed("message", Kind::Long),
                field("notify_subscribers", Kind::Flag),
            ],
        ),
        action(
            "resolve",
            May::IncidentsResolve,
            &[needed("message", Kind::Long), field("notify_subscribers", Kind::Flag)],
        )
        .only_if(&[state("status", OPEN)]),
    ],
    lists: &[],
};

pub(super) static MAINTENANCES: ResourceSpec = ResourceSpec {
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
        field("auto_start", Kind::Flag).preset("true"),
        field("auto_complete", Kind::Flag).preset("true"),
        on_creation("notify_announcement", Kind::Flag).preset("true"),
        on_creation("recurrence.rrule", Kind::Text),
        on_creation("recurrence.time_zone", Kind::Text),
    ],
    actions: &[
        action("start", May::MaintenancesEdit, &[]).only_if(&[state("status", &["scheduled"])]),
        action("complete", May::MaintenancesEdit, &[]).only_if(&[state("status", &["in_progress"])]),
        action(
            "extend",
            May::MaintenancesEdit,
            &[needed("scheduled_end", Kind::Time), field("message", Kind::Long)],
        )
        .only_if(&[state("status", &["in_progress", "completed"])]),
        action("cancel", May::MaintenancesEdit, &[]).only_if(&[state("status", &["scheduled"])]),
    ],
    lists: &[],
};

pub(super) static SERIES: ResourceSpec = ResourceSpec {
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
