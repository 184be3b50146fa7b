//! Dependencies of a service, and the reasons why it is unreachable, as clients see them.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::openapi::shape::{ApiSchema, enum_of, id, list_of, timestamp, view};
use crate::http::v1::named::NamedView;
use crate::id::Id;
use crate::model::dependency::{Dependency, UnreachableState};

/// A service or tag that a service depends on.
#[derive(Serialize, ToSchema)]
pub(super) struct DependencyView<'a> {
    #[schema(schema_with = dependency_kind)]
    kind: &'static str,
    #[schema(schema_with = id)]
    id: Id,
    /// The name of the service, or the label of the tag.
    name: &'a str,
}

/// The state of a service that fails while one of its dependencies is down, or that was not checked after that.
#[derive(Serialize, ToSchema)]
pub(super) struct UnreachableView<'a> {
    #[schema(schema_with = timestamp)]
    since: Timestamp,
    /// The dependencies that are down, by name. Empty when all are up again but the service was not checked since, and for a
    /// token that is confined to an access scope.
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
    /// Creates the view for a caller; a confined caller sees no names of other services.
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
