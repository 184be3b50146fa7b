//! Describes `/v1/meta/check-types` (contract 4.2).

use crate::http::gate::route::HttpVerb;
use crate::http::openapi::operation::{ApiOperation, enveloped, example};
use crate::http::openapi::shape::{ApiSchema, map_of, named, view};
use crate::http::v1::check_types::view::{CheckTypeView, ConditionFieldView, ConfigFieldView};

const EXAMPLE: &str = include_str!("example.json");

pub(in crate::http::v1) fn schemas() -> Vec<(&'static str, ApiSchema)> {
    vec![
        ("CheckType", view::<CheckTypeView>()),
        ("ConfigField", view::<ConfigFieldView>()),
        ("ConditionField", view::<ConditionFieldView>()),
    ]
}

pub(in crate::http::v1) fn show_check_types() -> ApiOperation {
    let types = map_of(named("CheckType")).says("By slug.");
    ApiOperation::new(HttpVerb::Get, "/v1/meta/check-types", "show_check_types", "Show the check types")
        .answers(200, "The check types and their settings.", enveloped(types), Some(example(EXAMPLE)))
}
