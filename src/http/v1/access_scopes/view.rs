//! Access scopes as clients see them.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::openapi::shape::{ApiSchema, id, list_of, named, text, timestamp};
use crate::http::v1::tags::view::ServiceTagView;
use crate::id::Id;
use crate::model::access_scope::{AccessScope, NAME_LENGTH};
use crate::model::tag::Tag;

/// An access scope.
#[derive(Serialize, ToSchema)]
#[schema(as = AccessScope)]
pub(super) struct AccessScopeView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    #[schema(schema_with = name)]
    name: &'a str,
    #[schema(schema_with = tags)]
    tags: Vec<ServiceTagView<'a>>,
    /// The number of tokens that are confined to this scope.
    #[schema(minimum = 0)]
    tokens_count: usize,
    #[schema(schema_with = timestamp)]
    created_at: Timestamp,
    #[schema(schema_with = timestamp)]
    updated_at: Timestamp,
}

impl<'a> AccessScopeView<'a> {
    /// Creates the view of a scope with these tags, to which `tokens_count` tokens are confined.
    pub(super) fn of(scope: &'a AccessScope, tags: &'a [Tag], tokens_count: usize) -> Self {
        Self {
            id: scope.id,
            name: &scope.name,
            tags: tags.iter().map(ServiceTagView::of).collect(),
            tokens_count,
            created_at: scope.created_at,
            updated_at: scope.updated_at,
        }
    }
}

pub(super) fn name() -> ApiSchema {
    text(*NAME_LENGTH.start(), *NAME_LENGTH.end())
}

fn tags() -> ApiSchema {
    list_of(named("ServiceTag")).says("Its tags, by label.")
}
