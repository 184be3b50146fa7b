//! `/v1/meta/check-types` (contract 4.2).

use crate::http::gate::route::Verb;
use crate::http::openapi::operation::{Operation, enveloped, example};
use crate::http::openapi::shape::{Shape, map_of, named, view};
use crate::http::v1::check_types::view::{CheckTypeView, ConditionFieldView, ConfigFieldView};

const EXAMPLE: &str = include_str!("example.json");

pub(in crate::http::v1) fn schemas() -> Vec<(&'static str, Shape)> {
    vec![
        ("CheckType", view::<CheckTypeView>()),
        ("ConfigField", view::<ConfigFieldView>()),
        ("ConditionField", view::<ConditionFieldView>()),
    ]
}

pub(in crate::http::v1) fn show_check_types() -> Operation {
    let types = map_of(named("CheckType")).says("By slug.");
    Operation::new(Verb::Get, "/v1/meta/check-types", "show_check_types", "Show the check types").answers(
        200,
        "What can be checked and configured.",
        enveloped(types),
        Some(example(EXAMPLE)),
    )
}
