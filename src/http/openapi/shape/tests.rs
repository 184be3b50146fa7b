//! Tests shapes as JSON Schema.

use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use super::*;

fn shown(shape: ApiSchema) -> Value {
    serde_json::to_value(shape.into_schema()).unwrap()
}

#[test]
fn null_is_added_as_a_type_an_enum_value_or_an_alternative() {
    assert_eq!(shown(integer().nullable()), json!({"type": ["integer", "null"]}));
    let words = json!({"type": ["string", "null"], "enum": ["a", null]});
    assert_eq!(shown(enum_of(&["a"]).nullable()), words);
    let list = json!({"type": ["array", "null"], "items": {"type": "string"}, "minItems": 1, "maxItems": 2});
    assert_eq!(shown(list_of(string()).items(1, 2).nullable()), list);
    let reference = json!({"oneOf": [{"$ref": "#/components/schemas/X"}, {"type": "null"}]});
    assert_eq!(shown(named("X").nullable()), reference);
}

#[test]
fn members_keep_their_order() {
    let shape = object().has("b", string()).may_have("a", boolean()).closed();
    let text = r#"{"type":"object","required":["b"],"properties":{"b":{"type":"string"},"a":{"type":"boolean"}},"additionalProperties":false}"#;
    assert_eq!(serde_json::to_string(&shape.into_schema()).unwrap(), text);
}

/// An inner view.
#[derive(Serialize, ToSchema)]
struct Inner {
    a: bool,
}

/// An outer view.
#[derive(Serialize, ToSchema)]
struct Outer {
    #[serde(flatten)]
    #[schema(inline)]
    inner: Inner,
    b: bool,
}

#[test]
fn a_flattened_view_is_a_part_of_its_view() {
    let text = r#"{"type":"object","description":"An outer view.","required":["a","b"],"properties":{"a":{"type":"boolean"},"b":{"type":"boolean"}}}"#;
    assert_eq!(serde_json::to_string(&view::<Outer>().into_schema()).unwrap(), text);
    let shown = serde_json::to_string(&Outer { inner: Inner { a: true }, b: false }).unwrap();
    assert_eq!(shown, r#"{"a":true,"b":false}"#);
}
