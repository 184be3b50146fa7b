//! Every route of the API: method, path, access rule and handler.

use std::sync::Arc;

use crate::http::gate::call::Call;
use crate::http::gate::route::{Access, Route, RouteTableError, Routes};
use crate::http::v1::assets::ImageDecoder;
use crate::http::v1::custom_domains::Cooldowns;
use crate::http::v1::history::{checks, metrics, response_times, status_changes, uptime};
use crate::http::v1::incidents::{acknowledgement, of_service, timeline};
use crate::http::v1::maintenances::operations;
use crate::http::v1::services::KeptServices;
use crate::http::v1::services::{DELETE_ORPHANED_INCIDENTS, DELETE_ORPHANED_MAINTENANCES, acts};
use crate::http::v1::simulations::{Simulations, simulate_service};
use crate::http::v1::state::AppState;
use crate::http::v1::statuspages::PasswordHasher;
use crate::http::v1::statuspages::publishing;
use crate::http::v1::{
    access_scopes, assets, channel_types, check_types, components, contacts, custom_domains, engine,
    escalation_policies, events, incident_policies, incidents, maintenance_series, maintenances, me, notices,
    notification_channels, notifications, oncall, probes, services, sla_targets, statuspages, tags,
};
use crate::model::access::Permission as May;

/// The route table.
///
/// # Errors
/// When a route has no access rule, or occurs twice.
pub fn routes() -> Result<Routes<AppState>, RouteTableError> {
    let resources = [
        reference(),
        of_services(),
        of_history(),
        of_tags(),
        of_access_scopes(),
        of_incidents(),
        of_incident_policies(),
        of_maintenances(),
        of_maintenance_series(),
        of_notifications(),
        of_sla_targets(),
        of_escalations(),
        of_contacts(),
        of_oncall_schedules(),
        of_oncall_covers(),
        of_events(),
        of_statuspages(),
        of_components(),
        of_custom_domains(),
        of_assets(),
    ];
    Routes::new(resources.into_iter().flatten())
}

fn reference() -> Vec<Route<AppState>> {
    let view = Access::needs(&[May::ServicesView]);
    let operate = Access::needs(&[May::EngineView]).of_the_whole();
    let back_up = Access::needs(&[May::EngineBackup]).of_the_whole();
    vec![
        Route::get("/v1/engine", operate, engine::show_engine),
        Route::get("/v1/engine/backups", back_up, engine::list_backups),
        Route::post("/v1/engine/backups", back_up, engine::create_backup),
        Route::get("/v1/me", Access::any_token(), me::show_me),
        Route::get("/v1/probes", view, probes::list_probes),
        Route::get("/v1/meta/check-types", view, check_types::show_check_types),
    ]
}

fn of_services() -> Vec<Route<AppState>> {
    let kept = Arc::new(KeptServices::default());
    let simulations = Arc::new(Simulations::default());
    let view = Access::needs(&[May::ServicesView]);
    let simulate = Access::needs(&[May::ServicesSimulate]);
    let create = Access::needs(&[May::ServicesCreate]);
    let edit = Access::needs(&[May::ServicesEdit]);
    let delete = Access::needs(&[May::ServicesDelete]).when_true(&[
        (DELETE_ORPHANED_INCIDENTS, May::IncidentsDelete),
        (DELETE_ORPHANED_MAINTENANCES, May::MaintenancesDelete),
    ]);
    vec![
        Route::get("/v1/services", view, with(&kept, services::list_services)),
        Route::post("/v1/services", create, services::create_service),
        Route::get("/v1/services/{id}", view, with(&kept, services::show_service)),
        Route::update("/v1/services/{id}", edit, services::update_service),
        Route::delete("/v1/services/{id}", delete, services::delete_service),
        Route::post("/v1/services/{id}/pause", edit, acts::pause_service),
        Route::post("/v1/services/{id}/resume", edit, acts::resume_service),
        Route::post("/v1/services/{id}/status-override", edit, acts::set_status_override),
        Route::delete("/v1/services/{id}/status-override", edit, acts::remove_status_override),
        Route::post("/v1/services/{id}/heartbeat/rotate", edit, acts::rotate_heartbeat),
        Route::ask("/v1/services/{id}/simulate", simulate, with(&simulations, simulate_service)),
    ]
}

/// Routes that read the history, incidents and maintenances of a service.
fn of_history() -> Vec<Route<AppState>> {
    let view = Access::needs(&[May::ServicesView]);
    let incidents = Access::needs(&[May::ServicesView, May::IncidentsView]);
    let maintenances = Access::needs(&[May::ServicesView, May::MaintenancesView]);
    vec![
        Route::get("/v1/services/{id}/metrics", view, metrics::show_metrics),
        Route::get("/v1/services/{id}/response-times", view, response_times::list_response_times),
        Route::get("/v1/services/{id}/uptime", view, uptime::list_uptime),
        Route::get("/v1/services/{id}/checks", view, checks::list_checks),
        Route::get("/v1/services/{id}/status-changes", view, status_changes::list_status_changes),
        Route::get("/v1/services/{id}/incidents", incidents, of_service::list_service_incidents),
        Route::get(
            "/v1/services/{id}/maintenances",
            maintenances,
            maintenances::list_maintenances_of_service,
        ),
    ]
}

fn of_tags() -> Vec<Route<AppState>> {
    let view = Access::needs(&[May::ServicesView]);
    let edit = Access::needs(&[May::ServicesEdit]).of_the_whole();
    vec![
        Route::get("/v1/tags", view, tags::list_tags),
        Route::post("/v1/tags", edit, tags::create_tag),
        Route::post("/v1/tags/ensure", edit, tags::ensure_tag),
        Route::get("/v1/tags/{id}", view, tags::show_tag),
        Route::update("/v1/tags/{id}", edit, tags::update_tag),
        Route::delete("/v1/tags/{id}", edit, tags::delete_tag),
    ]
}

fn of_access_scopes() -> Vec<Route<AppState>> {
    let view = Access::needs(&[May::AccessScopesView]).of_the_whole();
    let create = Access::needs(&[May::AccessScopesCreate]).of_the_whole();
    let edit = Access::needs(&[May::AccessScopesEdit]).of_the_whole();
    let delete = Access::needs(&[May::AccessScopesDelete]).of_the_whole();
    vec![
        Route::get("/v1/access-scopes", view, access_scopes::list_access_scopes),
        Route::post("/v1/access-scopes", create, access_scopes::create_access_scope),
        Route::get("/v1/access-scopes/{id}", view, access_scopes::show_access_scope),
        Route::update("/v1/access-scopes/{id}", edit, access_scopes::update_access_scope),
        Route::delete("/v1/access-scopes/{id}", delete, access_scopes::delete_access_scope),
    ]
}

fn of_incidents() -> Vec<Route<AppState>> {
    let view = Access::needs(&[May::IncidentsView]);
    let create = Access::needs(&[May::IncidentsCreate]);
    let edit = Access::needs(&[May::IncidentsEdit]);
    let resolve = Access::needs(&[May::IncidentsResolve]);
    let delete = Access::needs(&[May::IncidentsDelete]);
    let acknowledge = Access::needs(&[May::IncidentsAcknowledge]);
    vec![
        Route::get("/v1/incidents", view, incidents::list_incidents),
        Route::post("/v1/incidents", create, incidents::create_incident),
        Route::get("/v1/incidents/{id}", view, incidents::show_incident),
        Route::update("/v1/incidents/{id}", edit, incidents::update_incident),
        Route::delete("/v1/incidents/{id}", delete, incidents::delete_incident),
        Route::post("/v1/incidents/{id}/updates", edit, timeline::post_incident_update),
        Route::post("/v1/incidents/{id}/resolve", resolve, timeline::resolve_incident),
        Route::post("/v1/incidents/{id}/acknowledge", acknowledge, acknowledgement::acknowledge_incident),
    ]
}

fn of_incident_policies() -> Vec<Route<AppState>> {
    let view = Access::needs(&[May::IncidentPoliciesView]).of_the_whole();
    let create = Access::needs(&[May::IncidentPoliciesCreate]).of_the_whole();
    let edit = Access::needs(&[May::IncidentPoliciesEdit]).of_the_whole();
    let delete = Access::needs(&[May::IncidentPoliciesDelete]).of_the_whole();
    vec![
        Route::get("/v1/incident-policies", view, incident_policies::list_incident_policies),
        Route::post("/v1/incident-policies", create, incident_policies::create_incident_policy),
        Route::get("/v1/incident-policies/{id}", view, incident_policies::show_incident_policy),
        Route::update("/v1/incident-policies/{id}", edit, incident_policies::update_incident_policy),
        Route::delete("/v1/incident-policies/{id}", delete, incident_policies::delete_incident_policy),
    ]
}

fn of_escalations() -> Vec<Route<AppState>> {
    use escalation_policies as policies;
    let view = Access::needs(&[May::EscalationPoliciesView]).of_the_whole();
    let create = Access::needs(&[May::EscalationPoliciesCreate]).of_the_whole();
    let edit = Access::needs(&[May::EscalationPoliciesEdit]).of_the_whole();
    let delete = Access::needs(&[May::EscalationPoliciesDelete]).of_the_whole();
    let progress = Access::needs(&[May::IncidentsView]);
    vec![
        Route::get("/v1/escalation-policies", view, policies::list_escalation_policies),
        Route::post("/v1/escalation-policies", create, policies::create_escalation_policy),
        Route::get("/v1/escalation-policies/{id}", view, policies::show_escalation_policy),
        Route::update("/v1/escalation-policies/{id}", edit, policies::update_escalation_policy),
        Route::delete("/v1/escalation-policies/{id}", delete, policies::delete_escalation_policy),
        Route::get("/v1/incidents/{id}/escalation", progress, policies::show_incident_escalation),
    ]
}

fn of_contacts() -> Vec<Route<AppState>> {
    use contacts::calendar::{delete_contact_calendar, make_contact_calendar};
    let view = Access::needs(&[May::ContactsView]).of_the_whole();
    let create = Access::needs(&[May::ContactsCreate]).of_the_whole();
    let edit = Access::needs(&[May::ContactsEdit]).of_the_whole();
    let delete = Access::needs(&[May::ContactsDelete]).of_the_whole();
    vec![
        Route::get("/v1/contacts", view, contacts::list_contacts),
        Route::post("/v1/contacts", create, contacts::create_contact),
        Route::get("/v1/contacts/{id}", view, contacts::show_contact),
        Route::update("/v1/contacts/{id}", edit, contacts::update_contact),
        Route::delete("/v1/contacts/{id}", delete, contacts::delete_contact),
        Route::post("/v1/contacts/{id}/calendar", edit, make_contact_calendar),
        Route::delete("/v1/contacts/{id}/calendar", edit, delete_contact_calendar),
    ]
}

fn of_oncall_schedules() -> Vec<Route<AppState>> {
    use oncall::duty::{current, shifts};
    use oncall::schedules;
    let view = Access::needs(&[May::OncallView]).of_the_whole();
    let edit = Access::needs(&[May::OncallEdit]).of_the_whole();
    vec![
        Route::get("/v1/oncall/schedules", view, schedules::list_oncall_schedules),
        Route::post("/v1/oncall/schedules", edit, schedules::create_oncall_schedule),
        Route::ask("/v1/oncall/schedules/preview", view, shifts::preview_new_schedule),
        Route::get("/v1/oncall/schedules/{id}", view, schedules::show_oncall_schedule),
        Route::update("/v1/oncall/schedules/{id}", edit, schedules::update_oncall_schedule),
        Route::delete("/v1/oncall/schedules/{id}", edit, schedules::delete_oncall_schedule),
        Route::get("/v1/oncall/schedules/{id}/shifts", view, shifts::show_oncall_shifts),
        Route::ask("/v1/oncall/schedules/{id}/preview", view, shifts::preview_changed_schedule),
        Route::get("/v1/oncall/current", view, current::show_current_duty),
    ]
}

/// Routes for changing duty without changing a schedule.
fn of_oncall_covers() -> Vec<Route<AppState>> {
    use oncall::{absences, cover_requests as requests, overrides};
    let view = Access::needs(&[May::OncallView]).of_the_whole();
    let cover = Access::needs(&[May::OncallCover]).of_the_whole();
    vec![
        Route::get("/v1/oncall/overrides", view, overrides::list_oncall_overrides),
        Route::post("/v1/oncall/overrides", cover, overrides::create_oncall_override),
        Route::get("/v1/oncall/overrides/{id}", view, overrides::show_oncall_override),
        Route::update("/v1/oncall/overrides/{id}", cover, overrides::update_oncall_override),
        Route::delete("/v1/oncall/overrides/{id}", cover, overrides::delete_oncall_override),
        Route::get("/v1/oncall/absences", view, absences::list_oncall_absences),
        Route::post("/v1/oncall/absences", cover, absences::create_oncall_absence),
        Route::get("/v1/oncall/absences/{id}", view, absences::show_oncall_absence),
        Route::update("/v1/oncall/absences/{id}", cover, absences::update_oncall_absence),
        Route::delete("/v1/oncall/absences/{id}", cover, absences::delete_oncall_absence),
        Route::get("/v1/oncall/cover-requests", view, requests::list_cover_requests),
        Route::post("/v1/oncall/cover-requests", cover, requests::create_cover_request),
        Route::get("/v1/oncall/cover-requests/{id}", view, requests::show_cover_request),
        Route::post("/v1/oncall/cover-requests/{id}/accept", cover, requests::answer::accept_cover_request),
        Route::post("/v1/oncall/cover-requests/{id}/decline", cover, requests::answer::decline_cover_request),
        Route::post("/v1/oncall/cover-requests/{id}/cancel", cover, requests::answer::cancel_cover_request),
    ]
}

fn of_sla_targets() -> Vec<Route<AppState>> {
    let view = Access::needs(&[May::SlaTargetsView]);
    let create = Access::needs(&[May::SlaTargetsCreate]).of_the_whole();
    let edit = Access::needs(&[May::SlaTargetsEdit]).of_the_whole();
    let delete = Access::needs(&[May::SlaTargetsDelete]).of_the_whole();
    vec![
        Route::get("/v1/sla-targets", view, sla_targets::list_sla_targets),
        Route::post("/v1/sla-targets", create, sla_targets::create_sla_target),
        Route::get("/v1/sla-targets/{id}", view, sla_targets::show_sla_target),
        Route::get("/v1/sla-targets/{id}/report", view, sla_targets::report::show_sla_report),
        Route::update("/v1/sla-targets/{id}", edit, sla_targets::update_sla_target),
        Route::delete("/v1/sla-targets/{id}", delete, sla_targets::delete_sla_target),
    ]
}

fn of_notifications() -> Vec<Route<AppState>> {
    use notification_channels as channels;
    let view = Access::needs(&[May::NotificationChannelsView]).of_the_whole();
    let create = Access::needs(&[May::NotificationChannelsCreate]).of_the_whole();
    let edit = Access::needs(&[May::NotificationChannelsEdit]).of_the_whole();
    let delete = Access::needs(&[May::NotificationChannelsDelete]).of_the_whole();
    let read = Access::needs(&[May::NotificationsView]).of_the_whole();
    let redeliver = Access::needs(&[May::NotificationsRedeliver]).of_the_whole();
    let types = Access::needs(&[May::NotificationChannelsView]);
    vec![
        Route::get("/v1/meta/channel-types", types, channel_types::show_channel_types),
        Route::get("/v1/notification-channels", view, channels::list_notification_channels),
        Route::post("/v1/notification-channels", create, channels::create_notification_channel),
        Route::get("/v1/notification-channels/{id}", view, channels::show_notification_channel),
        Route::update("/v1/notification-channels/{id}", edit, channels::update_notification_channel),
        Route::delete("/v1/notification-channels/{id}", delete, channels::delete_notification_channel),
        Route::post("/v1/notification-channels/{id}/test", edit, channels::test_notification_channel),
        Route::get("/v1/notices", read, notices::list_notices),
        Route::get("/v1/notifications", read, notifications::list_notifications),
        Route::post("/v1/notifications/redeliver", redeliver, notifications::redeliver_notifications),
        Route::get("/v1/notifications/{id}", read, notifications::show_notification),
        Route::post("/v1/notifications/{id}/redeliver", redeliver, notifications::redeliver_notification),
    ]
}

fn of_maintenances() -> Vec<Route<AppState>> {
    let view = Access::needs(&[May::MaintenancesView]);
    let create = Access::needs(&[May::MaintenancesCreate]);
    let edit = Access::needs(&[May::MaintenancesEdit]);
    let delete = Access::needs(&[May::MaintenancesDelete]);
    vec![
        Route::get("/v1/maintenances", view, maintenances::list_maintenances),
        Route::post("/v1/maintenances", create, maintenances::create_maintenance),
        Route::get("/v1/maintenances/{id}", view, maintenances::show_maintenance),
        Route::update("/v1/maintenances/{id}", edit, maintenances::update_maintenance),
        Route::delete("/v1/maintenances/{id}", delete, maintenances::delete_maintenance),
        Route::post("/v1/maintenances/{id}/start", edit, operations::start_maintenance),
        Route::post("/v1/maintenances/{id}/complete", edit, operations::complete_maintenance),
        Route::post("/v1/maintenances/{id}/extend", edit, operations::extend_maintenance),
        Route::post("/v1/maintenances/{id}/cancel", edit, operations::cancel_maintenance),
    ]
}

fn of_maintenance_series() -> Vec<Route<AppState>> {
    let view = Access::needs(&[May::MaintenancesView]).of_the_whole();
    let edit = Access::needs(&[May::MaintenancesEdit]).of_the_whole();
    let delete = Access::needs(&[May::MaintenancesDelete]).of_the_whole();
    vec![
        Route::get("/v1/maintenance-series", view, maintenance_series::list_maintenance_series),
        Route::get("/v1/maintenance-series/{id}", view, maintenance_series::show_maintenance_series),
        Route::update("/v1/maintenance-series/{id}", edit, maintenance_series::update_maintenance_series),
        Route::delete("/v1/maintenance-series/{id}", delete, maintenance_series::delete_maintenance_series),
    ]
}

fn of_events() -> Vec<Route<AppState>> {
    let listen = Access::needs_one_of(events::ONE_OF);
    vec![Route::get("/v1/events", listen, events::stream_events)]
}

fn of_statuspages() -> Vec<Route<AppState>> {
    let hasher = Arc::new(PasswordHasher::default());
    let view = Access::needs(&[May::StatuspagesView]);
    let create = Access::needs(&[May::StatuspagesCreate]).of_the_whole();
    let edit = Access::needs(&[May::StatuspagesEdit]).of_the_whole();
    let delete = Access::needs(&[May::StatuspagesDelete]).of_the_whole();
    let publish = Access::needs(&[May::StatuspagesPublish]).of_the_whole();
    vec![
        Route::get("/v1/statuspages", view, statuspages::list_statuspages),
        Route::post("/v1/statuspages", create, with(&hasher, statuspages::create_statuspage)),
        Route::get("/v1/statuspages/{id}", view, statuspages::show_statuspage),
        Route::update("/v1/statuspages/{id}", edit, with(&hasher, statuspages::update_statuspage)),
        Route::delete("/v1/statuspages/{id}", delete, statuspages::delete_statuspage),
        Route::post("/v1/statuspages/{id}/publish", publish, publishing::publish_statuspage),
        Route::post("/v1/statuspages/{id}/unpublish", publish, publishing::unpublish_statuspage),
    ]
}

fn of_components() -> Vec<Route<AppState>> {
    let view = Access::needs(&[May::StatuspagesView]);
    let edit = Access::needs(&[May::StatuspagesEdit]);
    vec![
        Route::get("/v1/statuspages/{id}/components", view, components::list_components),
        Route::post("/v1/statuspages/{id}/components", edit, components::create_component),
        Route::get("/v1/statuspages/{id}/components/{component}", view, components::show_component),
        Route::update("/v1/statuspages/{id}/components/{component}", edit, components::update_component),
        Route::delete("/v1/statuspages/{id}/components/{component}", edit, components::delete_component),
    ]
}

fn of_custom_domains() -> Vec<Route<AppState>> {
    let cooldowns = Arc::new(Cooldowns::default());
    let view = Access::needs(&[May::StatuspagesView]).of_the_whole();
    let edit = Access::needs(&[May::StatuspagesEdit]).of_the_whole();
    vec![
        Route::get("/v1/statuspages/{id}/custom-domains", view, custom_domains::list_domains),
        Route::post("/v1/statuspages/{id}/custom-domains", edit, custom_domains::attach_domain),
        Route::get("/v1/statuspages/{id}/custom-domains/{domain}", view, custom_domains::show_domain),
        Route::delete("/v1/statuspages/{id}/custom-domains/{domain}", edit, custom_domains::detach_domain),
        Route::post(
            "/v1/statuspages/{id}/custom-domains/{domain}/verify",
            edit,
            with(&cooldowns, custom_domains::verify_domain),
        ),
    ]
}

fn of_assets() -> Vec<Route<AppState>> {
    let decoder = Arc::new(ImageDecoder::default());
    let edit = Access::needs(&[May::StatuspagesEdit]).of_the_whole();
    vec![
        Route::post("/v1/statuspages/{id}/assets/logo", edit, with(&decoder, assets::upload_logo)),
        Route::delete("/v1/statuspages/{id}/assets/logo", edit, assets::delete_logo),
        Route::post("/v1/statuspages/{id}/assets/logo-dark", edit, with(&decoder, assets::upload_dark_logo)),
        Route::delete("/v1/statuspages/{id}/assets/logo-dark", edit, assets::delete_dark_logo),
        Route::post("/v1/statuspages/{id}/assets/favicon", edit, with(&decoder, assets::upload_favicon)),
        Route::delete("/v1/statuspages/{id}/assets/favicon", edit, assets::delete_favicon),
    ]
}

/// Passes to a handler, with each request, what its resource keeps between requests.
fn with<K, F, R>(kept: &Arc<K>, handler: F) -> impl Fn(Call<AppState>) -> R + Send + Sync + use<K, F, R>
where
    K: Send + Sync + 'static,
    F: Fn(Arc<K>, Call<AppState>) -> R + Send + Sync + 'static,
{
    let kept = Arc::clone(kept);
    move |call| handler(Arc::clone(&kept), call)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::kit::path::RequestPath;

    #[test]
    fn the_table_may_go_into_service() {
        let table = routes().unwrap();
        let (resource, _) = table.find(&RequestPath::parse("/v1/services/x")).unwrap();
        assert_eq!(resource.allow(), "GET, HEAD, PUT, PATCH, DELETE");
    }
}
