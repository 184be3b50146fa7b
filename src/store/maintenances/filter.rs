//! The filter for lists of maintenances (contract 4.11.4).

use sea_orm::sea_query::{Func, SelectStatement, SimpleExpr};
use sea_orm::{ColumnTrait, Condition, EntityTrait, ExprTrait as _, QueryFilter, QuerySelect, QueryTrait};
use watchkeeper_entities::maintenance::Column;
use watchkeeper_entities::maintenance_service;

use crate::clock::Timestamp;
use crate::model::maintenance::MaintenanceStatus;
use crate::model::service::ServiceKey;

/// Filter for maintenances. All members that are set must match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MaintenanceFilter {
    /// Only maintenances in one of these states; empty = all.
    pub statuses: Vec<MaintenanceStatus>,
    /// Only maintenances that cover this service.
    pub covering: Option<ServiceKey>,
    /// Only maintenances that cover at least one of these services; an empty list matches nothing.
    pub covering_any: Option<Vec<ServiceKey>>,
    /// Only maintenances that had not ended before this time.
    pub from: Option<Timestamp>,
    /// Only maintenances whose planned start is before this time.
    pub to: Option<Timestamp>,
}

impl MaintenanceFilter {
    /// Returns true if the filter cannot match anything, so that no query is needed.
    pub(super) fn selects_nothing(&self) -> bool {
        self.covering_any.as_ref().is_some_and(Vec::is_empty)
    }

    pub(super) fn condition(&self) -> Condition {
        let words = self.statuses.iter().map(|status| status.as_str());
        let statuses = (!self.statuses.is_empty()).then(|| Column::Status.is_in(words));
        let covering = self.covering.iter().map(std::slice::from_ref).chain(self.covering_any.as_deref());
        let covering = covering.map(|services| Column::Id.in_subquery(covering_one_of(services)));
        let before = self.to.map(|to| Column::ScheduledStart.lt(to.ms()));
        let after = self.from.map(ends_after);
        let simple = statuses.into_iter().chain(covering).chain(before);
        simple.fold(Condition::all(), Condition::add).add_option(after)
    }
}

fn covering_one_of(services: &[ServiceKey]) -> SelectStatement {
    maintenance_service::Entity::find()
        .select_only()
        .column(maintenance_service::Column::MaintenanceId)
        .filter(maintenance_service::Column::ServiceId.is_in(services.iter().copied()))
        .into_query()
}

/// Condition that a maintenance had not ended before `from`. Which end counts depends on the state. A running maintenance
/// has no end, and neither has a scheduled one without planned end; both match.
fn ends_after(from: Timestamp) -> Condition {
    let of = |status: MaintenanceStatus| Column::Status.eq(status.as_str());
    let not_before = |end: SimpleExpr| end.gte(from.ms());
    let planned =
        Condition::any().add(Column::ScheduledEnd.is_null()).add(Column::ScheduledEnd.gte(from.ms()));
    let called_off = SimpleExpr::from(Func::coalesce([
        Column::ActualEnd.into_expr(),
        Column::ScheduledEnd.into_expr(),
        Column::ScheduledStart.into_expr(),
    ]));
    Condition::any()
        .add(Condition::all().add(of(MaintenanceStatus::Scheduled)).add(planned))
        .add(of(MaintenanceStatus::InProgress))
        .add(Condition::all().add(of(MaintenanceStatus::Completed)).add(Column::ActualEnd.gte(from.ms())))
        .add(Condition::all().add(of(MaintenanceStatus::Cancelled)).add(not_before(called_off)))
}
