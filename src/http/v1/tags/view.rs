//! Tags as clients see them (contract 4.3.1, 4.4).

use serde::Serialize;
use utoipa::ToSchema;

use crate::http::openapi::shape::{ApiSchema, color, enum_of, id, string, text};
use crate::id::Id;
use crate::model::tag::{Tag, TagSource, VALUE_MAX_LENGTH};

/// A tag in the view of a service.
#[derive(Serialize, ToSchema)]
#[schema(as = ServiceTag)]
pub(in crate::http::v1) struct ServiceTagView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    #[schema(schema_with = key)]
    key: &'a str,
    #[schema(schema_with = value, required)]
    value: Option<&'a str>,
    #[schema(schema_with = color)]
    color: &'a str,
    /// The label of the tag: `key:value`, or only `key` if there is no value.
    label: String,
    #[schema(schema_with = source)]
    source: &'static str,
}

/// A tag.
#[derive(Serialize, ToSchema)]
#[schema(as = Tag)]
pub(super) struct TagView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    #[schema(schema_with = key)]
    key: &'a str,
    #[schema(schema_with = value, required)]
    value: Option<&'a str>,
    #[schema(schema_with = color)]
    color: &'a str,
    /// The label of the tag: `key:value`, or only `key` if there is no value.
    label: String,
    #[schema(schema_with = source)]
    source: &'static str,
    /// The number of services that carry the tag.
    #[schema(minimum = 0)]
    services_count: i64,
}

impl<'a> ServiceTagView<'a> {
    /// Creates the view of a tag of a service.
    pub(in crate::http::v1) fn of(tag: &'a Tag) -> Self {
        Self {
            id: tag.id,
            key: tag.name.key(),
            value: tag.name.value(),
            color: &tag.color,
            label: tag.name.label(),
            source: tag.source.as_str(),
        }
    }
}

impl<'a> TagView<'a> {
    /// Creates the view of a tag that `services_count` services carry.
    pub(super) fn of(tag: &'a Tag, services_count: i64) -> Self {
        let ServiceTagView { id, key, value, color, label, source } = ServiceTagView::of(tag);
        Self { id, key, value, color, label, source, services_count }
    }
}

fn key() -> ApiSchema {
    string().pattern("^[a-z0-9]([a-z0-9_.-]{0,48}[a-z0-9])?$")
}

fn value() -> ApiSchema {
    text(1, VALUE_MAX_LENGTH).nullable()
}

fn source() -> ApiSchema {
    enum_of(&[TagSource::User, TagSource::System].map(TagSource::as_str))
        .says("`system`: set by the server agent.")
}
