//! Tokens as clients see them.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::openapi::shape::{ApiSchema, enum_of, id, list_of, string, text_in, timestamp};
use crate::http::v1::confined_to::{KnownScopes, shown_scope};
use crate::http::v1::named::NamedView;
use crate::id::Id;
use crate::model::access::{ApiToken, Permission, TOKEN_NAME_LENGTH};

/// An API token, without its text.
#[derive(Serialize, ToSchema)]
#[schema(as = Token)]
pub(super) struct ApiTokenView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    #[schema(schema_with = name)]
    name: &'a str,
    #[schema(schema_with = permissions)]
    permissions: Vec<&'static str>,
    #[schema(schema_with = shown_scope, required)]
    access_scope: Option<NamedView<'a>>,
    #[schema(schema_with = expires_at, required)]
    expires_at: Option<Timestamp>,
    #[schema(schema_with = timestamp)]
    created_at: Timestamp,
}

/// A new token with its text.
#[derive(Serialize, ToSchema)]
#[schema(as = NewToken)]
pub(super) struct NewTokenView<'a> {
    #[serde(flatten)]
    #[schema(inline)]
    token_view: ApiTokenView<'a>,
    #[schema(schema_with = text)]
    token: &'a str,
}

impl<'a> ApiTokenView<'a> {
    /// Creates the view of a token.
    pub(super) fn of(token: &'a ApiToken, scopes: &'a KnownScopes) -> Self {
        Self {
            id: token.id,
            name: &token.name,
            permissions: token.permissions.iter().map(Permission::as_str).collect(),
            access_scope: scopes.view(token.access_scope),
            expires_at: token.expires_at,
            created_at: token.created_at,
        }
    }
}

impl<'a> NewTokenView<'a> {
    /// Creates the view of a new token with this text.
    pub(super) const fn of(token_view: ApiTokenView<'a>, token: &'a str) -> Self {
        Self { token_view, token }
    }
}

pub(super) fn name() -> ApiSchema {
    text_in(&TOKEN_NAME_LENGTH)
}

pub(super) fn permissions() -> ApiSchema {
    let words: Vec<&str> = Permission::every().map(Permission::as_str).collect();
    list_of(enum_of(&words))
}

pub(super) fn expires_at() -> ApiSchema {
    timestamp().nullable().says("The time at which the token expires; null for never.")
}

fn text() -> ApiSchema {
    string().says("The token itself. It is shown only in this answer.").example("wk_…")
}
