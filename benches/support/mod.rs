//! A history database in a temporary folder, and results to fill it with.

use tempfile::TempDir;
use watchkeeper::clock::Timestamp;
use watchkeeper::config::limits::StoreLimits;
use watchkeeper::model::check::{CheckStatus, Measurement, Micros, PhaseTimings};
use watchkeeper::model::history::CheckRecord;
use watchkeeper::model::location::LocationCode;
use watchkeeper::model::service::ProbeRole;
use watchkeeper::store::Databases;
use watchkeeper::store::database::sqlite_url;
use watchkeeper::store::history::append;
use watchkeeper::store::history::locations::LocationNumbers;

/// Milliseconds between two results of a service.
const INTERVAL_MS: i64 = 10_000;

/// An open history.
pub(crate) struct History {
    pub(crate) databases: Databases,
    location: LocationCode,
    numbers: LocationNumbers,
    _folder: TempDir,
}

impl History {
    pub(crate) async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = |name: &str| sqlite_url(&folder.path().join(name));
        let databases =
            Databases::open(&url("main.db"), &url("history.db"), &StoreLimits::default()).await.unwrap();
        let location: LocationCode = "local".parse().unwrap();
        let transaction = databases.history.begin().await.unwrap();
        let numbers = LocationNumbers::ensure(&transaction, std::slice::from_ref(&location)).await.unwrap();
        transaction.commit().await.unwrap();
        Self { databases, location, numbers, _folder: folder }
    }

    /// One result for each of the given number of services, in one transaction that is durable when this returns.
    pub(crate) async fn append_round(&self, services: i64, round: i64) {
        let records: Vec<CheckRecord> = (1..=services).map(|service| self.record(service, round)).collect();
        let transaction = self.databases.history.begin().await.unwrap();
        append::checks(&transaction, self.databases.history.storage(), &records, &self.numbers)
            .await
            .unwrap();
        transaction.commit().await.unwrap();
    }

    fn record(&self, service: i64, round: i64) -> CheckRecord {
        let at = Timestamp::from_ms(1_795_000_000_000 + round * INTERVAL_MS + service % INTERVAL_MS);
        let time = |us| Micros::new(us);
        let timings = PhaseTimings {
            dns: None,
            connect: time(310),
            tls: None,
            ttfb: time(1_250),
            transfer: time(40),
            total: time(1_600),
        };
        CheckRecord {
            service,
            location: self.location.clone(),
            role: ProbeRole::Full,
            scheduled_at: at,
            checked_at: at.plus_ms(1),
            attempt: 1,
            measurement: Measurement {
                status: CheckStatus::Up,
                response_time: time(1_600),
                timings,
                status_code: Some(200),
                failure: None,
            },
        }
    }
}
