//! The services that this location checks, with their versions over time: a result carries the version it was measured in.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use bytes::Bytes;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::history::CheckRecord;
use crate::model::service::ServiceKey;

/// Number of remembered versions of a service.
const VERSIONS: usize = 8;

/// A version of a service, and the time since which it is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CheckedVersion {
    pub(super) at: Timestamp,
    pub(super) version: u64,
}

/// A service that is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CheckedService {
    pub(super) id: Id,
    pub(super) key: ServiceKey,
    /// Position of the service's definition on the bus, which only grows.
    pub(super) revision: u64,
    /// The sealed definition, as received.
    pub(super) sealed: Bytes,
    /// Versions, oldest first; at least one.
    pub(super) versions: Vec<CheckedVersion>,
}

/// The services that are checked.
#[derive(Debug, Default)]
pub(super) struct ServiceCatalogue(RwLock<CatalogueState>);

#[derive(Debug, Default)]
struct CatalogueState {
    services: HashMap<Id, CheckedService>,
    ids: HashMap<ServiceKey, Id>,
    /// Services that are no longer checked, but whose earlier results may still wait to be sent.
    gone: HashMap<Id, CheckedService>,
    /// True once all definitions of the engine have been received.
    is_complete: bool,
    /// True if the catalogue has changed since it was written to the disk.
    is_changed: bool,
}

impl ServiceCatalogue {
    /// Adds a service, or a newer definition of it; its earlier versions are kept.
    pub(super) fn put(&self, mut entry: CheckedService) {
        let mut inner = self.write();
        let gone = inner.gone.remove(&entry.id);
        if let Some(before) = inner.services.remove(&entry.id).or(gone) {
            let versions = entry.versions;
            entry.versions = before.versions;
            for since in versions {
                if entry.versions.last().is_none_or(|last| last.version != since.version) {
                    entry.versions.push(since);
                }
            }
            let forgotten = entry.versions.len().saturating_sub(VERSIONS);
            entry.versions.drain(..forgotten);
        }
        inner.ids.insert(entry.key, entry.id);
        inner.services.insert(entry.id, entry);
        inner.is_changed = true;
    }

    /// Removes a service; returns its entry.
    pub(super) fn remove(&self, id: Id) -> Option<CheckedService> {
        let mut inner = self.write();
        let gone = inner.services.remove(&id)?;
        inner.gone.insert(id, gone.clone());
        inner.is_changed = true;
        Some(gone)
    }

    /// Returns the service, if it is checked.
    pub(super) fn get(&self, id: Id) -> Option<CheckedService> {
        self.read().services.get(&id).cloned()
    }

    /// The ids of all services.
    pub(super) fn ids(&self) -> Vec<Id> {
        self.read().services.keys().copied().collect()
    }

    /// Returns all entries, if something has changed since the last call.
    pub(super) fn changed(&self) -> Option<Vec<CheckedService>> {
        let mut inner = self.write();
        std::mem::take(&mut inner.is_changed).then(|| inner.services.values().cloned().collect())
    }

    /// Marks the catalogue as changed, because a write has failed.
    pub(super) fn mark_changed(&self) {
        self.write().is_changed = true;
    }

    /// Returns the service of a result, and the version it was measured in; `None` if this process has never
    /// checked the service.
    pub(super) fn version_of(&self, record: &CheckRecord) -> Option<(Id, u64)> {
        let inner = self.read();
        let id = inner.ids.get(&record.service)?;
        let entry = inner.services.get(id).or_else(|| inner.gone.get(id))?;
        let since = entry.versions.iter().rev().find(|since| since.at <= record.checked_at);
        let version = since.or_else(|| entry.versions.first())?.version;
        Some((entry.id, version))
    }

    /// Records that all definitions of the engine have been received.
    pub(super) fn complete(&self) {
        self.write().is_complete = true;
    }

    pub(super) fn is_complete(&self) -> bool {
        self.read().is_complete
    }

    fn read(&self) -> RwLockReadGuard<'_, CatalogueState> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, CatalogueState> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::check::{ErrorCode, Measurement, PhaseTimings};
    use crate::model::service::ProbeRole;

    fn entry(id: Id, version: u64, at: i64) -> CheckedService {
        let since = CheckedVersion { at: Timestamp::from_ms(at), version };
        CheckedService { id, key: 7, revision: version, sealed: Bytes::new(), versions: vec![since] }
    }

    fn record(checked_at: i64) -> CheckRecord {
        CheckRecord {
            service: 7,
            location: "fra".parse().unwrap(),
            role: ProbeRole::Full,
            scheduled_at: Timestamp::from_ms(checked_at),
            checked_at: Timestamp::from_ms(checked_at),
            attempt: 1,
            measurement: Measurement::unanswered(ErrorCode::ALL[0], "", PhaseTimings::default()),
        }
    }

    #[test]
    fn a_result_carries_the_version_at_its_time() {
        let (catalogue, id) = (ServiceCatalogue::default(), Id::random());
        catalogue.put(entry(id, 1, 100));
        catalogue.put(entry(id, 2, 200));
        catalogue.put(entry(id, 2, 250));
        let version = |at| catalogue.version_of(&record(at)).map(|(_, version)| version);
        assert_eq!([50, 100, 199, 200, 300].map(version), [1, 1, 1, 2, 2].map(Some));
        assert_eq!(catalogue.get(id).unwrap().versions.len(), 2, "the same version is no news");
        (3..20).for_each(|version| catalogue.put(entry(id, version, 300)));
        assert_eq!(catalogue.get(id).unwrap().versions.len(), VERSIONS);
        assert!(catalogue.remove(id).is_some() && catalogue.get(id).is_none());
        assert_eq!(version(300), Some(19), "what waits is still told");
    }
}
