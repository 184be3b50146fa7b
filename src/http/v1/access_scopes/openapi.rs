//! Describes `/v1/access-scopes`.

use serde_json::json;

use crate::http::gate::route::HttpVerb;
use crate::http::kit::page::DEFAULT_PER_PAGE;
use crate::http::openapi::operation::{ApiChapter, ApiOperation, example};
use crate::http::openapi::shape::{ApiSchema, list_of, object, string, view};
use crate::http::v1::access_scopes::view::{AccessScopeView, name};
use crate::model::access_scope::TAGS_MAX;

const EXAMPLE: &str = include_str!("example.json");
const ITEM: &str = "/v1/access-scopes/{id}";
const ABOUT: &str = "Sets of tags. A token that is confined to one sees and changes only services that carry one of the \
    tags, and their incidents, maintenances and history. It cannot use the operations of this chapter.";

pub(in crate::http) fn chapter() -> ApiChapter {
    let schemas = vec![
        ("AccessScope", view::<AccessScopeView<'_>>()),
        ("CreateAccessScope", write().needs(&["name", "tags"])),
        ("UpdateAccessScope", write()),
    ];
    ApiChapter { name: "Access scopes", about: ABOUT, schemas, operations: operations() }
}

fn operations() -> Vec<ApiOperation> {
    let scope = example(EXAMPLE);
    let sent = || Some(json!({"name": "Shop team", "tags": ["team:shop", "8rumoia4tHtM30RLo1EcP"]}));
    vec![
        ApiOperation::new(HttpVerb::Get, "/v1/access-scopes", "list_access_scopes", "List access scopes")
            .paged(DEFAULT_PER_PAGE)
            .lists("Access scopes, the oldest first.", "AccessScope", &scope),
        ApiOperation::new(
            HttpVerb::Post,
            "/v1/access-scopes",
            "create_access_scope",
            "Create an access scope",
        )
        .says("422 when another one has this name; case is ignored.")
        .takes("CreateAccessScope", sent())
        .creates("The new access scope.", "AccessScope", &scope)
        .refuses(&[402]),
        ApiOperation::new(HttpVerb::Get, ITEM, "show_access_scope", "Show an access scope").shows(
            "The access scope.",
            "AccessScope",
            &scope,
        ),
        ApiOperation::new(HttpVerb::Patch, ITEM, "update_access_scope", "Change an access scope")
            .says("Changed tags apply from the next request of each of its tokens.")
            .takes("UpdateAccessScope", Some(json!({"tags": ["team:shop"]})))
            .shows("The changed access scope.", "AccessScope", &scope)
            .refuses(&[422]),
        ApiOperation::new(HttpVerb::Delete, ITEM, "delete_access_scope", "Delete an access scope")
            .says("422 while tokens are confined to it; the answer names them.")
            .deletes("Deleted.")
            .refuses(&[422]),
    ]
}

fn write() -> ApiSchema {
    let tags = "Ids and names of tags that exist, mixed. Replaces the tags of the scope.";
    object().may_have("name", name()).may_have("tags", list_of(string()).items(1, TAGS_MAX).says(tags))
}
