//! Every route of the API on one page: method, path, who may use it, and the handler.

use crate::http::api::Api;
use crate::http::history::{checks, metrics, response_times, uptime};
use crate::http::route::{Access, Route, RouteTableError, Routes};
use crate::http::services::{DELETE_ORPHANED_INCIDENTS, DELETE_ORPHANED_MAINTENANCES, acts};
use crate::http::statuspages::{components, publishing};
use crate::http::{assets, check_types, custom_domains, me, probes, services, statuspages};
use crate::model::access::Permission::{
    IncidentsDelete, MaintenancesDelete, ServicesCreate, ServicesDelete, ServicesEdit, ServicesView,
    StatuspagesCreate, StatuspagesDelete, StatuspagesEdit, StatuspagesPublish, StatuspagesView,
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
    let view_pages = Access::needs(&[StatuspagesView]);
    let create_pages = Access::needs(&[StatuspagesCreate]);
    let edit_pages = Access::needs(&[StatuspagesEdit]);
    let delete_pages = Access::needs(&[StatuspagesDelete]);
    let publish_pages = Access::needs(&[StatuspagesPublish]);
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
        Route::get("/v1/statuspages", view_pages, statuspages::list_statuspages),
        Route::post("/v1/statuspages", create_pages, statuspages::create_statuspage),
        Route::get("/v1/statuspages/{id}", view_pages, statuspages::show_statuspage),
        Route::update("/v1/statuspages/{id}", edit_pages, statuspages::update_statuspage),
        Route::delete("/v1/statuspages/{id}", delete_pages, statuspages::delete_statuspage),
        Route::post("/v1/statuspages/{id}/publish", publish_pages, publishing::publish_statuspage),
        Route::post("/v1/statuspages/{id}/unpublish", publish_pages, publishing::unpublish_statuspage),
        Route::get("/v1/statuspages/{id}/components", view_pages, components::list_components),
        Route::post("/v1/statuspages/{id}/components", edit_pages, components::create_component),
        Route::get("/v1/statuspages/{id}/components/{component}", view_pages, components::show_component),
        Route::update(
            "/v1/statuspages/{id}/components/{component}",
            edit_pages,
            components::update_component,
        ),
        Route::delete(
            "/v1/statuspages/{id}/components/{component}",
            edit_pages,
            components::delete_component,
        ),
        Route::get("/v1/statuspages/{id}/custom-domains", view_pages, custom_domains::list_domains),
        Route::post("/v1/statuspages/{id}/custom-domains", edit_pages, custom_domains::attach_domain),
        Route::get("/v1/statuspages/{id}/custom-domains/{domain}", view_pages, custom_domains::show_domain),
        Route::delete(
            "/v1/statuspages/{id}/custom-domains/{domain}",
            edit_pages,
            custom_domains::detach_domain,
        ),
        Route::post(
            "/v1/statuspages/{id}/custom-domains/{domain}/verify",
            edit_pages,
            custom_domains::verify_domain,
        ),
        Route::post("/v1/statuspages/{id}/assets/logo", edit_pages, assets::upload_logo),
        Route::delete("/v1/statuspages/{id}/assets/logo", edit_pages, assets::delete_logo),
        Route::post("/v1/statuspages/{id}/assets/logo-dark", edit_pages, assets::upload_dark_logo),
        Route::delete("/v1/statuspages/{id}/assets/logo-dark", edit_pages, assets::delete_dark_logo),
        Route::post("/v1/statuspages/{id}/assets/favicon", edit_pages, assets::upload_favicon),
        Route::delete("/v1/statuspages/{id}/assets/favicon", edit_pages, assets::delete_favicon),
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
