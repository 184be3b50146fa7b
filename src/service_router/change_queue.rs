//! Marks of changed services, whose definitions have to be sent to remote locations again.
//!
//! A mark says only that something has changed: its reader reads the store. So several marks of one service are merged, in
//! any order, and a mark that is processed twice does no harm.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::id::Id;
use crate::model::service::{ServiceAddress, ServiceKey};

/// Pending marks. Cheap to clone. In a queue without a reader, marks are dropped.
#[derive(Clone, Debug, Default)]
pub struct ChangeQueue(Option<Arc<ChangeQueueState>>);

#[derive(Debug, Default)]
struct ChangeQueueState {
    marks: Mutex<ChangedServices>,
    woken: Notify,
}

/// Marks of changed and deleted services.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedServices {
    /// True if every service may have changed.
    pub all: bool,
    /// Changed or deleted services.
    pub services: BTreeMap<ServiceKey, Id>,
}

impl ChangeQueue {
    /// Creates a queue whose marks are stored for a reader.
    #[must_use]
    pub fn with_consumer() -> Self {
        Self(Some(Arc::default()))
    }

    /// Marks a service as changed or deleted.
    pub fn mark(&self, service: ServiceAddress) {
        self.add(|marks| {
            marks.services.insert(service.key, service.id);
        });
    }

    /// Marks all services as changed, for example because a location was added.
    pub fn mark_all(&self) {
        self.add(|marks| marks.all = true);
    }

    /// Puts marks back that could not be processed.
    pub fn put_back(&self, left: ChangedServices) {
        self.add(|marks| {
            marks.all |= left.all;
            marks.services.extend(left.services);
        });
    }

    /// Waits for marks and takes them all.
    pub async fn take(&self) -> ChangedServices {
        let Some(waiting) = &self.0 else { return std::future::pending().await };
        loop {
            let woken = waiting.woken.notified();
            let marks = std::mem::take(&mut *waiting.lock());
            if marks != ChangedServices::default() {
                return marks;
            }
            woken.await;
        }
    }

    fn add(&self, change: impl FnOnce(&mut ChangedServices)) {
        if let Some(waiting) = &self.0 {
            change(&mut waiting.lock());
            waiting.woken.notify_one();
        }
    }
}

impl ChangeQueueState {
    fn lock(&self) -> MutexGuard<'_, ChangedServices> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn marks_of_one_service_are_merged() {
        let changes = ChangeQueue::with_consumer();
        let address = ServiceAddress { id: Id::random(), key: 7 };
        changes.mark(address);
        changes.mark(address);
        changes.mark_all();
        assert_eq!(changes.take().await, ChangedServices { all: true, services: [(7, address.id)].into() });
        let put_back = async { changes.put_back(ChangedServices { all: true, services: BTreeMap::new() }) };
        let (taken, ()) = tokio::join!(changes.take(), put_back);
        assert_eq!(taken, ChangedServices { all: true, services: BTreeMap::new() });
    }

    #[test]
    fn without_a_consumer_nothing_is_queued() {
        let changes = ChangeQueue::default();
        changes.mark(ServiceAddress { id: Id::random(), key: 7 });
        assert!(changes.0.is_none());
    }
}
