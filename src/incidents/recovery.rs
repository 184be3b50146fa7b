//! Unmarked recoveries: services that returned to `up` before their changes were followed (contract 4.9).
//!
//! Recoveries are read from the history, so that repeating the search gives the same marks.

use std::collections::BTreeMap;

use crate::clock::Timestamp;
use crate::model::history::{MeasuredStatus, StatusChange};
use crate::model::service::ServiceKey;
use crate::store::history::changes;
use crate::store::incidents::recovery::{UnrecoveredService, mark, unrecovered};
use crate::store::services::owners;
use crate::store::{Databases, StoreError, organisations};

/// Marks the services that have recovered, among these services or, with `None`, among all.
///
/// # Errors
///
/// When a database fails; nothing has been marked then.
pub async fn mark_missed_recoveries(
    databases: &Databases,
    services: Option<&[ServiceKey]>,
) -> Result<(), StoreError> {
    let mut waiting: BTreeMap<ServiceKey, Vec<UnrecoveredService>> = BTreeMap::new();
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
    let keys: Vec<ServiceKey> = recovered.iter().map(|(affected, _)| affected.service).collect();
    let owners = owners(&transaction, &keys).await?;
    organisations::lock_all(&transaction, owners.into_iter().map(|(_, owner)| owner)).await?;
    for (affected, at) in recovered {
        mark(&transaction, affected, at).await?;
    }
    transaction.commit().await?;
    Ok(())
}

/// Returns the time at which the status first came back to `up` after `since`. An unknown status in between is neither
/// better nor worse: a service that was down, then not checked, then up has recovered; one that was never bad has not.
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
    fn a_service_recovers_when_it_was_not_up_and_is_up(
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
}
