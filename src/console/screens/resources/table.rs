//! The resources: their lists, fields and actions. Words and limits are those of the API, which refuses anything else.

mod alerting;
mod hours;
mod incidents;
mod oncall;
mod settings;
mod statuspages;

use crate::console::screens::resources::spec::ResourceSpec;
use crate::console::screens::resources::table::alerting::{
    ESCALATION_POLICIES, INCIDENT_POLICIES, MESSAGES, NOTIFICATION_CHANNELS, SLA_TARGETS,
};
use crate::console::screens::resources::table::incidents::{INCIDENTS, MAINTENANCES, SERIES};
use crate::console::screens::resources::table::oncall::{
    ABSENCES, COVER_REQUESTS, DUTY_SCHEDULES, OVERRIDES, PEOPLE,
};
use crate::console::screens::resources::table::settings::{
    ACCESS_SCOPES, TAG_LIST, TOKENS, USERS, WALL_KEYS,
};
use crate::console::screens::resources::table::statuspages::{COMPONENTS, DOMAINS, STATUSPAGES, SUBSCRIBERS};

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
    &USERS,
    &TOKENS,
    &ACCESS_SCOPES,
    &WALL_KEYS,
    &TAG_LIST,
];
