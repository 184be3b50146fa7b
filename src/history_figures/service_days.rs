//! Reads the days of services that status pages show.

use std::collections::HashMap;

use crate::clock::{DAY_MS, Timestamp};
use crate::model::service::ServiceKey;
use crate::model::service_window::ServiceWindow;
use crate::model::time_range::TimeRange;
use crate::model::verdict::Verdict;
use crate::stats::service_days::ServiceDays;
use crate::store::history::many_changes;
use crate::store::{Databases, StoreError, windows};

/// Number of UTC days that are shown, including the present one.
pub const SHOWN_DAYS: i64 = 90;
/// Number of services whose data are read together.
const SERVICES_AT_ONCE: usize = 500;

/// A service whose days are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasuredService {
    /// Database key of the service.
    pub key: ServiceKey,
    /// The present verdict. After a change of it the days are read again.
    pub verdict: Verdict,
    /// The time until which results support the last status.
    pub measured_until: Timestamp,
}

/// Returns the days of these services until `now`, of those that were ever checked.
///
/// # Errors
/// When a database fails.
pub async fn read(
    databases: &Databases,
    services: &[MeasuredService],
    now: Timestamp,
) -> Result<HashMap<ServiceKey, ServiceDays>, StoreError> {
    let from = Timestamp::from_ms((now.day() - SHOWN_DAYS + 1) * DAY_MS);
    let range = TimeRange { from, to: now };
    let mut days = HashMap::with_capacity(services.len());
    for some in services.chunks(SERVICES_AT_ONCE) {
        let keys: Vec<ServiceKey> = some.iter().map(|service| service.key).collect();
        let changes = many_changes::since_of(databases.history.reader(), &keys, from).await?;
        let mut decided: HashMap<ServiceKey, Vec<ServiceWindow>> = HashMap::new();
        for window in windows::since(databases.main.reader(), &keys, from).await? {
            decided.entry(window.service).or_default().push(window);
        }
        days.extend(some.iter().filter_map(|service| {
            let windows = decided.get(&service.key).map_or(&[][..], Vec::as_slice);
            let changes = changes.get(&service.key)?;
            Some((service.key, ServiceDays::of(changes, service.measured_until, windows, range)?))
        }));
    }
    Ok(days)
}
