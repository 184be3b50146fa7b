//! Services that are not watched because their rows cannot be read, as far as this process has found.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use crate::model::service::ServiceKey;
use crate::telemetry::{Exposition, MetricCollector};

/// The keys of the unreadable services. Cheap to clone; all clones share the keys.
#[derive(Clone, Debug, Default)]
pub struct UnreadableServices(Arc<Mutex<BTreeSet<ServiceKey>>>);

impl UnreadableServices {
    /// Adds services whose rows cannot be read.
    pub fn add(&self, keys: &[ServiceKey]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(keys);
    }

    /// Replaces all keys, after every service was read.
    pub fn replace(&self, keys: BTreeSet<ServiceKey>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = keys;
    }

    /// Returns the number of unreadable services.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl MetricCollector for UnreadableServices {
    fn collect(&self, out: &mut Exposition) {
        let help = "Services that are not checked because their rows cannot be read.";
        out.gauge("services_unreadable", help).value(self.count() as u64);
    }
}
