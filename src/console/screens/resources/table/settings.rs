//! Tags, and who may do what: access scopes, users, tokens, wall keys.

use crate::console::frame::ConsoleSection as Section;
use crate::console::screens::resources::api_lists::{SCOPES, TAGS};
use crate::console::screens::resources::spec::{
    FieldKind as Kind, ResourceSpec, action, field, needed, on_change,
};
use crate::model::access::Permission as May;
use crate::model::console_user::UserRole;

pub(super) static TAG_LIST: ResourceSpec = ResourceSpec {
    name: "tags",
    section: Section::Settings,
    screen: "/settings/tags",
    api: TAGS,
    view: May::ServicesView,
    create: Some(May::ServicesEdit),
    edit: Some(May::ServicesEdit),
    delete: Some(May::ServicesEdit),
    columns: &["label", "color", "services_count"],
    fields: &[needed("key", Kind::Text), field("value", Kind::Text), field("color", Kind::Text)],
    actions: &[],
    lists: &[],
};

pub(super) static ACCESS_SCOPES: ResourceSpec = ResourceSpec {
    name: "scopes",
    section: Section::Settings,
    screen: "/settings/scopes",
    api: SCOPES,
    view: May::AccessScopesView,
    create: Some(May::AccessScopesCreate),
    edit: Some(May::AccessScopesEdit),
    delete: Some(May::AccessScopesDelete),
    columns: &["name", "tags", "tokens_count"],
    fields: &[needed("name", Kind::Text), needed("tags", Kind::Lines)],
    actions: &[],
    lists: &[],
};

/// The roles, the one with the fewest permissions first, which a form for a new user has chosen.
const ROLES: &[&str] = &[
    UserRole::Viewer.as_str(),
    UserRole::Responder.as_str(),
    UserRole::Editor.as_str(),
    UserRole::Owner.as_str(),
];

pub(super) static USERS: ResourceSpec = ResourceSpec {
    name: "users",
    section: Section::Settings,
    screen: "/settings/users",
    api: "/v1/users",
    view: May::UsersManage,
    create: Some(May::UsersManage),
    edit: Some(May::UsersManage),
    delete: Some(May::UsersManage),
    columns: &["name", "email", "role", "access_scope", "has_password"],
    fields: &[
        needed("email", Kind::Text),
        on_change("name", Kind::Text),
        needed("role", Kind::Word(ROLES)),
        field("access_scope_id", Kind::Reference(SCOPES)),
    ],
    actions: &[action("reset", May::UsersManage, &[])],
    lists: &[],
};

pub(super) static TOKENS: ResourceSpec = ResourceSpec {
    name: "tokens",
    section: Section::Settings,
    screen: "/settings/tokens",
    api: "/v1/tokens",
    view: May::TokensManage,
    create: Some(May::TokensManage),
    edit: Some(May::TokensManage),
    delete: Some(May::TokensManage),
    columns: &["name", "permissions", "access_scope", "expires_at", "created_at"],
    fields: &[
        needed("name", Kind::Text),
        needed("permissions", Kind::Permissions),
        field("access_scope_id", Kind::Reference(SCOPES)),
        field("expires_at", Kind::Time),
    ],
    actions: &[],
    lists: &[],
};

pub(super) static WALL_KEYS: ResourceSpec = ResourceSpec {
    name: "wall-keys",
    section: Section::Settings,
    screen: "/settings/wall-keys",
    api: "/v1/wall-keys",
    view: May::TokensManage,
    create: Some(May::TokensManage),
    edit: None,
    delete: Some(May::TokensManage),
    columns: &["name", "access_scope", "created_at"],
    fields: &[needed("name", Kind::Text), field("access_scope_id", Kind::Reference(SCOPES))],
    actions: &[],
    lists: &[],
};
