//! The transition from one definition of a service to the next: what changes, and which results remain valid.

use crate::engine::definition::{CompiledChecks, WatchDefinition};
use crate::engine::registry::LocationRegistry;
use crate::model::location::LocationKey;
use crate::model::watch::{AbsentVote, WatchMemory};

/// Returns true if both definitions are watched in the same way.
pub(super) fn is_same_watch(before: &WatchDefinition, after: &WatchDefinition) -> bool {
    same_task(before.task.as_ref(), after.task.as_ref()) && same_heartbeat(before, after)
}

/// Returns the memory that remains valid. A change of target or configuration drops all votes; another interval
/// or another list of locations keeps them. Votes of a location that has become known since are assigned to its
/// slot.
pub(super) fn carry_memory_over(
    before: &WatchDefinition,
    after: &WatchDefinition,
    memory: WatchMemory,
    roster: &LocationRegistry,
) -> WatchMemory {
    let (Some(old), Some(new)) = (&before.task, &after.task) else { return memory.without_votes() };
    if old.fingerprint != new.fingerprint {
        return memory.without_votes();
    }
    let new_slot = |key: LocationKey| new.locations.iter().position(|known| *known == key);
    let slot = |slot: usize| new_slot(*old.locations.get(slot)?);
    let retained = memory.votes.into_iter().filter_map(|(before, vote)| Some((slot(before)?, vote)));
    let mut votes: Vec<_> = retained.collect();
    let mut absent = Vec::new();
    for AbsentVote { location, vote } in memory.absent {
        match roster.find(location.as_str()) {
            Some(known) => votes.extend(new_slot(known.key).map(|slot| (slot, vote))),
            None => absent.push(AbsentVote { location, vote }),
        }
    }
    WatchMemory { votes, absent, ..memory }
}

fn same_task(before: Option<&CompiledChecks>, after: Option<&CompiledChecks>) -> bool {
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

/// Returns true if both definitions expect the same pings.
fn same_heartbeat(before: &WatchDefinition, after: &WatchDefinition) -> bool {
    match (&before.heartbeat, &after.heartbeat) {
        (None, None) => true,
        (Some(before), Some(after)) => before.is_same(after),
        _ => false,
    }
}
