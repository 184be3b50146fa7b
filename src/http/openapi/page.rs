//! The document as an HTML page for people: one file, no script, no external resources.
//!
//! The page is rendered from the document, so both always agree. The template escapes every value.

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::http::openapi::kind::{kind_of, link_of};

const STYLE: &str = include_str!("templates/reference.css");
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

#[derive(Template)]
#[template(path = "reference.html")]
struct ReferencePage {
    title: String,
    version: String,
    openapi: String,
    server: String,
    style: &'static str,
    about: Vec<Vec<TextSpan>>,
    chapters: Vec<ReferenceChapter>,
    schemas: Vec<ReferenceSchema>,
}

struct ReferenceChapter {
    anchor: String,
    name: String,
    about: String,
    operations: Vec<ReferenceOperation>,
}

struct ReferenceOperation {
    id: String,
    method: String,
    path: String,
    summary: String,
    words: Vec<Vec<TextSpan>>,
    parameters: Vec<ReferenceRow>,
    body: Option<ReferenceBody>,
    answers: Vec<ReferenceResponse>,
    example: Option<String>,
}

struct ReferenceBody {
    media_type: String,
    link: Option<String>,
    members: Vec<ReferenceRow>,
    example: Option<String>,
}

struct ReferenceResponse {
    status: String,
    words: Vec<TextSpan>,
    kind: String,
    link: Option<String>,
}

struct ReferenceSchema {
    name: String,
    kind: String,
    members: Vec<ReferenceRow>,
}

/// A parameter of an operation, or a member of an object.
struct ReferenceRow {
    name: String,
    location: String,
    is_required: bool,
    kind: String,
    link: Option<String>,
    words: Vec<TextSpan>,
}

/// A part of a sentence; text in backticks is code.
struct TextSpan {
    is_code: bool,
    text: String,
}

/// Renders the page of a document.
pub(super) fn render(document: &Value) -> Result<String, askama::Error> {
    let page = ReferencePage {
        title: text(&document["info"]["title"]),
        version: text(&document["info"]["version"]),
        openapi: text(&document["openapi"]),
        server: text(&document["servers"][0]["url"]),
        style: STYLE,
        about: paragraphs(&document["info"]["description"]),
        chapters: list(&document["tags"]).map(|tag| chapter(tag, document)).collect(),
        schemas: members(&document["components"]["schemas"]).map(|(name, it)| schema(name, it)).collect(),
    };
    page.render()
}

/// Returns the content security policy of the page, which only allows its style sheet, by hash.
pub(super) fn content_security_policy() -> String {
    let hash = STANDARD.encode(Sha256::digest(STYLE));
    format!(
        "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}

fn chapter(tag: &Value, document: &Value) -> ReferenceChapter {
    let name = text(&tag["name"]);
    let operations = members(&document["paths"]).flat_map(|(path, item)| {
        METHODS.iter().filter_map(move |method| Some((path, *method, item.get(*method)?)))
    });
    let own = operations.filter(|(.., operation)| operation["tags"][0] == tag["name"]);
    ReferenceChapter {
        anchor: format!("chapter-{}", name.to_lowercase().replace(' ', "-")),
        about: text(&tag["description"]),
        operations: own.map(|(path, method, it)| operation(path, method, it, document)).collect(),
        name,
    }
}

fn operation(path: &str, method: &str, operation: &Value, document: &Value) -> ReferenceOperation {
    let answers = || members(&operation["responses"]);
    let example = answers().find_map(|(_, answer)| answer["content"]["application/json"].get("example"));
    ReferenceOperation {
        id: text(&operation["operationId"]),
        method: method.to_uppercase(),
        path: path.to_owned(),
        summary: text(&operation["summary"]),
        words: paragraphs(&operation["description"]),
        parameters: list(&operation["parameters"]).map(parameter).collect(),
        body: operation.get("requestBody").and_then(|described| body(described, document)),
        answers: answers().map(|(status, described)| answer(status, described, document)).collect(),
        example: example.map(pretty),
    }
}

fn parameter(parameter: &Value) -> ReferenceRow {
    ReferenceRow {
        name: text(&parameter["name"]),
        location: text(&parameter["in"]),
        is_required: parameter["required"] == true,
        kind: kind_of(&parameter["schema"]),
        link: link_of(&parameter["schema"]),
        words: spans(&text(&parameter["description"])),
    }
}

fn body(body: &Value, document: &Value) -> Option<ReferenceBody> {
    let (media_type, content) = members(&body["content"]).next()?;
    let pointer = content["schema"]["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    let shape = pointer.and_then(|pointer| document.pointer(pointer)).unwrap_or(&content["schema"]);
    Some(ReferenceBody {
        members: rows(shape),
        media_type: media_type.to_owned(),
        link: link_of(&content["schema"]),
        example: content.get("example").map(pretty),
    })
}

fn answer(status: &str, described: &Value, document: &Value) -> ReferenceResponse {
    let pointer = described["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    let described = pointer.and_then(|pointer| document.pointer(pointer)).unwrap_or(described);
    let content = members(&described["content"]).next();
    let schema = content.map(|(_, content)| &content["schema"]);
    let is_enveloped = schema.is_some_and(|schema| schema["properties"].get("data").is_some());
    let shown = schema.map(|schema| if is_enveloped { &schema["properties"]["data"] } else { schema });
    let kind = shown.map(kind_of).unwrap_or_default();
    ReferenceResponse {
        status: status.to_owned(),
        words: spans(&text(&described["description"])),
        kind: if is_enveloped { format!("data: {kind}") } else { kind },
        link: shown.and_then(link_of),
    }
}

fn schema(name: &str, schema: &Value) -> ReferenceSchema {
    ReferenceSchema { name: name.to_owned(), kind: kind_of(schema), members: rows(schema) }
}

/// Returns a row for each member of an object.
fn rows(schema: &Value) -> Vec<ReferenceRow> {
    let is_required = |name: &str| list(&schema["required"]).any(|required| required == name);
    let member = |(name, shape): (&str, &Value)| ReferenceRow {
        name: name.to_owned(),
        location: String::new(),
        is_required: is_required(name),
        kind: kind_of(shape),
        link: link_of(shape),
        words: spans(&text(&shape["description"])),
    };
    members(&schema["properties"]).map(member).collect()
}

fn paragraphs(words: &Value) -> Vec<Vec<TextSpan>> {
    let text = text(words);
    text.split("\n\n").filter(|paragraph| !paragraph.is_empty()).map(spans).collect()
}

fn spans(words: &str) -> Vec<TextSpan> {
    let pieces = words.split('`').enumerate();
    let pieces = pieces.map(|(at, text)| TextSpan { is_code: at % 2 == 1, text: text.to_owned() });
    pieces.filter(|span| !span.text.is_empty()).collect()
}

fn pretty(example: &Value) -> String {
    serde_json::to_string_pretty(example).unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_page_shows_operations_and_schemas_escaped() {
        let document = json!({
            "openapi": "3.1.0", "info": {"title": "<b>", "version": "1", "description": "One `two` three."},
            "tags": [{"name": "Status pages", "description": "About."}],
            "paths": {"/v1/x/{id}": {"get": {
                "tags": ["Status pages"], "operationId": "show_x", "summary": "Show <x>",
                "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/X"}}}},
                "responses": {"200": {"description": "It.", "content": {"application/json": {
                    "schema": {"type": "object", "properties": {"data": {"$ref": "#/components/schemas/X"}}},
                    "example": {"data": "<script>"}}}}},
            }}},
            "components": {"schemas": {"X": {"type": "object", "required": ["a"], "properties": {
                "a": {"type": ["integer", "null"], "minimum": 1, "maximum": 5}, "b": {"type": "string"}}}}},
        });
        let page = render(&document).unwrap();
        for shown in [
            "&#60;b&#62;",
            "<code>two</code>",
            "id=\"show_x\"",
            "/v1/x/{id}",
            "href=\"#schema-X\"",
            "whole number 1 to 5, or null",
            "<td><code>a</code> <b>required</b></td>",
            "<i>may be missing</i>",
            "id=\"chapter-status-pages\"",
        ] {
            assert!(page.contains(shown), "{shown}: {page}");
        }
        assert!(!page.contains("<script"), "{page}");
        assert!(!page.contains("<b>:"), "{page}");
    }
}
