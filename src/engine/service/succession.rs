//! From one definition of a service to the next: what changes at all, and what is still true.

use crate::engine::definition::{Definition, Task};
use crate::model::watch::Memory;

/// True if both definitions are watched in the same way.
pub(super) fn is_same_watch(before: &Definition, after: &Definition) -> bool {
    same_task(before.task.as_ref(), after.task.as_ref()) && same_heartbeat(before, after)
}

/// Votes survive a change that does not touch what is checked, such as another interval or another list of locations.
pub(super) fn carried_over(before: &Definition, after: &Definition, memory: Memory) -> Memory {
    let (Some(old), Some(new)) = (&before.task, &after.task) else {
        return Memory { votes: Vec::new(), ..memory };
    };
    let place = |slot: usize| {
        let location = old.locations.get(slot)?;
        new.locations.iter().position(|place| place == location)
    };
    let still_true = old.fingerprint == new.fingerprint;
    let votes = memory.votes.into_iter().filter(|_| still_true);
    let votes = votes.filter_map(|(slot, vote)| place(slot).map(|slot| (slot, vote))).collect();
    Memory { votes, ..memory }
}

fn same_task(before: Option<&Task>, after: Option<&Task>) -> bool {
    match (before, after) {
        (None, None) => true,
        (Some(before), Some(after)) => {
            before.fingerprint == after.fingerprint
                && before.plan == after.plan
                && before.locations == after.locations
        }
        _ => false,
    }
}

/// True if both definitions expect the same pings.
fn same_heartbeat(before: &Definition, after: &Definition) -> bool {
    match (&before.heartbeat, &after.heartbeat) {
        (None, None) => true,
        (Some(before), Some(after)) => before.is_same(after),
        _ => false,
    }
}
