//! The rows that an access scope shows: services that carry one of its tags, and the rows that depend on them.
//!
//! Each condition is one more `EXISTS` on the statement of the whole organisation; without a scope there is none.
//! Scopes and tags are read in the statement itself, so a change of either counts from the next request on.

use sea_orm::sea_query::{
    Expr, ExprTrait as _, IntoColumnRef, IntoIden, IntoTableRef, Query, SelectStatement, SimpleExpr,
};
use sea_orm::{ColumnTrait as _, EntityTrait, JoinType, QueryFilter as _, Select};
use watchkeeper_entities::{
    access_scope_tag, component, incident, incident_service, maintenance, maintenance_service, service,
    service_tag, sla_target, statuspage, tag,
};

use crate::model::visibility::Visibility;

/// The kind of rows that a statement reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScopedResource {
    /// Services that carry a tag of the scope.
    Services,
    /// Incidents that affect such a service.
    Incidents,
    /// Maintenances that cover such a service.
    Maintenances,
    /// Status pages with a component that shows such a service.
    Statuspages,
    /// Components that show such a service.
    Components,
    /// The tags of the scope, and those that such a service carries.
    Tags,
    /// Such services in the links to their tags.
    TagLinks,
    /// SLA targets of such a service, and those of a tag of the scope: it shows all services that carry it.
    SlaTargets,
}

impl ScopedResource {
    /// The condition of the rows that a visibility shows; `None` = every row of its organisation.
    pub(super) fn condition(self, visibility: Visibility) -> Option<SimpleExpr> {
        let scope = visibility.scope()?;
        Some(match self {
            Self::Services => carries((service::Entity, service::Column::Id), scope),
            Self::Components => carries((component::Entity, component::Column::ServiceId), scope),
            Self::TagLinks => carries((service_tag::Entity, service_tag::Column::ServiceId), scope),
            Self::SlaTargets => {
                let service = carries((sla_target::Entity, sla_target::Column::ServiceId), scope);
                let tag = Expr::col((sla_target::Entity, sla_target::Column::TagId));
                tag.in_subquery(own_tags(scope)).or(service)
            }
            Self::Incidents => {
                let link = [incident_service::Column::IncidentId, incident_service::Column::ServiceId];
                reaches((incident::Entity, incident::Column::Id), incident_service::Entity, link, scope)
            }
            Self::Maintenances => {
                let link =
                    [maintenance_service::Column::MaintenanceId, maintenance_service::Column::ServiceId];
                let row = (maintenance::Entity, maintenance::Column::Id);
                reaches(row, maintenance_service::Entity, link, scope)
            }
            Self::Statuspages => {
                let link = [component::Column::StatuspageId, component::Column::ServiceId];
                reaches((statuspage::Entity, statuspage::Column::Id), component::Entity, link, scope)
            }
            Self::Tags => {
                let tag = (tag::Entity, tag::Column::Id);
                let link = [service_tag::Column::TagId, service_tag::Column::ServiceId];
                Expr::col(tag).in_subquery(own_tags(scope)).or(reaches(tag, service_tag::Entity, link, scope))
            }
        })
    }
}

/// Narrows a query to rows that the visibility shows; a visibility without a scope leaves it as it is.
pub(super) fn narrowed<E: EntityTrait>(
    query: Select<E>,
    rows: ScopedResource,
    visibility: Visibility,
) -> Select<E> {
    match rows.condition(visibility) {
        Some(condition) => query.filter(condition),
        None => query,
    }
}

fn own_tags(scope: i64) -> SelectStatement {
    Query::select()
        .column(access_scope_tag::Column::TagId)
        .from(access_scope_tag::Entity)
        .and_where(access_scope_tag::Column::AccessScopeId.eq(scope))
        .to_owned()
}

/// The condition that the service of this column carries a tag of the scope.
fn carries(service: impl IntoColumnRef, scope: i64) -> SimpleExpr {
    // Names of their own: the statement around may read the same tables.
    let wanted = ("wanted", access_scope_tag::Column::TagId);
    let carried = |column: service_tag::Column| ("carried", column);
    let carried_tag = Expr::col(carried(service_tag::Column::TagId)).equals(wanted);
    let carrying = Query::select()
        .expr(Expr::value(1))
        .from_as(service_tag::Entity, "carried")
        .join_as(JoinType::InnerJoin, access_scope_tag::Entity, "wanted", carried_tag)
        .and_where(Expr::col(carried(service_tag::Column::ServiceId)).equals(service))
        .and_where(Expr::col(("wanted", access_scope_tag::Column::AccessScopeId)).eq(scope))
        .to_owned();
    Expr::exists(carrying)
}

/// The condition that a row is linked with a service that carries a tag of the scope; of the link its columns for the row
/// and for the service.
fn reaches<C: IntoIden>(
    row: impl IntoColumnRef,
    link: impl IntoTableRef,
    [to_row, to_service]: [C; 2],
    scope: i64,
) -> SimpleExpr {
    let linked = Query::select()
        .expr(Expr::value(1))
        .from_as(link, "link")
        .and_where(Expr::col(("link", to_row)).equals(row))
        .and_where(carries(("link", to_service), scope))
        .to_owned();
    Expr::exists(linked)
}
