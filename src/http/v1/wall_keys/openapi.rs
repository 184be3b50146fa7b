//! Describes `/v1/wall-keys`.

use serde_json::json;

use crate::http::gate::route::HttpVerb;
use crate::http::kit::page::DEFAULT_PER_PAGE;
use crate::http::openapi::operation::{ApiChapter, ApiOperation, example};
use crate::http::openapi::shape::{object, view};
use crate::http::v1::confined_to::chosen_scope;
use crate::http::v1::wall_keys::view::{NewWallKeyView, WallKeyView, name};

const EXAMPLE: &str = include_str!("example.json");
const LIST: &str = "/v1/wall-keys";
const ITEM: &str = "/v1/wall-keys/{id}";

pub(in crate::http) fn chapter() -> ApiChapter {
    let create = object().has("name", name()).may_have("access_scope_id", chosen_scope());
    let schemas = vec![
        ("WallKey", view::<WallKeyView<'_>>()),
        ("NewWallKey", view::<NewWallKeyView<'_>>()),
        ("CreateWallKey", create),
    ];
    let about = "Keys by which a screen in a room shows the state of all services. A key opens nothing else.";
    ApiChapter { name: "Wall keys", about, schemas, operations: operations() }
}

fn operations() -> Vec<ApiOperation> {
    let wall = example(EXAMPLE);
    let mut made = wall.clone();
    let secret = "wkw_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG1Zq8Lw";
    made["secret"] = json!(secret);
    made["link"] = json!(format!("https://api.example.com/console/wall?key={secret}"));
    vec![
        ApiOperation::new(HttpVerb::Get, LIST, "list_wall_keys", "List wall keys")
            .paged(DEFAULT_PER_PAGE)
            .lists("Keys, oldest first.", "WallKey", &wall),
        ApiOperation::new(HttpVerb::Post, LIST, "create_wall_key", "Create a wall key")
            .says("The key is shown only in this answer.")
            .takes("CreateWallKey", Some(json!({"name": "Screen in the office"})))
            .creates("The new key.", "NewWallKey", &made),
        ApiOperation::new(HttpVerb::Get, ITEM, "show_wall_key", "Show a wall key")
            .shows("The key.", "WallKey", &wall),
        ApiOperation::new(HttpVerb::Delete, ITEM, "delete_wall_key", "Revoke a wall key")
            .says("Screens with the key show nothing any more.")
            .deletes("Revoked."),
    ]
}
