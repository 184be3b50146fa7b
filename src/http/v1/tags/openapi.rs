//! Describes `/v1/tags` (contract 4.4).

use serde_json::json;

use crate::http::gate::route::HttpVerb;
use crate::http::openapi::operation::{ApiChapter, ApiOperation, enveloped, example};
use crate::http::openapi::shape::{ApiSchema, color, named, object, string, text, view};
use crate::http::v1::tags::PER_PAGE;
use crate::http::v1::tags::view::{ServiceTagView, TagView};
use crate::model::tag::{KEY_MAX_LENGTH, VALUE_MAX_LENGTH};

const EXAMPLE: &str = include_str!("example.json");
const ITEM: &str = "/v1/tags/{id}";

pub(in crate::http) fn chapter() -> ApiChapter {
    let schemas = vec![
        ("Tag", view::<TagView<'_>>()),
        ("ServiceTag", view::<ServiceTagView<'_>>()),
        ("CreateTag", write().needs(&["key"])),
        ("UpdateTag", write()),
    ];
    ApiChapter {
        name: "Tags",
        about: "Labels for finding and grouping services.",
        schemas,
        operations: operations(),
    }
}

fn operations() -> Vec<ApiOperation> {
    let tag = example(EXAMPLE);
    let one = || enveloped(named("Tag"));
    let shown = || Some(json!({"data": tag}));
    let sent = || Some(json!({"key": "env", "value": "prod"}));
    vec![
        ApiOperation::new(HttpVerb::Get, "/v1/tags", "list_tags", "List tags")
            .asks("label", string(), "Exactly this tag: `key:value`, `key=value` or `key`.")
            .asks("key", string(), "All tags with this key and any value.")
            .paged(PER_PAGE)
            .lists("Tags by key, then value.", "Tag", &tag)
            .refuses(&[422]),
        ApiOperation::new(HttpVerb::Post, "/v1/tags", "create_tag", "Create a tag")
            .says("422 when there is one with this key and value.")
            .takes("CreateTag", sent())
            .creates("The new tag.", "Tag", &tag),
        ApiOperation::new(HttpVerb::Post, "/v1/tags/ensure", "ensure_tag", "Find or create a tag")
            .takes("CreateTag", sent())
            .answers(200, "The existing tag, unchanged.", one(), shown())
            .answers(201, "The new tag.", one(), shown()),
        ApiOperation::new(HttpVerb::Get, ITEM, "show_tag", "Show a tag").shows("The tag.", "Tag", &tag),
        ApiOperation::new(HttpVerb::Patch, ITEM, "update_tag", "Rename or recolour a tag")
            .takes("UpdateTag", Some(json!({"color": "#16a34a"})))
            .shows("The changed tag.", "Tag", &tag)
            .refuses(&[422]),
        ApiOperation::new(HttpVerb::Delete, ITEM, "delete_tag", "Delete a tag")
            .says("Removes it from all services. 422 while a status page group follows it.")
            .deletes("Deleted.")
            .refuses(&[422]),
    ]
}

fn write() -> ApiSchema {
    let key =
        "Letters, digits, `_`, `.` and `-`, the first and the last a letter or digit; stored in lower case.";
    object()
        .may_have(
            "key",
            text(1, KEY_MAX_LENGTH).pattern("^[A-Za-z0-9]([A-Za-z0-9_.-]{0,48}[A-Za-z0-9])?$").says(key),
        )
        .may_have("value", text(0, VALUE_MAX_LENGTH).nullable().says("Null and empty: no value."))
        .may_have("color", color().nullable().says("Null: derived from the label."))
}
