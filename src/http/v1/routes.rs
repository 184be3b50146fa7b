//! Every route of the API: method, path, access rule and handler.

use std::sync::Arc;

use crate::http::gate::call::ApiCall;
use crate::http::gate::route::{AccessRule, ApiRoute, RouteTable, RouteTableError};
use crate::http::v1::assets::ImageDecoder;
use crate::http::v1::custom_domains::VerificationCooldowns;
use crate::http::v1::history::{checks, metrics, response_times, status_changes, uptime};
use crate::http::v1::incidents::{acknowledgement, service_incidents, timeline};
use crate::http::v1::maintenances::operations;
use crate::http::v1::services::ServiceCache;
use crate::http::v1::services::check_now::{CheckCooldowns, check_service_now};
use crate::http::v1::services::{DELETE_ORPHANED_INCIDENTS, DELETE_ORPHANED_MAINTENANCES, actions};
use crate::http::v1::simulations::{simulate_service, simulation_slots};
use crate::http::v1::state::AppState;
use crate::http::v1::statuspages::PasswordHasher;
use crate::http::v1::statuspages::publishing;
use crate::http::v1::trials::{run_trial, trial_slots};
use crate::http::v1::{
    access_scopes, assets, audit_log, channel_types, check_types, components, contacts, custom_domains,
    engine, escalation_policies, events, incident_policies, incidents, maintenance_series, maintenances, me,
    notices, notification_channels, notifications, oncall, probes, services, sla_targets, statuspages,
    subscribers, tags, tokens, users, wall_keys,
};
use crate::model::access::Permission as May;

/// Builds the route table of the whole API.
///
/// # Errors
/// When a route has no access rule, or occurs twice.
pub fn routes() -> Result<RouteTable<AppState>, RouteTableError> {
    let resources = [
        reference(),
        service_routes(),
        history_routes(),
        tag_routes(),
        access_scope_routes(),
        incident_routes(),
        incident_policy_routes(),
        maintenance_routes(),
        maintenance_series_routes(),
        notification_routes(),
        sla_target_routes(),
        escalation_routes(),
        contact_routes(),
        oncall_schedule_routes(),
        oncall_cover_routes(),
        event_routes(),
        statuspage_routes(),
        component_routes(),
        custom_domain_routes(),
        subscriber_routes(),
        asset_routes(),
        token_routes(),
        user_routes(),
    ];
    RouteTable::new(resources.into_iter().flatten())
}

fn reference() -> Vec<ApiRoute<AppState>> {
    let view = AccessRule::needs(&[May::ServicesView]);
    let operate = AccessRule::needs(&[May::EngineView]).for_whole_organisation();
    let back_up = AccessRule::needs(&[May::EngineBackup]).for_whole_organisation();
    vec![
        ApiRoute::get("/v1/engine", operate, engine::show_engine),
        ApiRoute::get("/v1/engine/backups", back_up, engine::list_backups),
        ApiRoute::post("/v1/engine/backups", back_up, engine::create_backup),
        ApiRoute::get("/v1/me", AccessRule::any_token(), me::show_me),
        ApiRoute::get("/v1/probes", view, probes::list_probes),
        ApiRoute::get("/v1/meta/check-types", view, check_types::show_check_types),
    ]
}

fn service_routes() -> Vec<ApiRoute<AppState>> {
    let cache = Arc::new(ServiceCache::default());
    let simulations = Arc::new(simulation_slots());
    let trials = Arc::new(trial_slots());
    let cooldowns = Arc::new(CheckCooldowns::default());
    let view = AccessRule::needs(&[May::ServicesView]);
    let simulate = AccessRule::needs(&[May::ServicesSimulate]);
    let create = AccessRule::needs(&[May::ServicesCreate]);
    let edit = AccessRule::needs(&[May::ServicesEdit]);
    let try_out = AccessRule::needs_one_of(&[May::ServicesCreate, May::ServicesEdit]);
    let pause = AccessRule::needs_one_of(&[May::ServicesEdit, May::ServicesPause]);
    let delete = AccessRule::needs(&[May::ServicesDelete]).when_true(&[
        (DELETE_ORPHANED_INCIDENTS, May::IncidentsDelete),
        (DELETE_ORPHANED_MAINTENANCES, May::MaintenancesDelete),
    ]);
    vec![
        ApiRoute::get("/v1/services", view, with(&cache, services::list_services)),
        ApiRoute::post("/v1/services", create, services::create_service),
        ApiRoute::post_query("/v1/trials", try_out, with(&trials, run_trial)),
        ApiRoute::get("/v1/services/{id}", view, with(&cache, services::show_service)),
        ApiRoute::update("/v1/services/{id}", edit, services::update_service),
        ApiRoute::delete("/v1/services/{id}", delete, services::delete_service),
        ApiRoute::post("/v1/services/{id}/pause", pause, actions::pause_service),
        ApiRoute::post("/v1/services/{id}/resume", pause, actions::resume_service),
        ApiRoute::post("/v1/services/{id}/check-now", pause, with(&cooldowns, check_service_now)),
        ApiRoute::post("/v1/services/{id}/status-override", edit, actions::set_status_override),
        ApiRoute::delete("/v1/services/{id}/status-override", edit, actions::remove_status_override),
        ApiRoute::post("/v1/services/{id}/heartbeat/rotate", edit, actions::rotate_heartbeat),
        ApiRoute::post_query("/v1/services/{id}/simulate", simulate, with(&simulations, simulate_service)),
    ]
}

/// Routes for the history, incidents and maintenances of a service.
fn history_routes() -> Vec<ApiRoute<AppState>> {
    let view = AccessRule::needs(&[May::ServicesView]);
    let incidents = AccessRule::needs(&[May::ServicesView, May::IncidentsView]);
    let maintenances = AccessRule::needs(&[May::ServicesView, May::MaintenancesView]);
    vec![
        ApiRoute::get("/v1/services/{id}/metrics", view, metrics::show_metrics),
        ApiRoute::get("/v1/services/{id}/response-times", view, response_times::list_response_times),
        ApiRoute::get("/v1/services/{id}/uptime", view, uptime::list_uptime),
        ApiRoute::get("/v1/services/{id}/checks", view, checks::list_checks),
        ApiRoute::get("/v1/services/{id}/status-changes", view, status_changes::list_status_changes),
        ApiRoute::get("/v1/services/{id}/incidents", incidents, service_incidents::list_service_incidents),
        ApiRoute::get(
            "/v1/services/{id}/maintenances",
            maintenances,
            maintenances::list_maintenances_of_service,
        ),
    ]
}

fn tag_routes() -> Vec<ApiRoute<AppState>> {
    let view = AccessRule::needs(&[May::ServicesView]);
    let edit = AccessRule::needs(&[May::ServicesEdit]).for_whole_organisation();
    vec![
        ApiRoute::get("/v1/tags", view, tags::list_tags),
        ApiRoute::post("/v1/tags", edit, tags::create_tag),
        ApiRoute::post("/v1/tags/ensure", edit, tags::ensure_tag),
        ApiRoute::get("/v1/tags/{id}", view, tags::show_tag),
        ApiRoute::update("/v1/tags/{id}", edit, tags::update_tag),
        ApiRoute::delete("/v1/tags/{id}", edit, tags::delete_tag),
    ]
}

fn access_scope_routes() -> Vec<ApiRoute<AppState>> {
    let view = AccessRule::needs(&[May::AccessScopesView]).for_whole_organisation();
    let create = AccessRule::needs(&[May::AccessScopesCreate]).for_whole_organisation();
    let edit = AccessRule::needs(&[May::AccessScopesEdit]).for_whole_organisation();
    let delete = AccessRule::needs(&[May::AccessScopesDelete]).for_whole_organisation();
    vec![
        ApiRoute::get("/v1/access-scopes", view, access_scopes::list_access_scopes),
        ApiRoute::post("/v1/access-scopes", create, access_scopes::create_access_scope),
        ApiRoute::get("/v1/access-scopes/{id}", view, access_scopes::show_access_scope),
        ApiRoute::update("/v1/access-scopes/{id}", edit, access_scopes::update_access_scope),
        ApiRoute::delete("/v1/access-scopes/{id}", delete, access_scopes::delete_access_scope),
    ]
}

fn incident_routes() -> Vec<ApiRoute<AppState>> {
    let view = AccessRule::needs(&[May::IncidentsView]);
    let create = AccessRule::needs(&[May::IncidentsCreate]);
    let edit = AccessRule::needs(&[May::IncidentsEdit]);
    let resolve = AccessRule::needs(&[May::IncidentsResolve]);
    let delete = AccessRule::needs(&[May::IncidentsDelete]);
    let acknowledge = AccessRule::needs(&[May::IncidentsAcknowledge]);
    vec![
        ApiRoute::get("/v1/incidents", view, incidents::list_incidents),
        ApiRoute::post("/v1/incidents", create, incidents::create_incident),
        ApiRoute::get("/v1/incidents/{id}", view, incidents::show_incident),
        ApiRoute::update("/v1/incidents/{id}", edit, incidents::update_incident),
        ApiRoute::delete("/v1/incidents/{id}", delete, incidents::delete_incident),
        ApiRoute::post("/v1/incidents/{id}/updates", edit, timeline::post_incident_update),
        ApiRoute::post("/v1/incidents/{id}/resolve", resolve, timeline::resolve_incident),
        ApiRoute::post("/v1/incidents/{id}/acknowledge", acknowledge, acknowledgement::acknowledge_incident),
    ]
}

fn incident_policy_routes() -> Vec<ApiRoute<AppState>> {
    let view = AccessRule::needs(&[May::IncidentPoliciesView]).for_whole_organisation();
    let create = AccessRule::needs(&[May::IncidentPoliciesCreate]).for_whole_organisation();
    let edit = AccessRule::needs(&[May::IncidentPoliciesEdit]).for_whole_organisation();
    let delete = AccessRule::needs(&[May::IncidentPoliciesDelete]).for_whole_organisation();
    vec![
        ApiRoute::get("/v1/incident-policies", view, incident_policies::list_incident_policies),
        ApiRoute::post("/v1/incident-policies", create, incident_policies::create_incident_policy),
        ApiRoute::get("/v1/incident-policies/{id}", view, incident_policies::show_incident_policy),
        ApiRoute::update("/v1/incident-policies/{id}", edit, incident_policies::update_incident_policy),
        ApiRoute::delete("/v1/incident-policies/{id}", delete, incident_policies::delete_incident_policy),
    ]
}

fn escalation_routes() -> Vec<ApiRoute<AppState>> {
    use escalation_policies as policies;
    let view = AccessRule::needs(&[May::EscalationPoliciesView]).for_whole_organisation();
    let create = AccessRule::needs(&[May::EscalationPoliciesCreate]).for_whole_organisation();
    let edit = AccessRule::needs(&[May::EscalationPoliciesEdit]).for_whole_organisation();
    let delete = AccessRule::needs(&[May::EscalationPoliciesDelete]).for_whole_organisation();
    let progress = AccessRule::needs(&[May::IncidentsView]);
    vec![
        ApiRoute::get("/v1/escalation-policies", view, policies::list_escalation_policies),
        ApiRoute::post("/v1/escalation-policies", create, policies::create_escalation_policy),
        ApiRoute::get("/v1/escalation-policies/{id}", view, policies::show_escalation_policy),
        ApiRoute::update("/v1/escalation-policies/{id}", edit, policies::update_escalation_policy),
        ApiRoute::delete("/v1/escalation-policies/{id}", delete, policies::delete_escalation_policy),
        ApiRoute::get("/v1/incidents/{id}/escalation", progress, policies::show_incident_escalation),
    ]
}

fn contact_routes() -> Vec<ApiRoute<AppState>> {
    use contacts::calendar::{delete_contact_calendar, make_contact_calendar};
    let view = AccessRule::needs(&[May::ContactsView]).for_whole_organisation();
    let create = AccessRule::needs(&[May::ContactsCreate]).for_whole_organisation();
    let edit = AccessRule::needs(&[May::ContactsEdit]).for_whole_organisation();
    let delete = AccessRule::needs(&[May::ContactsDelete]).for_whole_organisation();
    vec![
        ApiRoute::get("/v1/contacts", view, contacts::list_contacts),
        ApiRoute::post("/v1/contacts", create, contacts::create_contact),
        ApiRoute::get("/v1/contacts/{id}", view, contacts::show_contact),
        ApiRoute::update("/v1/contacts/{id}", edit, contacts::update_contact),
        ApiRoute::delete("/v1/contacts/{id}", delete, contacts::delete_contact),
        ApiRoute::post("/v1/contacts/{id}/calendar", edit, make_contact_calendar),
        ApiRoute::delete("/v1/contacts/{id}/calendar", edit, delete_contact_calendar),
    ]
}

fn oncall_schedule_routes() -> Vec<ApiRoute<AppState>> {
    use oncall::duty::{current, shifts};
    use oncall::schedules;
    let view = AccessRule::needs(&[May::OncallView]).for_whole_organisation();
    let edit = AccessRule::needs(&[May::OncallEdit]).for_whole_organisation();
    vec![
        ApiRoute::get("/v1/oncall/schedules", view, schedules::list_oncall_schedules),
        ApiRoute::post("/v1/oncall/schedules", edit, schedules::create_oncall_schedule),
        ApiRoute::post_query("/v1/oncall/schedules/preview", view, shifts::preview_new_schedule),
        ApiRoute::get("/v1/oncall/schedules/{id}", view, schedules::show_oncall_schedule),
        ApiRoute::update("/v1/oncall/schedules/{id}", edit, schedules::update_oncall_schedule),
        ApiRoute::delete("/v1/oncall/schedules/{id}", edit, schedules::delete_oncall_schedule),
        ApiRoute::get("/v1/oncall/schedules/{id}/shifts", view, shifts::show_oncall_shifts),
        ApiRoute::post_query("/v1/oncall/schedules/{id}/preview", view, shifts::preview_changed_schedule),
        ApiRoute::get("/v1/oncall/current", view, current::show_current_duty),
    ]
}

/// Routes that change who is on duty without changing a schedule.
fn oncall_cover_routes() -> Vec<ApiRoute<AppState>> {
    use oncall::{absences, cover_requests as requests, overrides};
    let view = AccessRule::needs(&[May::OncallView]).for_whole_organisation();
    let cover = AccessRule::needs(&[May::OncallCover]).for_whole_organisation();
    vec![
        ApiRoute::get("/v1/oncall/overrides", view, overrides::list_oncall_overrides),
        ApiRoute::post("/v1/oncall/overrides", cover, overrides::create_oncall_override),
        ApiRoute::get("/v1/oncall/overrides/{id}", view, overrides::show_oncall_override),
        ApiRoute::update("/v1/oncall/overrides/{id}", cover, overrides::update_oncall_override),
        ApiRoute::delete("/v1/oncall/overrides/{id}", cover, overrides::delete_oncall_override),
        ApiRoute::get("/v1/oncall/absences", view, absences::list_oncall_absences),
        ApiRoute::post("/v1/oncall/absences", cover, absences::create_oncall_absence),
        ApiRoute::get("/v1/oncall/absences/{id}", view, absences::show_oncall_absence),
        ApiRoute::update("/v1/oncall/absences/{id}", cover, absences::update_oncall_absence),
        ApiRoute::delete("/v1/oncall/absences/{id}", cover, absences::delete_oncall_absence),
        ApiRoute::get("/v1/oncall/cover-requests", view, requests::list_cover_requests),
        ApiRoute::post("/v1/oncall/cover-requests", cover, requests::create_cover_request),
        ApiRoute::get("/v1/oncall/cover-requests/{id}", view, requests::show_cover_request),
        ApiRoute::post(
            "/v1/oncall/cover-requests/{id}/accept",
            cover,
            requests::answer::accept_cover_request,
        ),
        ApiRoute::post(
            "/v1/oncall/cover-requests/{id}/decline",
            cover,
            requests::answer::decline_cover_request,
        ),
        ApiRoute::post(
            "/v1/oncall/cover-requests/{id}/cancel",
            cover,
            requests::answer::cancel_cover_request,
        ),
    ]
}

fn sla_target_routes() -> Vec<ApiRoute<AppState>> {
    let view = AccessRule::needs(&[May::SlaTargetsView]);
    let create = AccessRule::needs(&[May::SlaTargetsCreate]).for_whole_organisation();
    let edit = AccessRule::needs(&[May::SlaTargetsEdit]).for_whole_organisation();
    let delete = AccessRule::needs(&[May::SlaTargetsDelete]).for_whole_organisation();
    vec![
        ApiRoute::get("/v1/sla-targets", view, sla_targets::list_sla_targets),
        ApiRoute::post("/v1/sla-targets", create, sla_targets::create_sla_target),
        ApiRoute::get("/v1/sla-targets/{id}", view, sla_targets::show_sla_target),
        ApiRoute::get("/v1/sla-targets/{id}/report", view, sla_targets::report::show_sla_report),
        ApiRoute::update("/v1/sla-targets/{id}", edit, sla_targets::update_sla_target),
        ApiRoute::delete("/v1/sla-targets/{id}", delete, sla_targets::delete_sla_target),
    ]
}

fn notification_routes() -> Vec<ApiRoute<AppState>> {
    use notification_channels as channels;
    let view = AccessRule::needs(&[May::NotificationChannelsView]).for_whole_organisation();
    let create = AccessRule::needs(&[May::NotificationChannelsCreate]).for_whole_organisation();
    let edit = AccessRule::needs(&[May::NotificationChannelsEdit]).for_whole_organisation();
    let delete = AccessRule::needs(&[May::NotificationChannelsDelete]).for_whole_organisation();
    let read = AccessRule::needs(&[May::NotificationsView]).for_whole_organisation();
    let redeliver = AccessRule::needs(&[May::NotificationsRedeliver]).for_whole_organisation();
    let types = AccessRule::needs(&[May::NotificationChannelsView]);
    vec![
        ApiRoute::get("/v1/meta/channel-types", types, channel_types::show_channel_types),
        ApiRoute::get("/v1/notification-channels", view, channels::list_notification_channels),
        ApiRoute::post("/v1/notification-channels", create, channels::create_notification_channel),
        ApiRoute::get("/v1/notification-channels/{id}", view, channels::show_notification_channel),
        ApiRoute::update("/v1/notification-channels/{id}", edit, channels::update_notification_channel),
        ApiRoute::delete("/v1/notification-channels/{id}", delete, channels::delete_notification_channel),
        ApiRoute::post("/v1/notification-channels/{id}/test", edit, channels::test_notification_channel),
        ApiRoute::get("/v1/notices", read, notices::list_notices),
        ApiRoute::get("/v1/notifications", read, notifications::list_notifications),
        ApiRoute::post("/v1/notifications/redeliver", redeliver, notifications::redeliver_notifications),
        ApiRoute::get("/v1/notifications/{id}", read, notifications::show_notification),
        ApiRoute::post("/v1/notifications/{id}/redeliver", redeliver, notifications::redeliver_notification),
    ]
}

fn maintenance_routes() -> Vec<ApiRoute<AppState>> {
    let view = AccessRule::needs(&[May::MaintenancesView]);
    let create = AccessRule::needs(&[May::MaintenancesCreate]);
    let edit = AccessRule::needs(&[May::MaintenancesEdit]);
    let delete = AccessRule::needs(&[May::MaintenancesDelete]);
    vec![
        ApiRoute::get("/v1/maintenances", view, maintenances::list_maintenances),
        ApiRoute::post("/v1/maintenances", create, maintenances::create_maintenance),
        ApiRoute::get("/v1/maintenances/{id}", view, maintenances::show_maintenance),
        ApiRoute::update("/v1/maintenances/{id}", edit, maintenances::update_maintenance),
        ApiRoute::delete("/v1/maintenances/{id}", delete, maintenances::delete_maintenance),
        ApiRoute::post("/v1/maintenances/{id}/start", edit, operations::start_maintenance),
        ApiRoute::post("/v1/maintenances/{id}/complete", edit, operations::complete_maintenance),
        ApiRoute::post("/v1/maintenances/{id}/extend", edit, operations::extend_maintenance),
        ApiRoute::post("/v1/maintenances/{id}/cancel", edit, operations::cancel_maintenance),
    ]
}

fn maintenance_series_routes() -> Vec<ApiRoute<AppState>> {
    let view = AccessRule::needs(&[May::MaintenancesView]).for_whole_organisation();
    let edit = AccessRule::needs(&[May::MaintenancesEdit]).for_whole_organisation();
    let delete = AccessRule::needs(&[May::MaintenancesDelete]).for_whole_organisation();
    vec![
        ApiRoute::get("/v1/maintenance-series", view, maintenance_series::list_maintenance_series),
        ApiRoute::get("/v1/maintenance-series/{id}", view, maintenance_series::show_maintenance_series),
        ApiRoute::update("/v1/maintenance-series/{id}", edit, maintenance_series::update_maintenance_series),
        ApiRoute::delete(
            "/v1/maintenance-series/{id}",
            delete,
            maintenance_series::delete_maintenance_series,
        ),
    ]
}

fn event_routes() -> Vec<ApiRoute<AppState>> {
    let listen = AccessRule::needs_one_of(events::ONE_OF);
    vec![ApiRoute::get("/v1/events", listen, events::stream_events)]
}

fn statuspage_routes() -> Vec<ApiRoute<AppState>> {
    let hasher = Arc::new(PasswordHasher::default());
    let view = AccessRule::needs(&[May::StatuspagesView]);
    let create = AccessRule::needs(&[May::StatuspagesCreate]).for_whole_organisation();
    let edit = AccessRule::needs(&[May::StatuspagesEdit]).for_whole_organisation();
    let delete = AccessRule::needs(&[May::StatuspagesDelete]).for_whole_organisation();
    let publish = AccessRule::needs(&[May::StatuspagesPublish]).for_whole_organisation();
    vec![
        ApiRoute::get("/v1/statuspages", view, statuspages::list_statuspages),
        ApiRoute::post("/v1/statuspages", create, with(&hasher, statuspages::create_statuspage)),
        ApiRoute::get("/v1/statuspages/{id}", view, statuspages::show_statuspage),
        ApiRoute::update("/v1/statuspages/{id}", edit, with(&hasher, statuspages::update_statuspage)),
        ApiRoute::delete("/v1/statuspages/{id}", delete, statuspages::delete_statuspage),
        ApiRoute::post("/v1/statuspages/{id}/publish", publish, publishing::publish_statuspage),
        ApiRoute::post("/v1/statuspages/{id}/unpublish", publish, publishing::unpublish_statuspage),
    ]
}

fn component_routes() -> Vec<ApiRoute<AppState>> {
    let view = AccessRule::needs(&[May::StatuspagesView]);
    let edit = AccessRule::needs(&[May::StatuspagesEdit]);
    vec![
        ApiRoute::get("/v1/statuspages/{id}/components", view, components::list_components),
        ApiRoute::post("/v1/statuspages/{id}/components", edit, components::create_component),
        ApiRoute::get("/v1/statuspages/{id}/components/{component}", view, components::show_component),
        ApiRoute::update("/v1/statuspages/{id}/components/{component}", edit, components::update_component),
        ApiRoute::delete("/v1/statuspages/{id}/components/{component}", edit, components::delete_component),
    ]
}

fn custom_domain_routes() -> Vec<ApiRoute<AppState>> {
    let cooldowns = Arc::new(VerificationCooldowns::default());
    let view = AccessRule::needs(&[May::StatuspagesView]).for_whole_organisation();
    let edit = AccessRule::needs(&[May::StatuspagesEdit]).for_whole_organisation();
    vec![
        ApiRoute::get("/v1/statuspages/{id}/custom-domains", view, custom_domains::list_domains),
        ApiRoute::post("/v1/statuspages/{id}/custom-domains", edit, custom_domains::attach_domain),
        ApiRoute::get("/v1/statuspages/{id}/custom-domains/{domain}", view, custom_domains::show_domain),
        ApiRoute::delete("/v1/statuspages/{id}/custom-domains/{domain}", edit, custom_domains::detach_domain),
        ApiRoute::post(
            "/v1/statuspages/{id}/custom-domains/{domain}/verify",
            edit,
            with(&cooldowns, custom_domains::verify_domain),
        ),
    ]
}

fn subscriber_routes() -> Vec<ApiRoute<AppState>> {
    let view = AccessRule::needs(&[May::SubscribersView]).for_whole_organisation();
    let create = AccessRule::needs(&[May::SubscribersCreate]).for_whole_organisation();
    let delete = AccessRule::needs(&[May::SubscribersDelete]).for_whole_organisation();
    let one = "/v1/statuspages/{id}/subscribers/{subscriber}";
    vec![
        ApiRoute::get("/v1/statuspages/{id}/subscribers", view, subscribers::list_subscribers),
        ApiRoute::post("/v1/statuspages/{id}/subscribers", create, subscribers::create_subscriber),
        ApiRoute::get("/v1/statuspages/{id}/subscribers/export", view, subscribers::export_subscribers),
        ApiRoute::get(one, view, subscribers::show_subscriber),
        ApiRoute::delete(one, delete, subscribers::delete_subscriber),
    ]
}

fn asset_routes() -> Vec<ApiRoute<AppState>> {
    let decoder = Arc::new(ImageDecoder::default());
    let edit = AccessRule::needs(&[May::StatuspagesEdit]).for_whole_organisation();
    vec![
        ApiRoute::post("/v1/statuspages/{id}/assets/logo", edit, with(&decoder, assets::upload_logo)),
        ApiRoute::delete("/v1/statuspages/{id}/assets/logo", edit, assets::delete_logo),
        ApiRoute::post(
            "/v1/statuspages/{id}/assets/logo-dark",
            edit,
            with(&decoder, assets::upload_dark_logo),
        ),
        ApiRoute::delete("/v1/statuspages/{id}/assets/logo-dark", edit, assets::delete_dark_logo),
        ApiRoute::post("/v1/statuspages/{id}/assets/favicon", edit, with(&decoder, assets::upload_favicon)),
        ApiRoute::delete("/v1/statuspages/{id}/assets/favicon", edit, assets::delete_favicon),
    ]
}

fn token_routes() -> Vec<ApiRoute<AppState>> {
    let manage = AccessRule::needs(&[May::TokensManage]).for_whole_organisation();
    // A wall shows what its maker may see.
    let show = AccessRule::needs(&[May::TokensManage, May::ServicesView]).for_whole_organisation();
    let audit = AccessRule::needs(&[May::AuditLogView]).for_whole_organisation();
    vec![
        ApiRoute::get("/v1/audit-log", audit, audit_log::list_audit_log),
        ApiRoute::get("/v1/tokens", manage, tokens::list_tokens),
        ApiRoute::post("/v1/tokens", manage, tokens::create_token),
        ApiRoute::get("/v1/tokens/{id}", manage, tokens::show_token),
        ApiRoute::update("/v1/tokens/{id}", manage, tokens::update_token),
        ApiRoute::delete("/v1/tokens/{id}", manage, tokens::delete_token),
        ApiRoute::get("/v1/wall-keys", manage, wall_keys::list_wall_keys),
        ApiRoute::post("/v1/wall-keys", show, wall_keys::create_wall_key),
        ApiRoute::get("/v1/wall-keys/{id}", manage, wall_keys::show_wall_key),
        ApiRoute::delete("/v1/wall-keys/{id}", manage, wall_keys::delete_wall_key),
    ]
}

fn user_routes() -> Vec<ApiRoute<AppState>> {
    use users::passkeys::{delete_passkey, list_passkeys};
    use users::sessions::{delete_session, list_sessions};
    let manage = AccessRule::needs(&[May::UsersManage]).for_whole_organisation();
    vec![
        ApiRoute::get("/v1/users", manage, users::list_users),
        ApiRoute::post("/v1/users", manage, users::create_user),
        ApiRoute::get("/v1/users/{id}", manage, users::show_user),
        ApiRoute::update("/v1/users/{id}", manage, users::update_user),
        ApiRoute::delete("/v1/users/{id}", manage, users::delete_user),
        ApiRoute::post("/v1/users/{id}/reset", manage, users::reset_user),
        ApiRoute::get("/v1/users/{id}/sessions", manage, list_sessions),
        ApiRoute::delete("/v1/users/{id}/sessions/{session}", manage, delete_session),
        ApiRoute::get("/v1/users/{id}/passkeys", manage, list_passkeys),
        ApiRoute::delete("/v1/users/{id}/passkeys/{passkey}", manage, delete_passkey),
    ]
}

/// Wraps a handler so that it receives, with each request, the cache that its resource keeps between requests.
fn with<K, F, R>(cache: &Arc<K>, handler: F) -> impl Fn(ApiCall<AppState>) -> R + Send + Sync + use<K, F, R>
where
    K: Send + Sync + 'static,
    F: Fn(Arc<K>, ApiCall<AppState>) -> R + Send + Sync + 'static,
{
    let cache = Arc::clone(cache);
    move |call| handler(Arc::clone(&cache), call)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::kit::path::RequestPath;

    #[test]
    fn the_route_table_is_valid() {
        let table = routes().unwrap();
        let (resource, _) = table.find(&RequestPath::parse("/v1/services/x")).unwrap();
        assert_eq!(resource.allow(), "GET, HEAD, PUT, PATCH, DELETE");
    }
}
