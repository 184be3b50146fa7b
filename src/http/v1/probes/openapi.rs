//! Describes `/v1/probes` (contract 4.1).

use crate::http::gate::route::HttpVerb;
use crate::http::openapi::operation::{ApiOperation, example};
use crate::http::openapi::shape::{ApiSchema, view};
use crate::http::v1::probes::view::ProbeView;

const EXAMPLE: &str = include_str!("example.json");

pub(in crate::http::v1) fn schemas() -> Vec<(&'static str, ApiSchema)> {
    vec![("Probe", view::<ProbeView<'_>>())]
}

pub(in crate::http::v1) fn list_probes() -> ApiOperation {
    ApiOperation::new(HttpVerb::Get, "/v1/probes", "list_probes", "List the locations")
        .paged_on_demand()
        .lists("Every location, by code.", "Probe", &example(EXAMPLE))
}
