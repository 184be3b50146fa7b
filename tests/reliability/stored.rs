//! Everything that a history holds, read past the API: the rows and the blocks of all services.

use std::collections::HashSet;

use watchkeeper::clock::Timestamp;
use watchkeeper::config::limits::StoreLimits;
use watchkeeper::store::Databases;
use watchkeeper::store::database::sqlite_url;
use watchkeeper::store::history::blocks::BlockBody;
use watchkeeper::store::history::locations::LocationNumbers;
use watchkeeper::store::history::sealed::{self, CheckSeries, ServiceRange};
use watchkeeper::store::history::{append, fresh_checks, segments};

use crate::support::server::Server;

/// Every service.
const ALL_SERVICES: ServiceRange = ServiceRange { first: i64::MIN, last: i64::MAX };

/// The databases of a server that does not run.
pub(crate) struct Stored {
    databases: Databases,
}

/// Number of stored results.
#[derive(Debug, Default)]
pub(crate) struct Holdings {
    /// Checks in rows and in blocks.
    pub(crate) checks: u64,
    /// Checks that are held more than once.
    pub(crate) doubled: u64,
    /// Checks in blocks.
    pub(crate) sealed: u64,
    /// Segments of a longer period than a day.
    pub(crate) periods: usize,
    /// Start of the newest check.
    pub(crate) newest: Timestamp,
}

impl Stored {
    /// Opens the databases of this server; its history may be external.
    pub(crate) async fn open(server: &Server, history_url: Option<&str>) -> Self {
        let file = |name: &str| sqlite_url(&server.data().join(name));
        let history_url = history_url.map_or_else(|| file("history.db"), str::to_owned);
        let databases = Databases::open(&file("main.db"), &history_url, &StoreLimits::default()).await;
        Self { databases: databases.unwrap() }
    }

    /// Reads all of it.
    pub(crate) async fn holdings(&self) -> Holdings {
        let mut seen: HashSet<(CheckSeries, Timestamp)> = HashSet::new();
        let mut found = Holdings::default();
        let mut take = |series: CheckSeries, at: Timestamp| {
            found.checks += 1;
            found.doubled += u64::from(!seen.insert((series, at)));
            found.newest = found.newest.max(at);
        };
        let reader = self.databases.history.reader();
        let end_of_time = Timestamp::from_ms(i64::MAX);
        for filling in fresh_checks::fillings(reader).await.unwrap() {
            for row in fresh_checks::of_bucket(reader, filling.bucket, end_of_time).await.unwrap() {
                take(row.series, row.entry.checked_at);
            }
        }
        let mut sealed = 0;
        let segments = segments::visible(reader).await.unwrap();
        for segment in &segments {
            let opened = self.databases.history.storage().connect(segment.id).await.unwrap();
            for (summary, body) in sealed::blocks_of(&opened, segment, ALL_SERVICES).await.unwrap() {
                for vote in BlockBody::open(&body).and_then(|body| body.votes()).unwrap() {
                    take(summary.series, vote.checked_at);
                    sealed += 1;
                }
            }
        }
        found.sealed = sealed;
        found.periods =
            segments.iter().filter(|one| one.purpose.level == segments::SegmentLevel::Period).count();
        found
    }

    /// Appends results as a server would that has had them in its spool for days.
    pub(crate) async fn append(&self, records: &[watchkeeper::model::history::CheckRecord]) {
        let codes: Vec<_> = records.iter().map(|record| record.location.clone()).collect();
        let transaction = self.databases.history.begin().await.unwrap();
        let numbers = LocationNumbers::ensure(&transaction, &codes).await.unwrap();
        let stored = append::checks(&transaction, self.databases.history.storage(), records, &numbers).await;
        assert_eq!(stored.unwrap(), records.len() as u64);
        transaction.commit().await.unwrap();
    }

    /// Closes all files.
    pub(crate) async fn close(self) {
        self.databases.main.close().await;
        self.databases.history.close().await;
    }
}
