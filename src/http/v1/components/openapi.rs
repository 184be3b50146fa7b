//! Describes components of a status page (contract 4.14).

use serde_json::json;

use crate::http::gate::route::HttpVerb;
use crate::http::openapi::operation::{ApiChapter, ApiOperation, example};
use crate::http::openapi::shape::{ApiSchema, boolean, id, object, translatable, view};
use crate::http::v1::components::view::{ComponentView, display_order};
use crate::model::component::{DESCRIPTION_LENGTH, NAME_LENGTH};

const COMPONENT: &str = include_str!("example.json");

const COMPONENTS: &str = "/v1/statuspages/{id}/components";
const ONE_COMPONENT: &str = "/v1/statuspages/{id}/components/{component}";

pub(in crate::http) fn chapter() -> ApiChapter {
    let schemas = vec![
        ("Component", view::<ComponentView<'_>>()),
        ("CreateComponent", write().needs(&["name"])),
        ("UpdateComponent", write()),
    ];
    let about = "The entries of a status page: services, groups and plain text lines.";
    ApiChapter { name: "Components", about, schemas, operations: component_operations() }
}

fn component_operations() -> Vec<ApiOperation> {
    let component = example(COMPONENT);
    let sent =
        json!({"name": "Shop", "service_id": "rNSJxMbDTX2uHc08AiCqo", "parent_id": "3DLqlx_g1d3lV0D7fPVKb"});
    vec![
        ApiOperation::new(HttpVerb::Get, COMPONENTS, "list_components", "List the components of a page")
            .paged_on_demand()
            .lists("Components in display order, parents before children.", "Component", &component)
            .translated(),
        ApiOperation::new(HttpVerb::Post, COMPONENTS, "create_component", "Create a component")
            .takes("CreateComponent", Some(sent))
            .creates("The new component.", "Component", &component)
            .refuses(&[402])
            .translated(),
        ApiOperation::new(HttpVerb::Get, ONE_COMPONENT, "show_component", "Show a component")
            .shows("The component.", "Component", &component)
            .translated(),
        ApiOperation::new(HttpVerb::Patch, ONE_COMPONENT, "update_component", "Change a component")
            .takes("UpdateComponent", Some(json!({"is_visible": false})))
            .shows("The changed component.", "Component", &component)
            .refuses(&[422])
            .translated(),
        ApiOperation::new(HttpVerb::Delete, ONE_COMPONENT, "delete_component", "Delete a component")
            .says("Deleting a group deletes everything below it. 422 for a component that a synced group manages.")
            .deletes("Deleted.")
            .refuses(&[422]),
    ]
}

fn write() -> ApiSchema {
    let flags = [
        "is_group",
        "is_visible",
        "show_uptime_bars",
        "hide_operational_children",
        "default_open",
        "sync_new_visible",
    ];
    object()
        .may_have("name", translatable(&NAME_LENGTH))
        .may_have("description", translatable(&DESCRIPTION_LENGTH).nullable())
        .may_have_all(&flags, &boolean())
        .may_have("service_id", id().nullable().says("Null: none. Not on a group."))
        .may_have("parent_id", id().nullable().says("A group of the same page; null: top level."))
        .may_have("display_order", display_order())
        .may_have("sync_tag_id", id().nullable().says("Only on a group; null ends the synchronisation."))
}
