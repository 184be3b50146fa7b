//! Every route of the API on one page: method, path, who may use it, and the handler.

use crate::http::api::Api;
use crate::http::history::{checks, metrics, response_times, uptime};
use crate::http::maintenances::operations;
use crate::http::route::{Access, Route, RouteTableError, Routes};
use crate::http::services::{DELETE_ORPHANED_INCIDENTS, DELETE_ORPHANED_MAINTENANCES, acts};
use crate::http::{check_types, maintenances, me, probes, services};
use crate::model::access::Permission::{
    IncidentsDelete, MaintenancesCreate, MaintenancesDelete, MaintenancesEdit, MaintenancesView,
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
    let view_maintenances = Access::needs(&[MaintenancesView]);
    let view_maintenances_of_service = Access::needs(&[ServicesView, MaintenancesView]);
    let create_maintenances = Access::needs(&[MaintenancesCreate]);
    let edit_maintenances = Access::needs(&[MaintenancesEdit]);
    let delete_maintenances = Access::needs(&[MaintenancesDelete]);
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
        Route::get("/v1/services/{id}/metrics", view, metrics::show_metrics),
        Route::get("/v1/services/{id}/response-times", view, response_times::list_response_times),
        Route::get("/v1/services/{id}/uptime", view, uptime::list_uptime),
        Route::get("/v1/services/{id}/checks", view, checks::list_checks),
        Route::get(
            "/v1/services/{id}/maintenances",
            view_maintenances_of_service,
            maintenances::list_maintenances_of_service,
        ),
        Route::get("/v1/maintenances", view_maintenances, maintenances::list_maintenances),
        Route::post("/v1/maintenances", create_maintenances, maintenances::create_maintenance),
        Route::get("/v1/maintenances/{id}", view_maintenances, maintenances::show_maintenance),
        Route::update("/v1/maintenances/{id}", edit_maintenances, maintenances::update_maintenance),
        Route::delete("/v1/maintenances/{id}", delete_maintenances, maintenances::delete_maintenance),
        Route::post("/v1/maintenances/{id}/start", edit_maintenances, operations::start_maintenance),
        Route::post("/v1/maintenances/{id}/complete", edit_maintenances, operations::complete_maintenance),
        Route::post("/v1/maintenances/{id}/extend", edit_maintenances, operations::extend_maintenance),
        Route::post("/v1/maintenances/{id}/cancel", edit_maintenances, operations::cancel_maintenance),
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
