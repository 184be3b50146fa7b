//! Describes `/v1/me` (contract 4.17).

use crate::http::gate::route::HttpVerb;
use crate::http::openapi::operation::{ApiOperation, example};
use crate::http::openapi::shape::{ApiSchema, named, view};
use crate::http::v1::me::view::MeView;

const EXAMPLE: &str = include_str!("example.json");

pub(in crate::http::v1) fn schemas() -> Vec<(&'static str, ApiSchema)> {
    vec![("Me", view::<MeView<'_>>())]
}

pub(in crate::http::v1) fn show_me() -> ApiOperation {
    ApiOperation::new(HttpVerb::Get, "/v1/me", "show_me", "Show the calling token")
        .says("Works on every plan.")
        .answers(200, "The token: the bare object, without `data`.", named("Me"), Some(example(EXAMPLE)))
}
