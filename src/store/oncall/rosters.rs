//! The facts that decide who is on duty: schedules with the overrides and absences in a time range.

use std::sync::Arc;

use crate::clock::DAY_MS;
use crate::model::oncall::roster::DutyRoster;
use crate::model::oncall::schedule::{ContactAbsence, DAYS_MAX, DutyOverride, OncallSchedule};
use crate::model::time_range::TimeRange;
use crate::store::connection::StoreConnection;
use crate::store::error::MainError;
use crate::store::oncall::{absences, overrides, schedules};

/// A schedule with its overrides and absences.
#[derive(Clone, Debug)]
pub struct StoredRoster {
    /// The schedule with its layers.
    pub schedule: OncallSchedule,
    /// The overrides of the schedule.
    pub overrides: Vec<DutyOverride>,
    /// The absences of all contacts of the organisation, shared by its schedules.
    pub absences: Arc<[ContactAbsence]>,
}

impl StoredRoster {
    /// The roster that computes who is on duty.
    #[must_use]
    pub fn roster(&self) -> DutyRoster<'_> {
        DutyRoster { schedule: &self.schedule, overrides: &self.overrides, absences: &self.absences }
    }
}

/// The schedules of an organisation that can put a contact on duty, by a layer or by an override in the time range.
pub async fn of_contact(
    connection: &dyn StoreConnection,
    organisation: i64,
    contact: i64,
    range: TimeRange,
) -> Result<Vec<StoredRoster>, MainError> {
    let all = schedules::all(connection, organisation).await?;
    let mut stored = of_schedules(connection, all, range).await?;
    stored.retain(|stored| {
        let takes_over = stored.overrides.iter().any(|placed| placed.contact == contact);
        takes_over || stored.schedule.names(contact)
    });
    Ok(stored)
}

/// These schedules with their overrides and absences. All must be of one organisation. The time range is extended by
/// `DAYS_MAX` days on both sides, because queries may look beyond it.
pub async fn of_schedules(
    connection: &dyn StoreConnection,
    schedules: Vec<OncallSchedule>,
    range: TimeRange,
) -> Result<Vec<StoredRoster>, MainError> {
    let Some(organisation) = schedules.first().map(|schedule| schedule.organisation) else {
        return Ok(Vec::new());
    };
    let days_ms = DAYS_MAX * DAY_MS;
    let range = TimeRange { from: range.from.plus_ms(-days_ms), to: range.to.plus_ms(days_ms) };
    let keys: Vec<i64> = schedules.iter().map(|schedule| schedule.key).collect();
    let overrides = overrides::touching(connection, &keys, range).await?;
    let absences: Arc<[ContactAbsence]> = absences::touching(connection, organisation, range).await?.into();
    let stored = |schedule: OncallSchedule| {
        let own = overrides.iter().filter(|(of, _)| *of == schedule.key);
        let overrides = own.map(|(_, placed)| placed.clone()).collect();
        StoredRoster { overrides, absences: Arc::clone(&absences), schedule }
    };
    Ok(schedules.into_iter().map(stored).collect())
}
