//! What PostgreSQL holds of checks and status changes, read past the API: what several nodes have written together.
//!
//! Results must not be sealed meanwhile; the nodes of these tests seal nothing that is younger than an hour.

use std::collections::BTreeMap;

use watchkeeper::model::history::MeasuredStatus;

use crate::support::postgres::Postgres;

/// The databases of a cluster: main, history.
pub(crate) const NAMES: [&str; 2] = ["main", "history"];

/// A check that is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoredCheck {
    pub(crate) scheduled_ms: i64,
    pub(crate) checked_ms: i64,
    pub(crate) is_up: bool,
}

/// Every row of one moment, by the id of the service that clients see.
#[derive(Debug, Default)]
pub(crate) struct History {
    checks: BTreeMap<String, Vec<StoredCheck>>,
    changes: BTreeMap<String, Vec<MeasuredStatus>>,
    /// Service, location and due time of checks that are there more than once.
    pub(crate) doubled: Vec<String>,
}

impl History {
    pub(crate) fn read(postgres: &Postgres) -> Self {
        let lines = |database, question| {
            let answer = postgres.answer(database, &[question]);
            answer.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        let ids: BTreeMap<String, String> = lines(NAMES[0], "SELECT id, public_id FROM service")
            .iter()
            .map(|line| line.split_once('|').unwrap())
            .map(|(key, id)| (key.to_owned(), id.to_owned()))
            .collect();
        // A deleted service may have left rows.
        let id_of = |key: &str| ids.get(key).map_or_else(|| format!("key {key}"), Clone::clone);
        let mut history = Self::default();
        for line in lines(NAMES[1], CHECKS) {
            let [key, scheduled, checked, status] = fields(&line);
            history.checks.entry(id_of(key)).or_default().push(StoredCheck {
                scheduled_ms: scheduled.parse().unwrap(),
                checked_ms: checked.parse().unwrap(),
                is_up: status == "0",
            });
        }
        for line in lines(NAMES[1], CHANGES) {
            let [key, to] = fields(&line);
            let status = to.parse().ok().and_then(MeasuredStatus::from_code).unwrap();
            history.changes.entry(id_of(key)).or_default().push(status);
        }
        history.doubled = lines(NAMES[1], DOUBLED);
        history
    }

    /// The checks of a service, in the order of their starts.
    pub(crate) fn checks(&self, id: &str) -> &[StoredCheck] {
        self.checks.get(id).map_or(&[], Vec::as_slice)
    }

    /// The statuses that a service has had, in the order of time.
    pub(crate) fn statuses(&self, id: &str) -> &[MeasuredStatus] {
        self.changes.get(id).map_or(&[], Vec::as_slice)
    }

    /// The verdicts that a service has had, past the times of which nothing was known.
    pub(crate) fn verdicts(&self, id: &str) -> Vec<MeasuredStatus> {
        let is_known =
            |status: &MeasuredStatus| !matches!(status, MeasuredStatus::Unknown | MeasuredStatus::NoData);
        let mut verdicts: Vec<_> = self.statuses(id).iter().copied().filter(is_known).collect();
        verdicts.dedup();
        verdicts
    }
}

const CHECKS: &str =
    "SELECT service_id, scheduled_at, checked_at, status FROM fresh_check ORDER BY checked_at";
const CHANGES: &str = "SELECT service_id, to_status FROM status_change ORDER BY at, id";
const DOUBLED: &str = "SELECT service_id, location_id, scheduled_at, count(*), array_agg(checked_at) FROM fresh_check \
    GROUP BY service_id, location_id, scheduled_at HAVING count(*) > 1";

fn fields<const N: usize>(line: &str) -> [&str; N] {
    line.split('|').collect::<Vec<_>>().try_into().unwrap_or_else(|_| panic!("not {N} fields: {line}"))
}
