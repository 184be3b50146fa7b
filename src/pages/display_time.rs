//! Times as visitors see them.

use crate::clock::Timestamp;

/// A moment, readable and machine-readable.
#[derive(Debug)]
pub(super) struct DisplayTime {
    pub(super) exact: String,
    pub(super) text: String,
}

impl From<Timestamp> for DisplayTime {
    fn from(at: Timestamp) -> Self {
        let exact = at.to_string();
        let text = format!("{} {} UTC", &exact[..10], &exact[11..16]);
        Self { exact, text }
    }
}

impl DisplayTime {
    /// A moment to the second.
    pub(super) fn exact(at: Timestamp) -> Self {
        let exact = at.to_string();
        let text = format!("{} {} UTC", &exact[..10], &exact[11..19]);
        Self { exact, text }
    }
}
