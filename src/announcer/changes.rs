//! Marks of changed services, whose definitions have to be sent to remote locations again.
//!
//! A mark says only that something has changed: its reader reads the store. So several marks of one service are merged, in
//! any order, and a mark that is processed twice does no harm.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::id::Id;
use crate::model::service::{ServiceAddress, ServiceKey};

/// Pending marks. Cheap to clone; without a reader they are not stored.
#[derive(Clone, Debug, Default)]
pub struct Changes(Option<Arc<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    marks: Mutex<Marks>,
    woken: Notify,
}

/// The changed services.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// True if every service may have changed.
    pub all: bool,
    /// Changed or deleted services.
    pub services: BTreeMap<ServiceKey, Id>,
}

impl Changes {
    /// Creates marks that are stored for a reader.
    #[must_use]
    pub fn kept() -> Self {
        Self(Some(Arc::default()))
    }

    /// Marks a service as changed or deleted.
    pub fn mark(&self, service: ServiceAddress) {
        self.add(|marks| {
            marks.services.insert(service.key, service.id);
        });
    }

    /// Marks all services as changed: there is another location.
    pub fn mark_all(&self) {
        self.add(|marks| marks.all = true);
    }

    /// Returns marks that could not be processed.
    pub fn put_back(&self, left: Marks) {
        self.add(|marks| {
            marks.all |= left.all;
            marks.services.extend(left.services);
        });
    }

    /// Waits for marks and takes them all.
    pub async fn take(&self) -> Marks {
        let Some(waiting) = &self.0 else { return std::future::pending().await };
        loop {
            let woken = waiting.woken.notified();
            let marks = std::mem::take(&mut *waiting.lock());
            if marks != Marks::default() {
                return marks;
            }
            woken.await;
        }
    }

    fn add(&self, change: impl FnOnce(&mut Marks)) {
        if let Some(waiting) = &self.0 {
            change(&mut waiting.lock());
            waiting.woken.notify_one();
        }
    }
}

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, Marks> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn marks_of_one_service_are_one() {
        let changes = Changes::kept();
        let address = ServiceAddress { id: Id::random(), key: 7 };
        changes.mark(address);
        changes.mark(address);
        changes.mark_all();
        assert_eq!(changes.take().await, Marks { all: true, services: [(7, address.id)].into() });
        let put_back = async { changes.put_back(Marks { all: true, services: BTreeMap::new() }) };
        let (taken, ()) = tokio::join!(changes.take(), put_back);
        assert_eq!(taken, Marks { all: true, services: BTreeMap::new() });
    }

    #[test]
    fn without_anybody_who_acts_nothing_is_kept() {
        let changes = Changes::default();
        changes.mark(ServiceAddress { id: Id::random(), key: 7 });
        assert!(changes.0.is_none());
    }
}
