//! Describes `/v1/users`.

use serde_json::{Value, json};

use crate::http::gate::route::HttpVerb;
use crate::http::kit::page::DEFAULT_PER_PAGE;
use crate::http::openapi::operation::{ApiChapter, ApiOperation, enveloped, example};
use crate::http::openapi::shape::{ApiSchema, list_of, named, object, view};
use crate::http::v1::confined_to::chosen_scope;
use crate::http::v1::users::view::{LinkedUserView, PasskeyView, SessionView, UserView, email, name, role};

const EXAMPLE: &str = include_str!("example.json");
const LIST: &str = "/v1/users";
const ITEM: &str = "/v1/users/{id}";
const RESET: &str = "/v1/users/{id}/reset";
const SESSIONS: &str = "/v1/users/{id}/sessions";
const SESSION: &str = "/v1/users/{id}/sessions/{session}";
const PASSKEYS: &str = "/v1/users/{id}/passkeys";
const PASSKEY: &str = "/v1/users/{id}/passkeys/{passkey}";

pub(in crate::http) fn chapter() -> ApiChapter {
    let schemas = vec![
        ("User", view::<UserView<'_>>()),
        ("LinkedUser", view::<LinkedUserView<'_>>()),
        ("Session", view::<SessionView<'_>>()),
        ("Passkey", view::<PasskeyView<'_>>()),
        ("CreateUser", write().needs(&["email", "role"])),
        ("UpdateUser", write()),
    ];
    let about = "People who sign in to the console. A role is a set of permissions; nobody can give a role with more than \
        they have. An organisation always keeps one owner who is not confined to an access scope.";
    ApiChapter { name: "Users", about, schemas, operations: operations() }
}

fn operations() -> Vec<ApiOperation> {
    let user = example(EXAMPLE);
    let mut linked = user.clone();
    linked["link"] = json!(
        "https://api.example.com/console/welcome?ticket=wkl_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG0xY1z2"
    );
    let sent = json!({"email": "anna@example.com", "role": "responder"});
    vec![
        ApiOperation::new(HttpVerb::Get, LIST, "list_users", "List users").paged(DEFAULT_PER_PAGE).lists(
            "Users, oldest first.",
            "User",
            &user,
        ),
        ApiOperation::new(HttpVerb::Post, LIST, "create_user", "Invite a user")
            .says("The answer has a link by which the user chooses a password; it is valid for three days.")
            .takes("CreateUser", Some(sent))
            .creates("The new user.", "LinkedUser", &linked),
        ApiOperation::new(HttpVerb::Get, ITEM, "show_user", "Show a user").shows("The user.", "User", &user),
        ApiOperation::new(HttpVerb::Patch, ITEM, "update_user", "Change a user")
            .takes("UpdateUser", Some(json!({"role": "editor"})))
            .shows("The changed user.", "User", &user)
            .refuses(&[422]),
        ApiOperation::new(HttpVerb::Delete, ITEM, "delete_user", "Delete a user")
            .says("All sessions of the user end. 422 for the last owner.")
            .deletes("Deleted.")
            .refuses(&[422]),
        ApiOperation::new(HttpVerb::Post, RESET, "reset_user", "Make a link for a new password")
            .says("The link is valid for a day. The present password goes on working until it is used.")
            .shows("The user.", "LinkedUser", &linked)
            .refuses(&[422]),
        ApiOperation::new(HttpVerb::Get, SESSIONS, "list_sessions", "List the sessions of a user").answers(
            200,
            "The sessions, newest first.",
            enveloped(list_of(named("Session"))),
            Some(json!({"data": [session()]})),
        ),
        ApiOperation::new(HttpVerb::Delete, SESSION, "delete_session", "End a session")
            .deletes("Ended.")
            .refuses(&[422]),
        ApiOperation::new(HttpVerb::Get, PASSKEYS, "list_passkeys", "List the passkeys of a user")
            .says("Users add passkeys themselves, in their settings.")
            .answers(
                200,
                "The passkeys, oldest first.",
                enveloped(list_of(named("Passkey"))),
                Some(json!({"data": [passkey()]})),
            ),
        ApiOperation::new(HttpVerb::Delete, PASSKEY, "delete_passkey", "Delete a passkey")
            .says("The user cannot sign in with it any more. Sessions go on.")
            .deletes("Deleted.")
            .refuses(&[422]),
    ]
}

fn passkey() -> Value {
    json!({
        "id": "pNSJxMbDTX2uHc08AiCqo",
        "name": "Phone",
        "created_at": "2026-11-20T09:00:00.000Z",
        "last_used_at": "2026-11-20T09:30:00.000Z",
    })
}

fn session() -> Value {
    json!({
        "id": "rNSJxMbDTX2uHc08AiCqo",
        "address": "192.0.2.7",
        "browser": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0",
        "created_at": "2026-11-20T09:00:00.000Z",
        "seen_at": "2026-11-20T09:30:00.000Z",
    })
}

fn write() -> ApiSchema {
    object()
        .may_have("email", email())
        .may_have("name", name())
        .may_have("role", role())
        .may_have("access_scope_id", chosen_scope())
}
