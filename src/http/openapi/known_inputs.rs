//! Extracts the known parameters and body members of operations from the API description, for strict requests.

use std::collections::HashMap;

use serde_json::Value;

use crate::http::gate::route::HttpVerb;
use crate::http::kit::known_input::{KnownBody, KnownInput, KnownValue};
use crate::http::openapi::shape_of;

/// Deepest nesting of schemas that is followed. No body may be nested so deeply.
const DEPTH_MAX: usize = 64;

/// The known input of every operation of a document.
pub(in crate::http) struct KnownInputs(HashMap<(HttpVerb, String), KnownInput>);

impl KnownInputs {
    /// Reads a document. An operation without a description knows no parameters and no body.
    pub(in crate::http) fn of(document: &Value) -> Self {
        let mut inputs = HashMap::new();
        for (path, item) in members(&document["paths"]) {
            for verb in HttpVerb::ALL {
                if let Some(operation) = item.get(verb.as_str().to_ascii_lowercase()) {
                    inputs.insert((verb, key_of(path)), input(document, operation));
                }
            }
        }
        Self(inputs)
    }

    /// Returns the known input of the operation at this path pattern; `HEAD` has the input of `GET`.
    pub(in crate::http) fn find(&self, verb: HttpVerb, pattern: &str) -> KnownInput {
        let known = if verb == HttpVerb::Head { HttpVerb::Get } else { verb };
        let mut input = self.0.get(&(known, key_of(pattern))).cloned().unwrap_or_default();
        if verb.is_safe() || verb == HttpVerb::Delete {
            // The body of such a request is never read (contract 1.2).
            input.body = KnownBody::Other;
        }
        input
    }
}

fn key_of(path: &str) -> String {
    shape_of(path).collect::<Vec<_>>().join("/")
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn entries(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn input(document: &Value, operation: &Value) -> KnownInput {
    let in_query = entries(&operation["parameters"]).filter(|parameter| parameter["in"] == "query");
    let names = in_query.filter_map(|parameter| parameter["name"].as_str());
    let content = &operation["requestBody"]["content"];
    let body = match content.get("application/json") {
        Some(json) => KnownBody::Object(known(document, &json["schema"], 0)),
        None if content.is_object() => KnownBody::Other,
        None => KnownBody::Empty,
    };
    KnownInput { parameters: names.map(str::to_owned).collect(), body }
}

/// Returns the members of a schema, from all of its variants.
fn known(document: &Value, schema: &Value, depth: usize) -> KnownValue {
    if depth > DEPTH_MAX {
        return KnownValue { is_open: true, ..KnownValue::default() };
    }
    if let Some(reference) = schema["$ref"].as_str() {
        let target = document.pointer(reference.trim_start_matches('#'));
        return target.map(|schema| known(document, schema, depth + 1)).unwrap_or_default();
    }
    let inner = |schema: &Value| known(document, schema, depth + 1);
    let named = members(&schema["properties"]).map(|(name, schema)| (name.clone(), inner(schema)));
    let own = KnownValue {
        members: schema["properties"].is_object().then(|| named.collect()),
        entries: schema.get("items").map(|schema| Box::new(inner(schema))),
        is_open: schema.get("additionalProperties").is_some_and(|others| *others != false),
    };
    let variants = ["oneOf", "anyOf", "allOf"].into_iter().flat_map(|key| entries(&schema[key]));
    variants.map(inner).fold(own, KnownValue::or)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::http::kit::query::QueryString;

    #[test]
    fn known_inputs_are_read_from_the_description() {
        let document = json!({
            "paths": {"/v1/things/{thing}": {
                "get": {"parameters": [{"in": "query", "name": "page"}, {"in": "header", "name": "Accept-Language"}]},
                "patch": {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}},
                "post": {"requestBody": {"content": {"multipart/form-data": {"schema": {}}}}},
            }},
            "components": {"schemas": {"Thing": {"properties": {
                "title": {"oneOf": [{"type": "string"}, {"type": "object", "additionalProperties": {"type": "string"}}]},
                "auth": {"anyOf": [{"properties": {"token": {}}, "additionalProperties": false}, {"properties": {"name": {}}}]},
                "list": {"type": "array", "items": {"$ref": "#/components/schemas/Thing"}},
            }}}},
        });
        let inputs = KnownInputs::of(&document);
        let head = inputs.find(HttpVerb::Head, "/v1/things/{id}");
        assert!(head.unknown_parameters(&QueryString::parse("page=2")).is_empty());
        assert_eq!(inputs.find(HttpVerb::Post, "/v1/things/{id}").body, KnownBody::Other);
        assert_eq!(inputs.find(HttpVerb::Put, "/v1/things/{id}"), KnownInput::default());
        assert_eq!(inputs.find(HttpVerb::Delete, "/v1/things/{id}").body, KnownBody::Other);
        let body = json!({"title": {"en": "a"}, "auth": {"token": 1, "name": 2, "x": 3}, "list": [{"list": [{"y": 1}]}]});
        let unknown =
            inputs.find(HttpVerb::Patch, "/v1/things/{id}").unknown_members(body.as_object().unwrap());
        let paths: Vec<_> = unknown.iter().map(|(path, _)| path).collect();
        assert_eq!(paths, ["auth.x", "list.0.list.0.y"]);
    }
}
