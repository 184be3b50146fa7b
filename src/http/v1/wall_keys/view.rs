//! Keys of walls as clients see them.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::openapi::shape::{ApiSchema, id, string, text_in, timestamp, url};
use crate::http::v1::confined_to::{KnownScopes, shown_scope};
use crate::http::v1::named::NamedView;
use crate::id::Id;
use crate::model::wall_key::{NAME_LENGTH, WallKey};

/// A key of a wall, without its text.
#[derive(Serialize, ToSchema)]
#[schema(as = WallKey)]
pub(super) struct WallKeyView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    #[schema(schema_with = name)]
    name: &'a str,
    #[schema(schema_with = shown_scope, required)]
    access_scope: Option<NamedView<'a>>,
    #[schema(schema_with = timestamp)]
    created_at: Timestamp,
}

/// A new key with its text.
#[derive(Serialize, ToSchema)]
#[schema(as = NewWallKey)]
pub(super) struct NewWallKeyView<'a> {
    #[serde(flatten)]
    #[schema(inline)]
    pub(super) wall_key: WallKeyView<'a>,
    #[schema(schema_with = secret)]
    pub(super) secret: &'a str,
    #[schema(schema_with = link)]
    pub(super) link: &'a str,
}

impl<'a> WallKeyView<'a> {
    /// Creates the view of a key.
    pub(super) fn of(wall: &'a WallKey, scopes: &'a KnownScopes) -> Self {
        Self {
            id: wall.id,
            name: &wall.name,
            access_scope: scopes.view(wall.access_scope),
            created_at: wall.created_at,
        }
    }
}

pub(super) fn name() -> ApiSchema {
    text_in(&NAME_LENGTH)
}

fn secret() -> ApiSchema {
    string().says("The key itself. It is shown only in this answer.").example("wkw_…")
}

fn link() -> ApiSchema {
    url().says("The address of the wall with this key.")
}
