//! The times in which no process listened for pings, as marked by earlier processes.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::listening_gap::{ListeningGap, absences_between};
use crate::model::partition::{Partition, PartitionSet};
use crate::store::history::holds::PartitionHold;
use crate::store::listening_spans::{self, ListeningSpan};
use crate::store::{Databases, MainError, clock_mark};

/// Returns the absences for all services, which one process at a time has monitored.
pub async fn of_all(databases: &Databases, now: Timestamp) -> Result<Vec<ListeningGap>, MainError> {
    Ok(absences_between(all_spans(databases).await?, now))
}

/// Returns the absences for partitions that this node takes now, from the marks of their last holders. Earlier absences
/// are unknown.
pub async fn of_partitions(
    databases: &Databases,
    partitions: PartitionSet,
    holds: &BTreeMap<Partition, PartitionHold>,
    now: Timestamp,
) -> Result<BTreeMap<Partition, Vec<ListeningGap>>, MainError> {
    let mut of_holders: HashMap<Option<Id>, Vec<ListeningSpan>> = HashMap::new();
    let mut found = BTreeMap::new();
    for partition in partitions.iter() {
        let hold = holds.get(&partition);
        let holder = hold.and_then(|hold| hold.holder);
        let spans = match (of_holders.entry(holder), holder) {
            (Entry::Occupied(known), _) => known.into_mut(),
            (Entry::Vacant(new), Some(node)) => {
                new.insert(listening_spans::newest_of(databases.main.reader(), node).await?)
            }
            (Entry::Vacant(new), None) => new.insert(all_spans(databases).await?),
        };
        let spans = spans.iter().copied();
        let spans = spans.chain(hold.map(|hold| (hold.taken_at, hold.taken_at)));
        let since = hold.map(|hold| hold.taken_at);
        let held = spans
            .filter(|(_, to)| Some(*to) >= since)
            .map(|(from, to)| (from.max(since.unwrap_or(from)), to));
        found.insert(partition, absences_between(held, now));
    }
    Ok(found)
}

/// Returns the newest spans in which any process listened. A database of an earlier version has no spans; there the newest
/// trusted time counts as one.
async fn all_spans(databases: &Databases) -> Result<Vec<ListeningSpan>, MainError> {
    let main = databases.main.reader();
    let mut spans = listening_spans::newest(main).await?;
    if spans.is_empty() {
        spans.extend(clock_mark::find(main).await?.map(|mark| (mark.newest, mark.newest)));
    }
    Ok(spans)
}
