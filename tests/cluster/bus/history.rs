//! Checks and status changes in PostgreSQL, read directly: the common result of several nodes.
//!
//! Rows are what is read; who may find results sealed meanwhile, which an hour is ten minutes after its end, asks the API
//! for them.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::Value;
use watchkeeper::model::history::MeasuredStatus;

use crate::support::client::Client;
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

    /// The same, with the checks of these services as the API returns them: sealed ones as well.
    pub(crate) fn told(postgres: &Postgres, client: &Client, ids: &[String]) -> Self {
        let mut history = Self::read(postgres);
        for id in ids {
            let mut checks = told_checks(client, id);
            checks.sort_unstable_by_key(|check| check.checked_ms);
            let mut due: Vec<i64> = checks.iter().map(|check| check.scheduled_ms).collect();
            due.sort_unstable();
            let doubled = due.windows(2).filter(|pair| pair[0] == pair[1]);
            history.doubled.extend(doubled.map(|pair| format!("{id}, due at {}", pair[0])));
            history.checks.insert(id.clone(), checks);
        }
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

/// Every check of a service, page by page.
fn told_checks(client: &Client, id: &str) -> Vec<StoredCheck> {
    let (mut checks, mut cursor) = (Vec::new(), String::new());
    loop {
        let path = format!("/v1/services/{id}/checks?per_page=100{cursor}");
        let page = client.get(&path).expect(200).json();
        let ms = |entry: &Value, field: &str| {
            entry[field].as_str().unwrap().parse::<DateTime<Utc>>().unwrap().timestamp_millis()
        };
        checks.extend(page["data"].as_array().unwrap().iter().map(|entry| StoredCheck {
            scheduled_ms: ms(entry, "scheduled_at"),
            checked_ms: ms(entry, "checked_at"),
            is_up: entry["status"] == "up",
        }));
        match page["meta"]["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return checks,
        }
    }
}

fn fields<const N: usize>(line: &str) -> [&str; N] {
    line.split('|').collect::<Vec<_>>().try_into().unwrap_or_else(|_| panic!("not {N} fields: {line}"))
}
