//! Every route of the API on one page: method, path, who may use it, and the handler.

use crate::http::api::Api;
use crate::http::history::{checks, metrics, response_times, uptime};
use crate::http::incidents::{of_service, timeline};
use crate::http::route::{Access, Route, RouteTableError, Routes};
use crate::http::services::{DELETE_ORPHANED_INCIDENTS, DELETE_ORPHANED_MAINTENANCES, acts};
use crate::http::{check_types, incidents, me, probes, services, tags};
use crate::model::access::Permission::{
    IncidentsCreate, IncidentsDelete, IncidentsEdit, IncidentsResolve, IncidentsView, MaintenancesDelete,
    ServicesCreate, ServicesDelete, ServicesEdit, ServicesView,
};

/// The route table.
///
/// # Errors
/// When a route declares no permission, or is there twice.
pub fn routes() -> Result<Routes<Api>, RouteTableError> {
    let view = Access::needs(&[ServicesView]);
    let create = Access::needs(&[ServicesCreate]);
    let edit = Access::needs(&[ServicesEdit]);
    let delete = Access::needs(&[ServicesDelete]).when_true(&[
        (DELETE_ORPHANED_INCIDENTS, IncidentsDelete),
        (DELETE_ORPHANED_MAINTENANCES, MaintenancesDelete),
    ]);
    let view_incidents = Access::needs(&[IncidentsView]);
    let create_incidents = Access::needs(&[IncidentsCreate]);
    let edit_incidents = Access::needs(&[IncidentsEdit]);
    let resolve_incidents = Access::needs(&[IncidentsResolve]);
    let delete_incidents = Access::needs(&[IncidentsDelete]);
    let view_both = Access::needs(&[ServicesView, IncidentsView]);
    Routes::new([
        Route::get("/v1/me", Access::any_token(), me::show_me),
        Route::get("/v1/probes", view, probes::list_probes),
        Route::get("/v1/meta/check-types", view, check_types::show_check_types),
        Route::get("/v1/services", view, services::list_services),
        Route::post("/v1/services", create, services::create_service),
        Route::get("/v1/services/{id}", view, services::show_service),
        Route::update("/v1/services/{id}", edit, services::update_service),
        Route::delete("/v1/services/{id}", delete, services::delete_service),
        Route::post("/v1/services/{id}/pause", edit, acts::pause_service),
        Route::post("/v1/services/{id}/resume", edit, acts::resume_service),
        Route::post("/v1/services/{id}/status-override", edit, acts::set_status_override),
        Route::delete("/v1/services/{id}/status-override", edit, acts::remove_status_override),
        Route::get("/v1/tags", view, tags::list_tags),
        Route::post("/v1/tags", edit, tags::create_tag),
        Route::post("/v1/tags/ensure", edit, tags::ensure_tag),
        Route::get("/v1/tags/{id}", view, tags::show_tag),
        Route::update("/v1/tags/{id}", edit, tags::update_tag),
        Route::delete("/v1/tags/{id}", edit, tags::delete_tag),
        Route::get("/v1/services/{id}/metrics", view, metrics::show_metrics),
        Route::get("/v1/services/{id}/response-times", view, response_times::list_response_times),
        Route::get("/v1/services/{id}/uptime", view, uptime::list_uptime),
        Route::get("/v1/services/{id}/checks", view, checks::list_checks),
        Route::get("/v1/services/{id}/incidents", view_both, of_service::list_service_incidents),
        Route::get("/v1/incidents", view_incidents, incidents::list_incidents),
        Route::post("/v1/incidents", create_incidents, incidents::create_incident),
        Route::get("/v1/incidents/{id}", view_incidents, incidents::show_incident),
        Route::update("/v1/incidents/{id}", edit_incidents, incidents::update_incident),
        Route::delete("/v1/incidents/{id}", delete_incidents, incidents::delete_incident),
        Route::post("/v1/incidents/{id}/updates", edit_incidents, timeline::post_incident_update),
        Route::post("/v1/incidents/{id}/resolve", resolve_incidents, timeline::resolve_incident),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::path::RequestPath;

    #[test]
    fn the_table_may_go_into_service() {
        let table = routes().unwrap();
        let (resource, _) = table.find(&RequestPath::parse("/v1/services/x")).unwrap();
        assert_eq!(resource.allow(), "GET, HEAD, PUT, PATCH, DELETE");
    }
}
