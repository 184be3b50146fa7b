//! Reminders of maintenances: a due reminder becomes a fact for the subscribers of status pages.
//!
//! Each reminder is published once, however often this runs. A reminder that became due during a stop is published later,
//! as long as it is useful.

use std::sync::Arc;

use crate::clock::Timestamp;
use crate::clock::guard::ClockGuard;
use crate::lifecycle::maintenances::remind;
use crate::store::maintenances::reminders::{DueReminder, due};
use crate::store::{Databases, MainError};

/// Maximum number of reminders read at a time.
const PAGE: u64 = 100;

/// Publishes due reminders.
#[derive(Clone, Debug)]
pub struct ReminderPublisher {
    /// The databases of the maintenances.
    pub databases: Databases,
    /// The guard of the wall clock. While the clock is not trusted no reminder is published, because it might be too
    /// early.
    pub guard: Arc<ClockGuard>,
}

impl ReminderPublisher {
    /// Publishes every due reminder. Returns their number.
    ///
    /// # Errors
    /// When the database fails; published reminders are kept, and one failing reminder does not stop the others.
    pub async fn run_due(&self) -> Result<u32, MainError> {
        let Some(now) = self.guard.trusted_now() else { return Ok(0) };
        let (mut reminded, mut failed) = (0, None);
        for reminder in due(self.databases.main.reader(), now, PAGE).await? {
            match self.publish(reminder, now).await {
                Ok(is_reminded) => reminded += u32::from(is_reminded),
                Err(error) if error.is_unreachable() => return Err(error),
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(reminded), Err)
    }

    async fn publish(&self, reminder: DueReminder, now: Timestamp) -> Result<bool, MainError> {
        let transaction = self.databases.main.begin().await?;
        let is_reminded = remind(&transaction, reminder, now).await?;
        transaction.commit().await?;
        Ok(is_reminded)
    }
}
