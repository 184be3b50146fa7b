//! Describes `/v1/tokens`.

use serde_json::json;

use crate::http::gate::route::HttpVerb;
use crate::http::kit::page::DEFAULT_PER_PAGE;
use crate::http::openapi::operation::{ApiChapter, ApiOperation, example};
use crate::http::openapi::shape::{ApiSchema, object, view};
use crate::http::v1::confined_to::chosen_scope;
use crate::http::v1::tokens::view::{ApiTokenView, NewTokenView, expires_at, name, permissions};
use crate::model::access::Permission;

const EXAMPLE: &str = include_str!("example.json");
const LIST: &str = "/v1/tokens";
const ITEM: &str = "/v1/tokens/{id}";

pub(in crate::http) fn chapter() -> ApiChapter {
    let schemas = vec![
        ("Token", view::<ApiTokenView<'_>>()),
        ("NewToken", view::<NewTokenView<'_>>()),
        ("CreateToken", write().needs(&["name", "permissions"])),
        ("UpdateToken", write()),
    ];
    let about = "API tokens. No token has more permissions, a longer life or a wider access scope than its maker. A change \
        is in force within a second.";
    ApiChapter { name: "Tokens", about, schemas, operations: operations() }
}

fn operations() -> Vec<ApiOperation> {
    let token = example(EXAMPLE);
    let mut made = token.clone();
    made["token"] = json!("wk_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG4Ch7kP");
    let sent = json!({"name": "Deploy bot", "permissions": ["services.view", "maintenances.create"]});
    vec![
        ApiOperation::new(HttpVerb::Get, LIST, "list_tokens", "List tokens").paged(DEFAULT_PER_PAGE).lists(
            "Tokens, oldest first.",
            "Token",
            &token,
        ),
        ApiOperation::new(HttpVerb::Post, LIST, "create_token", "Create a token")
            .says("The text of the token is shown only in this answer.")
            .takes("CreateToken", Some(sent))
            .creates("The new token.", "NewToken", &made),
        ApiOperation::new(HttpVerb::Get, ITEM, "show_token", "Show a token").shows(
            "The token.",
            "Token",
            &token,
        ),
        ApiOperation::new(HttpVerb::Patch, ITEM, "update_token", "Change a token")
            .takes("UpdateToken", Some(json!({"expires_at": "2027-01-01T00:00:00Z"})))
            .shows("The changed token.", "Token", &token)
            .refuses(&[422]),
        ApiOperation::new(HttpVerb::Delete, ITEM, "delete_token", "Revoke a token")
            .says("Requests with the token are refused within a second.")
            .deletes("Revoked."),
    ]
}

fn write() -> ApiSchema {
    let words = "Permissions that the caller has.";
    object()
        .may_have("name", name())
        .may_have("permissions", permissions().items(1, Permission::every().count()).says(words))
        .may_have("access_scope_id", chosen_scope())
        .may_have("expires_at", expires_at())
}
