//! `/v1/meta/check-types` (contract 4.2).

use crate::http::gate::route::Verb;
use crate::http::openapi::operation::{Operation, enveloped, example};
use crate::http::openapi::shape::{
    Shape, always_true, anything, boolean, integer, list_of, map_of, named, object, one_of, string,
};
use crate::http::v1::services::view::check_type;

const EXAMPLE: &str = include_str!("example.json");

pub(in crate::http::v1) fn schemas() -> Vec<(&'static str, Shape)> {
    vec![("CheckType", entry()), ("ConfigField", config_field()), ("ConditionField", condition_field())]
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

fn entry() -> Shape {
    let by_subtype = object()
        .has("field", string())
        .has("map", map_of(list_of(string())))
        .has("defaults", map_of(list_of(named("Condition"))));
    let conditions = object()
        .has("fields", list_of(named("ConditionField")))
        .has("defaults", list_of(named("Condition")))
        .may_have("by_subtype", by_subtype);
    let seconds = || integer().at_least(1);
    object()
        .has("key", check_type())
        .has("label", string())
        .has("description", string())
        .has("target_required", boolean())
        .has("fields", list_of(named("ConfigField")))
        .has("conditions", conditions)
        .may_have("interval", object().has("default", seconds()).has("min", seconds()).has("max", seconds()))
}

fn config_field() -> Shape {
    object()
        .has("name", string())
        .has("type", one_of(&["select", "key_value_array", "auth", "textarea", "boolean", "number"]))
        .has("label", string())
        .has("required", boolean())
        .has("secret", boolean())
        .may_have("options", list_of(string()))
        .may_have("default", anything())
        .may_have("help", string())
}

fn condition_field() -> Shape {
    object()
        .has("field", string())
        .has("label", string())
        .has("type", one_of(&["number", "string", "array", "json", "header"]))
        .may_have("unit", string())
        .has("operators", list_of(string()))
        .may_have("parametric", always_true())
        .may_have_all(&["prefix", "key_label", "key_placeholder", "key_help"], &string())
}
