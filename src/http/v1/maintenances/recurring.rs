//! Creates a recurring maintenance: a series, and its maintenances of the next thirty days.

use serde_json::{Map, Value};

use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::rule::FieldRule;
use crate::http::v1::maintenances::draft::NewMaintenance;
use crate::id::Id;
use crate::lifecycle::maintenance_series;
use crate::model::maintenance::Maintenance;
use crate::model::maintenance::series::{MaintenanceSeries, SeriesStatus};
use crate::model::maintenance::transition::OperationContext;
use crate::model::recurrence::{Recurrence, RecurrenceProblem};
use crate::model::service::Service;
use crate::store::Transaction;
use crate::store::maintenances::series::links::SeriesLinks;
use crate::store::maintenances::series::{self, links};

/// A series that is not stored yet, with its links.
pub(super) struct SeriesDraft {
    series: MaintenanceSeries,
    links: SeriesLinks,
}

impl SeriesDraft {
    /// Creates a series from the body of its first maintenance. By default a recurring maintenance completes automatically,
    /// unlike a single one: otherwise every occurrence would have to be completed by hand.
    pub(super) fn of(new: NewMaintenance, recurrence: Recurrence, body: &Map<String, Value>) -> Self {
        let NewMaintenance { maintenance, message, services, statuspages } = new;
        let series = MaintenanceSeries {
            key: 0,
            id: Id::random(),
            organisation: maintenance.organisation,
            title: maintenance.title,
            message,
            kind: maintenance.kind,
            status: SeriesStatus::Active,
            recurrence,
            auto_start: maintenance.auto_start,
            auto_complete: maintenance.auto_complete || !body.contains_key("auto_complete"),
            notices: maintenance.notices,
            next_planning_at: maintenance.created_at,
            created_by: maintenance.created_by,
            created_at: maintenance.created_at,
            updated_at: maintenance.updated_at,
        };
        Self { series, links: SeriesLinks { services, statuspages } }
    }

    /// Stores the series with its first maintenances. Returns the first maintenance, and the services of which the engine
    /// must be notified.
    pub(super) async fn store(
        self,
        transaction: &Transaction,
        stamp: OperationContext<'_>,
    ) -> Result<(Maintenance, Vec<Service>), ApiError> {
        let stored = series::insert(transaction, self.series).await?;
        links::cover(transaction, stored.key, &self.links.services).await?;
        links::show_on(transaction, stored.key, &self.links.statuspages).await?;
        let planned = maintenance_series::extend_series(transaction, stored, stamp).await?;
        // The last window may have ended since the body was checked.
        let over = || {
            FieldErrors::of("recurrence.rrule", FieldRule::Recurrence(RecurrenceProblem::Over.to_string()))
        };
        let first = planned.created.into_iter().next().ok_or_else(over)?;
        Ok((first, planned.touched))
    }
}
