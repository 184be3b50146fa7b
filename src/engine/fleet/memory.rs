//! The memory with which a service continues: from before this process, or from the figures of its shard.

use crate::clock::Timestamp;
use crate::engine::aggregator::{KnownStatus, LastKnownState};
use crate::engine::definition::WatchDefinition;
use crate::engine::registry::LocationRegistry;
use crate::model::location::LocationCode;
use crate::model::watch::WatchMemory;

/// Returns the known status of a service that was watched before this process started.
pub(super) fn known_status(
    definition: &WatchDefinition,
    memory: &WatchMemory,
    now: Timestamp,
) -> KnownStatus {
    let voted = definition.task.as_ref().map(|task| memory.verdict(&task.plan, now));
    let reported = definition.heartbeat.map(|_| memory.status.verdict());
    KnownStatus {
        status: memory.status,
        verdict: voted.or(reported).unwrap_or_default(),
        last_result_at: memory.last_result_at(now),
        flapping: memory.flapping.clone(),
    }
}

/// Returns the memory with which a restarted actor continues: the panic was a defect of this program and says nothing
/// about the target.
pub(super) fn memory_from(
    definition: &WatchDefinition,
    roster: &LocationRegistry,
    known: LastKnownState,
) -> WatchMemory {
    let slot = |location: &LocationCode| {
        if definition.heartbeat.is_some() {
            return Some(0);
        }
        let key = roster.find(location.as_str())?.key;
        definition.task.as_ref()?.locations.iter().position(|known| *known == key)
    };
    let votes = known.votes.into_iter().filter_map(|(location, vote)| Some((slot(&location)?, vote)));
    WatchMemory {
        votes: votes.collect(),
        status: known.status,
        status_since: known.status_since,
        flapping: known.flapping,
        ..WatchMemory::default()
    }
}
