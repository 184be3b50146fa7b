//! Lists of incidents: pages of the incidents that a filter selects, with the services that they affect, and the open
//! periods of the incidents of one service.

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::Query;
use sea_orm::{ColumnTrait, Condition, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Select};
use watchkeeper_entities::incident::{Column, Entity};
use watchkeeper_entities::{incident_automation, incident_service};

use crate::clock::Timestamp;
use crate::model::incident::{AffectedService, Incident, IncidentKind, OpenPeriod};
use crate::model::service::ServiceKey;
use crate::model::time_range::TimeRange;
use crate::model::visibility::Visibility;
use crate::store::error::MainError;
use crate::store::incidents::{affected, rows, visible_to};
use crate::store::page_window::PageWindow;

/// Filter for incidents. All members that are set must match (contract 4.10.5).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IncidentFilter {
    /// Only incidents that affect this service.
    pub of_service: Option<ServiceKey>,
    /// Only incidents that affect at least one of these services.
    pub services: Option<Vec<ServiceKey>>,
    /// True: only resolved incidents; false: only open ones.
    pub resolved: Option<bool>,
    /// True: only published incidents; false: only internal ones.
    pub is_published: Option<bool>,
    /// Only incidents of this kind.
    pub kind: Option<IncidentKind>,
    /// Only incidents that were not resolved before this time.
    pub from: Option<Timestamp>,
    /// Only incidents that started before this time.
    pub to: Option<Timestamp>,
}

impl IncidentFilter {
    pub(super) fn select(&self, visibility: Visibility) -> Select<Entity> {
        let mut query = visible_to(visibility);
        if let Some(service) = self.of_service {
            query = query.filter(affecting(&[service]));
        }
        if let Some(services) = &self.services {
            query = query.filter(affecting(services));
        }
        if let Some(resolved) = self.resolved {
            let end = Column::ResolvedAt;
            query = query.filter(if resolved { end.is_not_null() } else { end.is_null() });
        }
        if let Some(is_published) = self.is_published {
            query = query.filter(Column::IsPublished.eq(is_published));
        }
        if let Some(kind) = self.kind {
            query = query.filter(Column::Kind.eq(kind.as_str()));
        }
        if let Some(from) = self.from {
            let not_over = Condition::any().add(Column::ResolvedAt.is_null());
            query = query.filter(not_over.add(Column::ResolvedAt.gte(from.ms())));
        }
        if let Some(to) = self.to {
            query = query.filter(Column::StartedAt.lt(to.ms()));
        }
        query
    }
}

/// Condition for incidents that affect at least one of these services.
fn affecting(services: &[ServiceKey]) -> Condition {
    let linked = Query::select()
        .column(incident_service::Column::IncidentId)
        .from(incident_service::Entity)
        .and_where(incident_service::Column::ServiceId.is_in(services.iter().copied()))
        .to_owned();
    Condition::all().add(Column::Id.in_subquery(linked))
}

/// The visible incidents that the filter selects, on this page of the list, latest start first, each with the services
/// that it affects, and the total number of selected incidents.
pub async fn page(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    filter: &IncidentFilter,
    window: PageWindow,
) -> Result<(Vec<(Incident, Vec<AffectedService>)>, u64), MainError> {
    if filter.services.as_ref().is_some_and(Vec::is_empty) {
        return Ok((Vec::new(), 0));
    }
    let total = filter.select(visibility).count(&connection).await?;
    let found = filter
        .select(visibility)
        .order_by_desc(Column::StartedAt)
        .order_by_asc(Column::PublicId)
        .offset(window.offset)
        .limit(window.limit)
        .all(&connection)
        .await?;
    let keys: Vec<i64> = found.iter().map(|row| row.id).collect();
    let mut affected = affected::affected(connection, visibility, &keys).await?;
    let with_services = |row: watchkeeper_entities::incident::Model| {
        let services = affected.remove(&row.id).unwrap_or_default();
        Ok((rows::from_row(row)?, services))
    };
    let incidents: Result<Vec<_>, MainError> = found.into_iter().map(with_services).collect();
    Ok((incidents?, total))
}

/// The visible incidents of a service that the engine opened and that were open at some time in the range, in the order in
/// which they were opened.
pub async fn opened_by_engine(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    service: ServiceKey,
    TimeRange { from, to }: TimeRange,
) -> Result<Vec<Incident>, MainError> {
    let followed = Query::select()
        .column(incident_automation::Column::IncidentId)
        .from(incident_automation::Entity)
        .to_owned();
    let filter = IncidentFilter {
        of_service: Some(service),
        from: Some(from),
        to: Some(to),
        ..IncidentFilter::default()
    };
    let found = filter
        .select(visibility)
        .filter(Column::Id.in_subquery(followed))
        .order_by_asc(Column::CreatedAt)
        .all(&connection)
        .await?;
    found.into_iter().map(rows::from_row).collect()
}

/// Returns the open periods of the incidents of a service that are not notices and were not resolved before `from`, in no
/// particular order.
pub async fn periods(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    service: ServiceKey,
    from: Timestamp,
) -> Result<Vec<OpenPeriod>, MainError> {
    let filter = IncidentFilter { of_service: Some(service), from: Some(from), ..IncidentFilter::default() };
    let rows: Vec<(i64, Option<i64>)> = filter
        .select(visibility)
        .select_only()
        .columns([Column::StartedAt, Column::ResolvedAt])
        .filter(Column::Kind.ne(IncidentKind::Notice.as_str()))
        .into_tuple()
        .all(&connection)
        .await?;
    let period = |(start, end): (i64, Option<i64>)| OpenPeriod {
        started_at: Timestamp::from_ms(start),
        resolved_at: end.map(Timestamp::from_ms),
    };
    Ok(rows.into_iter().map(period).collect())
}
