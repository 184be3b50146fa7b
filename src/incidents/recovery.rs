//! Services whose measured status returns to `up` recover from their open incidents (contract 4.9).
//!
//! The recorder says for which services an `up` has become durable; what happened in between is read from the history, so
//! that being told twice, late or after a restart ends in the same marks. No check and no measurement waits for it: while
//! a database is away the services wait here, each once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::clock::Timestamp;
use crate::model::history::{MeasuredStatus, StatusChange};
use crate::model::service::ServiceKey;
use crate::store::history::changes;
use crate::store::incidents::recovery::{Unrecovered, mark, unrecovered};
use crate::store::{Databases, StoreError};

/// Services that have returned to `up` and have not been looked at yet.
#[derive(Debug, Default)]
pub struct Returned {
    services: Mutex<BTreeSet<ServiceKey>>,
    news: Notify,
}

impl Returned {
    /// Notes who is up again, according to changes that are durable.
    pub fn note(&self, changes: &[StatusChange]) {
        let up = changes.iter().filter(|change| change.to == MeasuredStatus::Up);
        self.add(up.map(|change| change.service));
    }

    /// Notes services that another process watched until now: it may not have marked everything.
    pub fn note_taken(&self, services: impl Iterator<Item = ServiceKey>) {
        self.add(services);
    }

    fn add(&self, services: impl Iterator<Item = ServiceKey>) {
        let mut waiting = self.services.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.extend(services);
        if !waiting.is_empty() {
            self.news.notify_one();
        }
    }

    fn take(&self) -> Vec<ServiceKey> {
        let mut waiting = self.services.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *waiting).into_iter().collect()
    }
}

/// Marks recoveries until the future is dropped, beginning with those that nobody has marked before it began.
pub async fn run(databases: Databases, returned: Arc<Returned>, retry: Duration) {
    while let Err(error) = once(&databases, None).await {
        tracing::warn!(%error, "recoveries before this start are put off");
        tokio::time::sleep(retry).await;
    }
    loop {
        returned.news.notified().await;
        let services = returned.take();
        if let Err(error) = once(&databases, Some(&services)).await {
            tracing::warn!(%error, services = services.len(), "recoveries are put off");
            returned.add(services.into_iter());
            tokio::time::sleep(retry).await;
        }
    }
}

/// Marks what has recovered among these services, or among all.
///
/// # Errors
/// When a database fails; then nothing has been marked.
pub async fn once(databases: &Databases, services: Option<&[ServiceKey]>) -> Result<(), StoreError> {
    let mut waiting: BTreeMap<ServiceKey, Vec<Unrecovered>> = BTreeMap::new();
    for affected in unrecovered(databases.main.reader(), services).await? {
        waiting.entry(affected.service).or_default().push(affected);
    }
    let mut recovered = Vec::new();
    for (service, affected) in waiting {
        let Some(since) = affected.iter().map(|affected| affected.added_at).min() else { continue };
        let changes = changes::since(databases.history.reader(), service, since).await?;
        let found = affected.into_iter();
        recovered.extend(found.filter_map(|row| Some((row, first_return(&changes, row.added_at)?))));
    }
    if recovered.is_empty() {
        return Ok(());
    }
    let transaction = databases.main.begin().await?;
    for (affected, at) in recovered {
        mark(&transaction, affected, at).await?;
    }
    transaction.commit().await?;
    Ok(())
}

/// Returns the time at which the status first came back to `up` after `since`. Being unknown for a while is neither
/// better nor worse: a service that was down, then not looked at, then up has come back; one that was never bad has
/// not.
fn first_return(changes: &[StatusChange], since: Timestamp) -> Option<Timestamp> {
    let is_bad = |status| matches!(status, MeasuredStatus::Down | MeasuredStatus::Degraded);
    let mut was_bad = changes.first().is_some_and(|change| is_bad(change.from));
    for change in changes {
        match change.to {
            MeasuredStatus::Up if was_bad && change.at >= since => return Some(change.at),
            MeasuredStatus::Up => was_bad = false,
            status => was_bad |= is_bad(status),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::model::history::ChangeCause;
    use crate::model::history::MeasuredStatus::{Degraded, Down, NoData, Unknown, Up};

    /// Changes at 10, 20, 30 …, through these statuses; the service joined its incident at 25.
    #[rstest]
    #[case(&[Up, Down, Up], None)]
    #[case(&[Up, Down, Up, Down, Up], Some(40))]
    #[case(&[Up, Degraded, Degraded, Up], Some(30))]
    #[case(&[Down, NoData, Unknown, Up], Some(30))]
    #[case(&[Down, NoData, Up, NoData, Up], None)]
    #[case(&[Up, NoData, Unknown, Up], None)]
    #[case(&[Unknown, Unknown, Unknown, Up], None)]
    #[case(&[Up, Down, NoData, Down], None)]
    #[case(&[Unknown, Up, Up, Down, Up, Down, Up], Some(40))]
    #[case(&[], None)]
    fn a_service_returns_when_it_was_bad_and_is_up(
        #[case] statuses: &[MeasuredStatus],
        #[case] at: Option<i64>,
    ) {
        let change = |(number, pair): (i64, &[MeasuredStatus])| StatusChange {
            service: 1,
            at: Timestamp::from_ms(number * 10),
            from: pair[0],
            to: pair[1],
            cause: ChangeCause::Votes,
        };
        let changes: Vec<_> = (1..).zip(statuses.windows(2)).map(change).collect();
        assert_eq!(first_return(&changes, Timestamp::from_ms(25)).map(Timestamp::ms), at);
    }

    #[test]
    fn only_who_is_up_is_noted_and_each_once() {
        let change = |service, to| StatusChange {
            service,
            at: Timestamp::from_ms(1),
            from: Unknown,
            to,
            cause: ChangeCause::Votes,
        };
        let returned = Returned::default();
        returned.note(&[change(1, Up), change(2, Down), change(3, Degraded), change(1, Up)]);
        assert_eq!(returned.take(), [1]);
        assert_eq!(returned.take(), Vec::<ServiceKey>::new());
    }
}
