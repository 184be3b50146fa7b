//! A selection of services by id, by tag, or by a status page that shows them. All given conditions must be met.
//!
//! An unknown or invisible id, tag or page selects no services. Tags and pages are evaluated as they are now.

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::SimpleExpr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait as _};
use watchkeeper_entities::{component, service, service_tag, statuspage};

use crate::id::Id;
use crate::model::service::{NamedService, ServiceKey};
use crate::model::tag::TagName;
use crate::model::visibility::Visibility;
use crate::store::error::MainError;
use crate::store::owner_filter::is_owned_by;
use crate::store::scope_filter::{ScopedResource, narrowed};
use crate::store::{named_services, tags};

/// Number of keys per statement, because the number of bound values is limited.
const KEYS_AT_ONCE: usize = 1_000;

/// Conditions that select services; a member that is `None` does not restrict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceSelection {
    /// Only the service with this id.
    pub service: Option<Id>,
    /// Only services with the tag of this name.
    pub tag: Option<TagName>,
    /// Only services with a component on the status page with this id.
    pub statuspage: Option<Id>,
}

impl ServiceSelection {
    /// Returns true if no condition is given, so that all services are selected.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        *self == Self::default()
    }
}

/// The services among `keys` that are visible and selected.
pub async fn among(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    selection: &ServiceSelection,
    keys: &[ServiceKey],
) -> Result<Vec<NamedService>, MainError> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let is_owned = is_owned_by(service::Column::OrganisationId, visibility.organisation());
    let Some(selected) = query(connection, visibility, selection, is_owned).await? else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for keys in keys.chunks(KEYS_AT_ONCE) {
        let these = selected.clone().filter(service::Column::Id.is_in(keys.iter().copied()));
        found.extend(named_services::services(connection, these).await?);
    }
    Ok(found)
}

/// The first `limit` visible and selected services, in the order of their keys.
pub async fn first(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    selection: &ServiceSelection,
    limit: u64,
) -> Result<Vec<NamedService>, MainError> {
    let is_owned = service::Column::OrganisationId.eq(visibility.organisation());
    match query(connection, visibility, selection, is_owned).await? {
        Some(selected) => {
            let first = selected.order_by_asc(service::Column::Id).limit(limit);
            named_services::services(connection, first).await
        }
        None => Ok(Vec::new()),
    }
}

/// The query for the selected services among those for which `is_owned` holds; `None` if the tag does not exist or is not visible.
async fn query(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    selection: &ServiceSelection,
    is_owned: SimpleExpr,
) -> Result<Option<sea_orm::Select<service::Entity>>, MainError> {
    let owned = service::Entity::find().filter(is_owned);
    let mut wanted = narrowed(owned, ScopedResource::Services, visibility);
    if let Some(id) = selection.service {
        wanted = wanted.filter(service::Column::PublicId.eq(id.as_str()));
    }
    if let Some(name) = &selection.tag {
        let Some(tag) = tags::find_named(connection, visibility, name).await? else { return Ok(None) };
        let carrying = service_tag::Entity::find()
            .select_only()
            .column(service_tag::Column::ServiceId)
            .filter(service_tag::Column::TagId.eq(tag.row));
        wanted = wanted.filter(service::Column::Id.in_subquery(carrying.into_query()));
    }
    if let Some(id) = selection.statuspage {
        let page = statuspage::Entity::find()
            .filter(statuspage::Column::OrganisationId.eq(visibility.organisation()));
        let page = narrowed(page, ScopedResource::Statuspages, visibility)
            .select_only()
            .column(statuspage::Column::Id)
            .filter(statuspage::Column::PublicId.eq(id.as_str()));
        let shown = component::Entity::find()
            .select_only()
            .column(component::Column::ServiceId)
            .filter(component::Column::ServiceId.is_not_null())
            .filter(component::Column::StatuspageId.in_subquery(page.into_query()));
        wanted = wanted.filter(service::Column::Id.in_subquery(shown.into_query()));
    }
    Ok(Some(wanted))
}
