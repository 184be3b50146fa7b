//! Every route of the API on one page: method, path, who may use it, what answers it (contract 6, 2.2).
//!
//! A resource's handlers live in the file named after it; its lines stand here in the order of the contract.

use crate::http::check_types::show_check_types;
use crate::http::route::{Access, Route, RouteTableError, Routes};
use crate::model::access::Permission;

const SERVICES_VIEW: Access = Access::needs(&[Permission::ServicesView]);

/// The route table.
///
/// # Errors
/// When a line declares no permission or is there twice; the process must not start then.
pub fn routes<S: 'static>() -> Result<Routes<S>, RouteTableError> {
    Routes::new([Route::get("/v1/meta/check-types", SERVICES_VIEW, show_check_types)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::path::RequestPath;

    #[test]
    fn the_table_may_go_into_service() {
        let table = routes::<()>().unwrap();
        let (resource, _) = table.find(&RequestPath::parse("/v1/meta/check-types")).unwrap();
        assert_eq!(resource.allow(), "GET, HEAD");
    }
}
