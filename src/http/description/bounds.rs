//! Checks the table of docs/limits.md (how much each request may add, and the response beyond that limit) against the route
//! table and the constants of the code.

use std::collections::BTreeSet;

use crate::http::gate::route::HttpVerb;
use crate::http::v1::routes::routes;
use crate::model::announcement::{SERVICES_MAX, STATUSPAGES_MAX};
use crate::model::{
    access, access_scope, component, console_user, contact, dependency, escalation, incident,
    incident_policy, notification, oncall, service, statuspage, subscriber, timeline_size, wall_key,
};

const DOCUMENT: &str = include_str!("../../../docs/limits.md");

/// A row of the table.
struct DocumentedLimit {
    /// The requests that change something, as method and path.
    requests: &'static [&'static str],
    most: String,
    /// The response to a request beyond the limit.
    refusal: &'static str,
}

fn bound(
    requests: &'static [&'static str],
    most: impl Into<String>,
    refusal: &'static str,
) -> DocumentedLimit {
    DocumentedLimit { requests, most: most.into(), refusal }
}

const BY_PLAN: &str = "402";
const FIELD: &str = "422 on the field";
const NOTHING: &str = "creates no resource";

fn table() -> Vec<DocumentedLimit> {
    [of_services(), of_incidents(), of_channels(), of_people(), of_pages()].into_iter().flatten().collect()
}

fn of_services() -> Vec<DocumentedLimit> {
    let config = service::SETTINGS_MAX_BYTES;
    let depends = dependency::DEPENDENCIES_MAX;
    vec![
        bound(
            &["POST /v1/services", "PATCH /v1/services/{id}"],
            format!(
                "`services` of the plan that are not paused, four times as many of any state; settings of {config} bytes; {depends} dependencies"
            ),
            "403; 402 `services_total`; 422 on `settings.config`, `depends_on`",
        ),
        bound(&["POST /v1/engine/backups"], "the newest `backup.keep` backups, one running at a time", "409"),
        bound(
            &[
                "POST /v1/services/{id}/pause",
                "POST /v1/services/{id}/resume",
                "POST /v1/services/{id}/check-now",
                "POST /v1/services/{id}/status-override",
                "POST /v1/services/{id}/heartbeat/rotate",
            ],
            format!(
                "one state, one override with a reason of {} characters, one secret",
                service::REASON_LENGTH.end()
            ),
            "403 when `resume` exceeds the plan; 429 for a second `check-now` of a service within 10 seconds; 422",
        ),
        bound(
            &[
                "POST /v1/services/{id}/simulate",
                "POST /v1/oncall/schedules/preview",
                "POST /v1/oncall/schedules/{id}/preview",
            ],
            format!(
                "nothing is stored; 500000 results of 31 days, {} days of a schedule",
                oncall::schedule::DAYS_MAX
            ),
            "429 while one simulation of the organisation runs, or two in the process; 422",
        ),
        bound(
            &["POST /v1/trials"],
            "nothing is stored; four trials of the organisation at a time, 16 in the process, 30 seconds each",
            "429; 422",
        ),
        bound(
            &["POST /v1/tags", "POST /v1/tags/ensure", "PATCH /v1/tags/{id}"],
            "`tags` of the plan",
            "422 on `key`",
        ),
    ]
}

fn of_incidents() -> Vec<DocumentedLimit> {
    let announced = format!(
        "{SERVICES_MAX} services, {STATUSPAGES_MAX} status pages; texts of {} characters in each language; any number: the rate limit \
        alone bounds how many a token makes",
        incident::MESSAGE_LENGTH.end()
    );
    let timeline = format!(
        "{} entries and {} characters in each timeline",
        timeline_size::ENTRIES_MAX,
        timeline_size::CHARACTERS_MAX
    );
    vec![
        bound(&["POST /v1/incidents", "PATCH /v1/incidents/{id}"], announced.clone(), FIELD),
        bound(
            &["POST /v1/incidents/{id}/updates", "POST /v1/incidents/{id}/resolve"],
            timeline.clone(),
            "422 on `message` (`The timeline is full.`); the end has room for two entries more",
        ),
        bound(
            &["POST /v1/incidents/{id}/acknowledge"],
            format!("a note of {} characters", incident::NOTE_LENGTH.end()),
            FIELD,
        ),
        bound(
            &["POST /v1/maintenances", "PATCH /v1/maintenances/{id}"],
            announced,
            "422 on the field; `maintenance_series` of the plan: 402",
        ),
        bound(
            &[
                "POST /v1/maintenances/{id}/start",
                "POST /v1/maintenances/{id}/complete",
                "POST /v1/maintenances/{id}/extend",
                "POST /v1/maintenances/{id}/cancel",
            ],
            timeline,
            "422 on `message`",
        ),
        bound(
            &["PATCH /v1/maintenance-series/{id}"],
            "110 future windows, 100 within 30 days",
            "422 on `recurrence.rrule`",
        ),
    ]
}

fn of_channels() -> Vec<DocumentedLimit> {
    vec![
        bound(
            &["POST /v1/incident-policies", "PATCH /v1/incident-policies/{id}"],
            format!("`incident_policies` of the plan, {} at most", incident_policy::POLICIES_MAX),
            "402; 422 on `position`",
        ),
        bound(
            &["POST /v1/notification-channels", "PATCH /v1/notification-channels/{id}"],
            format!("`notification_channels` of the plan, {} at most", notification::CHANNELS_MAX),
            "402; 422 on `name`",
        ),
        bound(&["POST /v1/notification-channels/{id}/test"], NOTHING, "one message each; the rate limit"),
        bound(
            &["POST /v1/notifications/redeliver", "POST /v1/notifications/{id}/redeliver"],
            "no new messages; messages are kept for 30 days",
            "404, 409",
        ),
        bound(&["POST /v1/sla-targets", "PATCH /v1/sla-targets/{id}"], "`sla_targets` of the plan", BY_PLAN),
        bound(
            &["POST /v1/escalation-policies", "PATCH /v1/escalation-policies/{id}"],
            format!(
                "`escalation_policies` of the plan, {} at most; {} steps",
                escalation::POLICIES_MAX,
                escalation::STEPS_MAX
            ),
            "402; 422 on `position`, `steps`",
        ),
    ]
}

fn of_people() -> Vec<DocumentedLimit> {
    vec![
        bound(
            &["POST /v1/contacts", "PATCH /v1/contacts/{id}"],
            format!(
                "`contacts` of the plan, {} at most; {} channels each",
                contact::CONTACTS_MAX,
                contact::CHANNELS_MAX
            ),
            "402; 422 on `name`, `channel_ids`",
        ),
        bound(
            &["POST /v1/tokens", "PATCH /v1/tokens/{id}"],
            format!("{} of an organisation", access::TOKENS_MAX),
            "422 on `name`, `permissions`, `expires_at`",
        ),
        bound(
            &["POST /v1/users", "PATCH /v1/users/{id}", "POST /v1/users/{id}/reset"],
            format!("{} of an organisation, one link each", console_user::USERS_MAX),
            "422 on `email`, `role`",
        ),
        bound(&["POST /v1/wall-keys"], format!("{} of an organisation", wall_key::KEYS_MAX), "422 on `name`"),
        bound(
            &["POST /v1/contacts/{id}/calendar"],
            "one address of a calendar",
            "the earlier one is deleted",
        ),
        bound(
            &["POST /v1/oncall/schedules", "PATCH /v1/oncall/schedules/{id}"],
            format!(
                "`oncall_schedules` of the plan, {} at most; {} layers of {} contacts",
                oncall::schedule::SCHEDULES_MAX,
                oncall::schedule::LAYERS_MAX,
                oncall::schedule::CONTACTS_MAX
            ),
            "402; 422 on `name`, `layers`",
        ),
        bound(
            &[
                "POST /v1/oncall/overrides",
                "PATCH /v1/oncall/overrides/{id}",
                "POST /v1/oncall/absences",
                "PATCH /v1/oncall/absences/{id}",
                "POST /v1/oncall/cover-requests",
            ],
            format!(
                "{} of each kind, {} days each; past ones are deleted after 400 days",
                oncall::entry::ENTRIES_MAX,
                oncall::entry::LENGTH_DAYS_MAX
            ),
            "422 on `starts_at`, `ends_at`",
        ),
        bound(
            &[
                "POST /v1/oncall/cover-requests/{id}/accept",
                "POST /v1/oncall/cover-requests/{id}/decline",
                "POST /v1/oncall/cover-requests/{id}/cancel",
            ],
            "one answer each",
            "409",
        ),
    ]
}

fn of_pages() -> Vec<DocumentedLimit> {
    vec![
        bound(
            &["POST /v1/statuspages", "PATCH /v1/statuspages/{id}"],
            format!(
                "`statuspages` of the plan; {} characters of CSS, {} addresses; five old slugs a page",
                statuspage::CSS_LENGTH.end(),
                statuspage::WHITELIST_MAX
            ),
            "402; 422 on the field; the oldest slug is free again",
        ),
        bound(
            &["POST /v1/statuspages/{id}/publish", "POST /v1/statuspages/{id}/unpublish"],
            "`published_statuspages` of the plan",
            "422 on `is_published`",
        ),
        bound(
            &[
                "POST /v1/statuspages/{id}/assets/logo",
                "POST /v1/statuspages/{id}/assets/logo-dark",
                "POST /v1/statuspages/{id}/assets/favicon",
            ],
            "one file of each name: 2 MiB, 1 MiB for an icon; 40 megapixels",
            "422 on `file`",
        ),
        bound(
            &["POST /v1/statuspages/{id}/components", "PATCH /v1/statuspages/{id}/components/{component}"],
            format!("`components` of the plan on each page, {} levels", component::DEPTH_MAX),
            "402; 422 on `parent_id`",
        ),
        bound(
            &["POST /v1/statuspages/{id}/custom-domains"],
            "`custom_domains` of the plan on each page",
            "403; 422 on `hostname`",
        ),
        bound(
            &["POST /v1/statuspages/{id}/custom-domains/{domain}/verify"],
            NOTHING,
            "429 within ten seconds",
        ),
        bound(
            &["POST /v1/statuspages/{id}/subscribers"],
            format!(
                "`subscribers` of the plan on each page, {} at most; {} components each",
                subscriber::SUBSCRIBERS_MAX,
                subscriber::COMPONENTS_MAX
            ),
            "402; 422 on `address`, `component_ids`",
        ),
        bound(
            &["POST /v1/access-scopes", "PATCH /v1/access-scopes/{id}"],
            format!("`access_scopes` of the plan, {} tags each", access_scope::TAGS_MAX),
            "402; 422 on `tags`",
        ),
    ]
}

fn line(bound: &DocumentedLimit) -> String {
    let requests: Vec<String> = bound.requests.iter().map(|request| format!("`{request}`")).collect();
    format!("| {} | {} | {} |", requests.join(", "), bound.most, bound.refusal)
}

/// A new route that changes something needs a row in the table.
#[test]
fn every_request_that_changes_something_has_a_bound() {
    let table = table();
    let described: Vec<&str> = table.iter().flat_map(|bound| bound.requests).copied().collect();
    let distinct: BTreeSet<&str> = described.iter().copied().collect();
    assert_eq!(described.len(), distinct.len(), "no request stands there twice");
    let routes = routes().unwrap();
    let verbs = [HttpVerb::Post, HttpVerb::Patch];
    let served = routes.lines().flat_map(|line| {
        let verbs = verbs.iter().filter(move |verb| line.verbs.contains(verb));
        verbs.map(move |verb| format!("{} {}", verb.as_str(), line.path))
    });
    let served: BTreeSet<String> = served.collect();
    assert_eq!(distinct, served.iter().map(String::as_str).collect());
}

#[test]
fn the_limits_page_is_up_to_date() {
    let missing: Vec<String> =
        table().iter().map(line).filter(|line| !DOCUMENT.lines().any(|written| written == line)).collect();
    assert!(missing.is_empty(), "docs/limits.md lacks:\n{}", missing.join("\n"));
}
