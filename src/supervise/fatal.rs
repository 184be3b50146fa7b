//! The reason why the process cannot continue: set once, read by the code that ends the process.

use std::sync::Arc;

use tokio::sync::watch;

/// Exit code of a process that cannot continue: an internal software error in sysexits.h.
pub const EXIT_CODE: u8 = 70;

/// The reason why the process has to end; unset until there is one.
#[derive(Debug)]
pub(super) struct FatalSignal(watch::Sender<Option<Arc<str>>>);

impl Default for FatalSignal {
    fn default() -> Self {
        Self(watch::Sender::new(None))
    }
}

impl FatalSignal {
    pub(super) fn set(&self, reason: &str) {
        let is_first = self.0.send_if_modified(|known| {
            let is_first = known.is_none();
            if is_first {
                *known = Some(reason.into());
            }
            is_first
        });
        if is_first {
            tracing::error!(error = reason, "process cannot continue; ending it");
        }
    }

    pub(super) fn get(&self) -> Option<Arc<str>> {
        self.0.borrow().clone()
    }

    pub(super) async fn wait(&self) -> Arc<str> {
        let mut receiver = self.0.subscribe();
        let found = receiver.wait_for(Option::is_some).await.ok().and_then(|reason| reason.clone());
        // The sender lives as long as `self`.
        found.unwrap_or_else(|| "unknown".into())
    }
}
