//! References with an id and a name: the services and pages of an incident, the service of a component.

use serde::Serialize;
use utoipa::ToSchema;

use crate::http::openapi::shape::id;
use crate::id::Id;

/// A reference by id and name.
#[derive(Serialize, ToSchema)]
#[schema(as = Named)]
pub(super) struct NamedView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    name: &'a str,
}

impl<'a> NamedView<'a> {
    /// Creates the view of an item with this id and this name.
    pub(super) const fn new(id: Id, name: &'a str) -> Self {
        Self { id, name }
    }
}
