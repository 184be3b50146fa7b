//! Dependencies of a service, and the causes of its being unreachable, as clients see them.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::openapi::shape::{ApiSchema, enum_of, id, list_of, timestamp, view};
use crate::http::v1::named::NamedView;
use crate::id::Id;
use crate::model::dependency::{Dependency, UnreachableState};

/// Something that a service depends on.
#[derive(Serialize, ToSchema)]
pub(super) struct DependencyView<'a> {
    #[schema(schema_with = dependency_kind)]
    kind: &'static str,
    #[schema(schema_with = id)]
    id: Id,
    /// The name of a service, the label of a tag.
    name: &'a str,
}

/// A service that fails behind one that is down, or that has not been checked since that one was down.
#[derive(Serialize, ToSchema)]
pub(super) struct UnreachableView<'a> {
    #[schema(schema_with = timestamp)]
    since: Timestamp,
    /// The services that are down, by name. Empty when they are up again and this one has not been checked yet, and for
    /// a token that is confined to an access scope.
    because_of: Vec<NamedView<'a>>,
}

impl<'a> From<&'a Dependency> for DependencyView<'a> {
    fn from(dependency: &'a Dependency) -> Self {
        match dependency {
            Dependency::Service(service) => Self { kind: "service", id: service.id, name: &service.name },
            Dependency::Tag { id, label, .. } => Self { kind: "tag", id: *id, name: label },
        }
    }
}

impl<'a> UnreachableView<'a> {
    /// The view for a caller; a confined one sees no names of other services.
    pub(super) fn of(unreachable: &'a UnreachableState, is_confined: bool) -> Self {
        let shown = unreachable.because_of.iter().filter(|_| !is_confined);
        Self {
            since: unreachable.since,
            because_of: shown.map(|service| NamedView::new(service.id, &service.name)).collect(),
        }
    }
}

fn dependency_kind() -> ApiSchema {
    enum_of(&["service", "tag"])
}

pub(super) fn depends_on() -> ApiSchema {
    list_of(view::<DependencyView<'_>>())
        .says("A service that fails while one of these is down is unreachable.")
}

pub(super) fn unreachable() -> ApiSchema {
    let words = "Set while the service fails and something that it depends on is down, and until its first check after \
         that. This time opens no incident and does not count.";
    view::<UnreachableView<'_>>().nullable().says(words)
}
