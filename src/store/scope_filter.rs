//! Conditions that restrict queries to the rows that an access scope shows: services with one of its tags, and rows that
//! depend on these services.
//!
//! A condition adds an `EXISTS` to the query for the whole organisation; without a scope nothing is added. Scopes and tags
//! are read by the query itself, so a change of either has effect from the next request on.

use sea_orm::sea_query::{
    Expr, ExprTrait as _, IntoColumnRef, IntoIden, IntoTableRef, Query, SelectStatement, SimpleExpr,
};
use sea_orm::{ColumnTrait as _, EntityTrait, JoinType, QueryFilter as _, Select};
use watchkeeper_entities::{
    access_scope_tag, component, incident, incident_service, maintenance, maintenance_service, service,
    service_tag, sla_target, statuspage, tag,
};

use crate::model::visibility::Visibility;

/// The kind of rows that a query reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScopedResource {
    /// Services with a tag of the scope ("visible services" below).
    Services,
    /// Incidents that affect a visible service.
    Incidents,
    /// Maintenances that cover a visible service.
    Maintenances,
    /// Status pages with a component that shows a visible service.
    Statuspages,
    /// Components that show a visible service.
    Components,
    /// Tags of the scope, and tags of visible services.
    Tags,
    /// Links between visible services and their tags.
    TagLinks,
    /// SLA targets of a visible service, and those of a tag of the scope, which shows all services with the tag.
    SlaTargets,
}

impl ScopedResource {
    /// The condition for the rows that a visibility shows; `None` if it shows all rows of its organisation.
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

/// Restricts a query to the rows that the visibility shows. Without a scope, the query stays unchanged.
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

/// Condition that the service in this column has a tag of the scope.
fn carries(service: impl IntoColumnRef, scope: i64) -> SimpleExpr {
    // Aliases, because the surrounding query may read the same tables.
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

/// Condition that a row is linked with a service that has a tag of the scope. `to_row` and `to_service` are the columns of
/// the link table for the row and the service.
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
