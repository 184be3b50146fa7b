//! Counter of changes of custom domains on this node, by which a cache of their host names notices that it is outdated.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of changes of custom domains that this node has committed. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct HostChanges(Arc<AtomicU64>);

impl HostChanges {
    /// Records that a custom domain was committed with another status, or deleted.
    pub fn note(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// Number of changes up to now.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}
